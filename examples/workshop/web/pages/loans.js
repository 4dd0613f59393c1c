import { loanTable } from '../components/loan-table.js';
import { pagination } from '../components/pagination.js';
import { html } from '../html.js';

const FILTERS = ['active', 'overdue', 'returned'];

export function load(api, { query }) {
  return api.get(`/api/loans?${query}`);
}

export function render(page, view) {
  const { location: { path, query }, t } = view;
  const current = query.get('show') ?? 'active';
  return html`
    <h1>${t('loans.title')}</h1>
    <nav class="chips">${FILTERS.map((name) =>
      html`<a class="chip" href="#/loans?show=${name}" ${name === current && html`aria-current="true"`}>${t(`loans.${name}`)}</a>`)}</nav>
    ${loanTable(page.items, view)}
    ${pagination(page, { path, query }, t)}`;
}

export const actions = {
  async renew({ id }, api, { t }) {
    await api.post(`/api/loans/${id}/renew`);
    return { notice: t('page.saved') };
  },
  async return({ id }, api, { format, t }) {
    const { fine } = await api.post(`/api/loans/${id}/return`);
    return { notice: fine ? t('loans.fined', { amount: format.money(fine.cents) }) : t('page.saved') };
  },
};
