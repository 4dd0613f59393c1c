import { reservationSchema } from '../../shared/schemas.js';
import { isPending } from '../../shared/reservation-rules.js';
import { maySee } from '../../shared/roles.js';
import { notFound } from '../errors.js';
import { find, pageOf, read } from '../input.js';
import { cancelReservation, reserve } from '../services/reserving.js';
import { namedView } from '../views.js';

function list(request, ctx) {
  const pending = ctx.store.reservations
    .where((one) => isPending(one) && maySee(request.member, one.memberId))
    .sort((a, b) => (a.from < b.from ? -1 : 1));
  return { status: 200, body: pageOf(pending.map((one) => namedView(ctx, one)), request.query) };
}

function add(request, ctx) {
  const { toolId, from, to } = read(reservationSchema, request.body);
  const reservation = reserve(ctx, find(ctx.store.tools, toolId), request.member, { from, to });
  return { status: 201, body: namedView(ctx, reservation) };
}

function cancel(request, ctx) {
  const reservation = find(ctx.store.reservations, request.params.id);
  if (!maySee(request.member, reservation.memberId)) throw notFound();
  return { status: 200, body: namedView(ctx, cancelReservation(ctx, reservation)) };
}

export const routes = [
  { method: 'GET', path: '/api/reservations', allow: 'member', handle: list },
  { method: 'POST', path: '/api/reservations', allow: 'member', handle: add },
  { method: 'DELETE', path: '/api/reservations/:id', allow: 'member', handle: cancel },
];
