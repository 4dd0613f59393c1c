import { actionButton } from '../components/field.js';
import { loanTable } from '../components/loan-table.js';
import { table } from '../components/table.js';
import { html } from '../html.js';
import { actions as loanActions } from './loans.js';

export function load(api, { params }) {
  return api.get(`/api/members/${params.id}`);
}

function waitingTable(entries, { format, t }) {
  const columns = [
    [t('members.waiting'), (entry) => html`<a href="#/tools/${entry.toolId}">${entry.toolName}</a>`],
    ['', (entry) => entry.holdUntil && t('members.holdUntil', { day: format.day(entry.holdUntil) })],
    ['', (entry) => actionButton('leave', entry.id, t('members.leave'))],
  ];
  return table(columns, entries, '');
}

export function render(member, view) {
  const { format, t } = view;
  const waiting = member.waiting.filter((entry) => entry.status === 'waiting' || entry.status === 'held');
  return html`
    <h1>${member.name}</h1>
    <p class="muted">${member.email} · ${t(`members.plan.${member.plan}`)} · ${t('members.since', { day: format.longDay(member.joined) })}</p>
    ${member.debtCents > 0 && html`<p>${t('members.debt')}: <strong>${format.money(member.debtCents)}</strong></p>`}
    <h2>${t('loans.title')}</h2>
    ${loanTable(member.loans, view)}
    ${waiting.length > 0 && waitingTable(waiting, view)}`;
}

export const actions = {
  ...loanActions,
  async leave({ id }, api, { t }) {
    await api.remove(`/api/waiting/${id}`);
    return { notice: t('page.saved') };
  },
};
