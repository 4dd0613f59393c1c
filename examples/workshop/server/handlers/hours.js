import { addDays, eachDay } from '../../shared/dates.js';
import { hoursOn } from '../../shared/opening-hours.js';
import { closureSchema } from '../../shared/schemas.js';
import { refused } from '../errors.js';
import { find, read } from '../input.js';
import { hoursOf } from '../services/queries.js';

const DAYS_SHOWN = 14;

function show(_request, ctx) {
  const hours = hoursOf(ctx.store);
  const today = ctx.today();
  const days = eachDay(today, addDays(today, DAYS_SHOWN - 1)).map((day) => {
    const open = hoursOn(hours, day);
    const closure = hours.closures.find((one) => one.date === day);
    return { day, open: open?.open ?? null, close: open?.close ?? null, reason: closure?.reason ?? null };
  });
  const closures = hours.closures.filter((one) => one.date >= today).sort((a, b) => (a.date < b.date ? -1 : 1));
  return { status: 200, body: { days, closures } };
}

function close(request, ctx) {
  const closure = read(closureSchema, request.body);
  if (closure.date < ctx.today()) throw refused(['rule.rangeInPast']);
  if (ctx.store.closures.where((one) => one.date === closure.date).length > 0) throw refused(['rule.alreadyClosed']);
  return { status: 201, body: ctx.store.transaction(() => ctx.store.closures.insert(closure)) };
}

function reopen(request, ctx) {
  const closure = find(ctx.store.closures, request.params.id);
  ctx.store.transaction(() => ctx.store.closures.remove(closure.id));
  return { status: 204 };
}

export const routes = [
  { method: 'GET', path: '/api/hours', allow: 'visitor', handle: show },
  { method: 'POST', path: '/api/closures', allow: 'staff', handle: close },
  { method: 'DELETE', path: '/api/closures/:id', allow: 'staff', handle: reopen },
];
