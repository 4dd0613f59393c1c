import { addDays, eachDay, weekday } from '../../shared/dates.js';
import { html } from '../html.js';

const WEEKS = 4;

/** Four weeks from the Monday before `today`, with the taken days marked. */
export function calendar(taken, today, format) {
  const monday = addDays(today, 1 - weekday(today));
  const kindOf = (day) => taken.find((range) => range.from <= day && day <= range.to)?.kind ?? 'free';
  return html`<ol class="calendar">${eachDay(monday, addDays(monday, 7 * WEEKS - 1)).map((day) =>
    html`<li class="day day-${day < today ? 'past' : kindOf(day)}" title="${format.longDay(day)}">${Number(day.slice(8))}</li>`)}</ol>`;
}
