import { actionButton } from '../components/field.js';
import { pagination } from '../components/pagination.js';
import { table } from '../components/table.js';
import { html } from '../html.js';
import { mayAct } from '../../shared/roles.js';

export function load(api, { query }) {
  return api.get(`/api/fines?${query}`);
}

export function render(page, { format, location, member, t }) {
  const columns = [
    [t('loans.member'), (fine) => html`<a href="#/members/${fine.memberId}">${fine.memberName}</a>`],
    [t('loans.tool'), (fine) => fine.toolName],
    [t('fines.reason'), (fine) => t(`fines.reason.${fine.reason}`)],
    [t('fines.amount'), (fine) => format.money(fine.cents)],
    ['', (fine) => mayAct(member, 'staff') && html`
      ${actionButton('pay', fine.id, t('fines.pay'))} ${actionButton('waive', fine.id, t('fines.waive'))}`],
  ];
  return html`
    <h1>${t('fines.title')}</h1>
    <p class="muted">${t('fines.total', { amount: format.money(page.openCents) })}</p>
    ${table(columns, page.items, t('fines.none'))}
    ${pagination(page, location, t)}`;
}

async function settle(id, how, api, t) {
  await api.post(`/api/fines/${id}/${how}`);
  return { notice: t('page.saved') };
}

export const actions = {
  pay: ({ id }, api, { t }) => settle(id, 'pay', api, t),
  waive: ({ id }, api, { t }) => settle(id, 'waive', api, t),
};
