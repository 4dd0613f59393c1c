import { html } from '../html.js';
import { shorten } from '../../shared/text.js';
import { availabilityBadge } from './badge.js';
import { icon } from './icon.js';

const DESCRIPTION_LIMIT = 96;

export function toolCard(tool, categoryIcon, t) {
  return html`<article class="card">
    <span class="card-icon">${icon(categoryIcon)}</span>
    <h3><a href="#/tools/${tool.id}">${tool.name}</a></h3>
    <p class="muted">${tool.brand}</p>
    <p>${shorten(tool.description, DESCRIPTION_LIMIT)}</p>
    <footer>${availabilityBadge(tool, t)}<span class="muted">${t('tool.shelf', { shelf: tool.shelf })}</span></footer>
  </article>`;
}
