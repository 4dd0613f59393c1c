import { html } from '../html.js';

export function noticeBox(text) {
  return html`<p class="notice" role="status">${text}</p>`;
}

/** What went wrong, with every reason: an ApiError, or any other error as a general sentence. */
export function failureBox(failure, t) {
  const { code = 'error.internal', reasons = [], problems = {} } = failure;
  const lines = [...reasons.map((key) => t(key)), ...Object.entries(problems).map(([field, key]) => `${field}: ${t(key)}`)];
  return html`<div class="notice notice-failure" role="alert">
    <p>${t(code)}</p>
    ${lines.length > 0 && html`<ul>${lines.map((line) => html`<li>${line}</li>`)}</ul>`}
  </div>`;
}

export function emptyState(text) {
  return html`<p class="empty">${text}</p>`;
}
