import { actionButton, field } from '../components/field.js';
import { html } from '../html.js';
import { mayAct } from '../../shared/roles.js';

export function load(api) {
  return api.get('/api/hours');
}

function line(row, index, format, t) {
  const times = row.open ? `${row.open} – ${row.close}` : `${t('hours.closed')}${row.reason ? `: ${row.reason}` : ''}`;
  return html`<tr class="${row.open ? 'open' : 'closed'}">
    <th scope="row">${format.longDay(row.day)}${index === 0 && html` <em>(${t('hours.today')})</em>`}</th><td>${times}</td></tr>`;
}

function closures(list, format, t) {
  return html`<section class="panel">
    <ul>${list.map((one) => html`<li>${format.longDay(one.date)}: ${one.reason} ${actionButton('reopen', one.id, t('hours.reopen'))}</li>`)}</ul>
    <form class="row" data-action="close">
      ${field('date', t('hours.date'), { type: 'date' })} ${field('reason', t('hours.reason'))}
      <button>${t('hours.close')}</button>
    </form></section>`;
}

export function render(hours, { format, member, t }) {
  return html`
    <h1>${t('hours.title')}</h1>
    <table class="table"><tbody>${hours.days.map((row, index) => line(row, index, format, t))}</tbody></table>
    ${mayAct(member, 'staff') && closures(hours.closures, format, t)}`;
}

export const actions = {
  async close(input, api, { t }) {
    await api.post('/api/closures', input);
    return { notice: t('page.saved') };
  },
  async reopen({ id }, api, { t }) {
    await api.remove(`/api/closures/${id}`);
    return { notice: t('page.saved') };
  },
};
