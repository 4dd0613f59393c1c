import { availabilityBadge } from '../components/badge.js';
import { calendar } from '../components/calendar.js';
import { actionButton, field, selectField } from '../components/field.js';
import { html } from '../html.js';
import { mayAct } from '../../shared/roles.js';

export async function load(api, { params }) {
  const [tool, health] = await Promise.all([api.get(`/api/tools/${params.id}`), api.get('/api/health')]);
  const session = await api.get('/api/session');
  const members = mayAct(session, 'staff') ? (await api.get('/api/members?pageSize=100')).items : [];
  return { tool, members, today: health.today };
}

function lendForm(tool, members, t) {
  return html`<form class="row" data-action="lend">
    <input type="hidden" name="toolId" value="${tool.id}">
    ${selectField('memberId', t('tool.lendTo'), members.map((member) => [member.id, member.name]))}
    <button>${t('tool.lend')}</button>
  </form>`;
}

function reserveForm(tool, t) {
  return html`<form class="row" data-action="reserve">
    <input type="hidden" name="toolId" value="${tool.id}">
    ${field('from', t('tool.from'), { type: 'date' })} ${field('to', t('tool.to'), { type: 'date' })}
    <button>${t('tool.reserve')}</button>
  </form>`;
}

export function render({ tool, members, today }, { format, member, t }) {
  const free = tool.availability !== 'lent' && tool.availability !== 'repair';
  return html`
    <h1>${tool.name} ${availabilityBadge(tool, t)}</h1>
    <p class="muted">${tool.brand} · ${t(`category.${tool.category}`)} · ${t('tool.shelf', { shelf: tool.shelf })} ·
      ${t('tool.value', { amount: format.money(tool.valueCents) })}</p>
    <p>${tool.description}</p>
    <p>${tool.tags.map((tag) => html`<a class="chip" href="#/?q=${encodeURIComponent(tag)}">${tag}</a> `)}</p>
    ${tool.backOn && html`<p>${t('tool.backOn', { day: format.longDay(tool.backOn) })}</p>`}
    ${tool.waitingCount > 0 && html`<p>${t('tool.waiting', { count: tool.waitingCount })}</p>`}
    <h2>${t('tool.calendar')}</h2>
    ${calendar(tool.taken, today, format)}
    ${member && html`<section class="panel">
      ${free && members.length > 0 && lendForm(tool, members, t)}
      ${reserveForm(tool, t)}
      ${!free && actionButton('join', tool.id, t('tool.join'))}
    </section>`}`;
}

export const actions = {
  async lend(input, api, { t }) {
    await api.post('/api/loans', input);
    return { notice: t('page.saved') };
  },
  async reserve(input, api, { t }) {
    await api.post('/api/reservations', input);
    return { notice: t('page.saved') };
  },
  async join({ id }, api, { t }) {
    await api.post(`/api/tools/${id}/waiting`);
    return { notice: t('page.saved') };
  },
};
