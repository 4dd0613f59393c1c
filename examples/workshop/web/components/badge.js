import { html } from '../html.js';

export function availabilityBadge(tool, t) {
  return html`<span class="badge badge-${tool.availability}">${t(`availability.${tool.availability}`)}</span>`;
}

export function lateBadge(loan, t) {
  return loan.daysLate > 0 && html`<span class="badge badge-late">${t('loans.late', { count: loan.daysLate })}</span>`;
}
