import { actionButton } from '../components/field.js';
import { pagination } from '../components/pagination.js';
import { table } from '../components/table.js';
import { html } from '../html.js';

export function load(api, { query }) {
  return api.get(`/api/reservations?${query}`);
}

export function render(page, { format, location, t }) {
  const columns = [
    [t('loans.tool'), (one) => html`<a href="#/tools/${one.toolId}">${one.toolName}</a>`],
    [t('loans.member'), (one) => one.memberName],
    [t('hours.date'), (one) => t('reservations.range', { from: format.day(one.from), to: format.day(one.to) })],
    ['', (one) => actionButton('cancel', one.id, t('reservations.cancel'))],
  ];
  return html`
    <h1>${t('reservations.title')}</h1>
    ${table(columns, page.items, t('reservations.none'))}
    ${pagination(page, location, t)}`;
}

export const actions = {
  async cancel({ id }, api, { t }) {
    await api.remove(`/api/reservations/${id}`);
    return { notice: t('page.saved') };
  },
};
