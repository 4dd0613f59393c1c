import { html } from '../html.js';

/** A labelled input. `type` is any of HTML's; `value` is what it starts with. */
export function field(name, label, { type = 'text', value = '', required = true } = {}) {
  return html`<label class="field"><span>${label}</span>
    <input name="${name}" type="${type}" value="${value}" ${required && html`required`}></label>`;
}

/** A labelled choice among `[value, text]` pairs. */
export function selectField(name, label, options) {
  return html`<label class="field"><span>${label}</span>
    <select name="${name}">${options.map(([value, text]) => html`<option value="${value}">${text}</option>`)}</select></label>`;
}

export function actionButton(action, id, label) {
  return html`<button data-action="${action}" data-id="${id}">${label}</button>`;
}
