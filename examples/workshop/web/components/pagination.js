import { html } from '../html.js';

/** Links to the pages around the current one; nothing when there is only one page. */
export function pagination({ page, pageCount }, { path, query }, t) {
  if (pageCount <= 1) return null;
  const link = (number, label) => {
    const target = new URLSearchParams(query);
    target.set('page', String(number));
    return html`<a href="#${path}?${target}">${label}</a>`;
  };
  return html`<nav class="pagination">
    ${page > 1 && link(page - 1, t('page.previous'))}
    <span>${t('page.of', { page, pageCount })}</span>
    ${page < pageCount && link(page + 1, t('page.next'))}
  </nav>`;
}
