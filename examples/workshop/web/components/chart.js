import { html } from '../html.js';

const HEIGHT = 80;
const STEP = 12;

/** A column chart as SVG from `{label, value}` points; the title of a column says both. */
export function columnChart(points) {
  const top = Math.max(1, ...points.map((point) => point.value));
  return html`<svg class="chart" viewBox="0 0 ${points.length * STEP} ${HEIGHT}" preserveAspectRatio="none" role="img">
    ${points.map(({ label, value }, index) => {
      const height = Math.round((HEIGHT * value) / top);
      return html`<rect x="${index * STEP + 1}" y="${HEIGHT - height}" width="${STEP - 2}" height="${height}"><title>${label}: ${value}</title></rect>`;
    })}</svg>`;
}

/** Horizontal bars from `{label, value}` points, as wide as their share of the largest. */
export function barList(points) {
  const top = Math.max(1, ...points.map((point) => point.value));
  return html`<ul class="bars">${points.map(({ label, value }) =>
    html`<li><span>${label}</span><i style="width:${Math.round((60 * value) / top)}%"></i><b>${value}</b></li>`)}</ul>`;
}

export function tile(label, value) {
  return html`<div class="tile"><b>${value}</b><span>${label}</span></div>`;
}
