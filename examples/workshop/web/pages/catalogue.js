import { pagination } from '../components/pagination.js';
import { emptyState } from '../components/notice.js';
import { icon } from '../components/icon.js';
import { toolCard } from '../components/tool-card.js';
import { html } from '../html.js';

export async function load(api, { query }) {
  const [tools, categories] = await Promise.all([api.get(`/api/tools?${query}`), api.get('/api/categories')]);
  return { tools, categories };
}

function categoryStrip(categories, current, t) {
  const link = (href, mark, text, active) =>
    html`<a class="chip" href="${href}" ${active && html`aria-current="true"`}>${mark} ${text}</a>`;
  return html`<nav class="chips">
    ${link('#/', null, t('category.all'), !current)}
    ${categories.map(({ id, icon: name, tools }) =>
      link(`#/?category=${id}`, icon(name), `${t(`category.${id}`)} (${tools})`, id === current))}
  </nav>`;
}

export function render({ tools, categories }, { location: { path, query }, t }) {
  const icons = new Map(categories.map((category) => [category.id, category.icon]));
  return html`
    <form class="search" data-action="search">
      <input name="q" type="search" value="${query.get('q') ?? ''}" placeholder="${t('catalogue.search')}" aria-label="${t('catalogue.search')}">
      <label><input name="available" type="checkbox" value="1" ${query.get('available') && html`checked`}> ${t('catalogue.onlyAvailable')}</label>
      <button>${icon('search')} ${t('catalogue.find')}</button>
    </form>
    ${categoryStrip(categories, query.get('category'), t)}
    <p class="muted">${t('catalogue.found', { count: tools.total })}</p>
    ${tools.total === 0 && emptyState(t('catalogue.none'))}
    <div class="cards">${tools.items.map((tool) => toolCard(tool, icons.get(tool.category), t))}</div>
    ${pagination(tools, { path, query }, t)}`;
}

export const actions = {
  search(input) {
    const query = new URLSearchParams(Object.entries(input).filter(([, value]) => value !== ''));
    return { go: `#/?${query}` };
  },
};
