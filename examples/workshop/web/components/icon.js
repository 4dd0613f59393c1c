import { html } from '../html.js';

/** An icon of `web/icons/`. It takes the colour of the text around it. */
export function icon(name) {
  return html`<svg class="icon" aria-hidden="true"><use href="./icons/${name}.svg#icon"></use></svg>`;
}
