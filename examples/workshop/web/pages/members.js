import { field, selectField } from '../components/field.js';
import { pagination } from '../components/pagination.js';
import { table } from '../components/table.js';
import { html } from '../html.js';
import { PLAN_NAMES } from '../../shared/plans.js';

export function load(api, { query }) {
  return api.get(`/api/members?${query}`);
}

export function render(page, { format, location, t }) {
  const columns = [
    [t('members.name'), (member) => html`<a href="#/members/${member.id}">${member.name}</a>`],
    [t('members.email'), (member) => member.email],
    [t('members.plan'), (member) => t(`members.plan.${member.plan}`)],
    [t('members.loans'), (member) => member.activeLoans],
    [t('members.debt'), (member) => (member.debtCents > 0 ? format.money(member.debtCents) : '')],
  ];
  return html`
    <h1>${t('members.title')}</h1>
    ${table(columns, page.items, t('members.none'))}
    ${pagination(page, location, t)}
    <section class="panel"><h2>${t('members.add')}</h2>
      <form data-action="add">
        ${field('name', t('members.name'))}
        ${field('email', t('members.email'), { type: 'email' })}
        ${field('password', t('members.password'), { type: 'password' })}
        ${selectField('plan', t('members.plan'), PLAN_NAMES.map((plan) => [plan, t(`members.plan.${plan}`)]))}
        <button>${t('members.add')}</button>
      </form>
    </section>`;
}

export const actions = {
  async add(input, api) {
    const member = await api.post('/api/members', input);
    return { go: `#/members/${member.id}` };
  },
};
