import { barList, columnChart, tile } from '../components/chart.js';
import { html } from '../html.js';

const EXPORTS = ['tools', 'members', 'loans', 'fines'];

export function load(api) {
  return api.get('/api/reports');
}

export function render({ summary, popular, trend, idle }, { format, preview, t }) {
  return html`
    <h1>${t('reports.title')}</h1>
    <div class="tiles">
      ${tile(t('reports.tools'), summary.tools)}
      ${tile(t('reports.members'), summary.members)}
      ${tile(t('reports.activeLoans'), summary.activeLoans)}
      ${tile(t('reports.overdueLoans'), summary.overdueLoans)}
      ${tile(t('reports.openFines'), format.money(summary.openFinesCents))}
      ${tile(t('reports.stockValue'), format.money(summary.stockValueCents))}
    </div>
    <h2>${t('reports.trend')}</h2>
    ${columnChart(trend.map(({ day, loans }) => ({ label: format.day(day), value: loans })))}
    <h2>${t('reports.popular')}</h2>
    ${barList(popular.map(({ name, loans }) => ({ label: name, value: loans })))}
    <h2>${t('reports.idle')}</h2>
    <p>${idle.map(({ id, name }) => html`<a class="chip" href="#/tools/${id}">${name}</a> `)}</p>
    ${!preview && html`<h2>${t('reports.export')}</h2>
      <p>${EXPORTS.map((name) => html`<a class="chip" href="./api/exports/${name}">${name}.csv</a> `)}</p>`}`;
}
