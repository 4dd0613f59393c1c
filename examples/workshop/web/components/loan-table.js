import { html } from '../html.js';
import { mayAct } from '../../shared/roles.js';
import { lateBadge } from './badge.js';
import { actionButton } from './field.js';
import { table } from './table.js';

/** Loans with what the viewer may do about each. */
export function loanTable(loans, { format, member, t }) {
  const staff = mayAct(member, 'staff');
  const columns = [
    [t('loans.tool'), (loan) => html`<a href="#/tools/${loan.toolId}">${loan.toolName}</a>`],
    [t('loans.member'), (loan) => html`<a href="#/members/${loan.memberId}">${loan.memberName}</a>`],
    [t('loans.out'), (loan) => format.day(loan.out)],
    [t('loans.due'), (loan) => html`${format.day(loan.due)} ${lateBadge(loan, t)}`],
    ['', (loan) => loan.returned === null && html`
      ${!loan.overdue && actionButton('renew', loan.id, t('loans.renew'))}
      ${staff && actionButton('return', loan.id, t('loans.return'))}`],
  ];
  return table(columns, loans, t('loans.none'));
}
