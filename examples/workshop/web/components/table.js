import { html } from '../html.js';
import { emptyState } from './notice.js';

/**
 * A table from columns `[heading, row → cell]`. A column without a heading holds actions.
 * Without rows it says `none` instead of showing an empty frame.
 */
export function table(columns, rows, none) {
  if (rows.length === 0) return emptyState(none);
  return html`<table class="table">
    <thead><tr>${columns.map(([heading]) => html`<th scope="col">${heading}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr>${columns.map(([, cell]) => html`<td>${cell(row)}</td>`)}</tr>`)}</tbody>
  </table>`;
}
