import { isPending, reasonsAgainstReservation, takenRanges } from '../../shared/reservation-rules.js';
import { limitsOf } from '../../shared/plans.js';
import { refused } from '../errors.js';
import { ofMember, ofTool } from './queries.js';

/** Reserves a tool for a range of days. */
export function reserve(ctx, tool, member, range) {
  const { store } = ctx;
  const reasons = reasonsAgainstReservation({
    range,
    taken: takenRanges(ofTool(store.loans, tool.id), ofTool(store.reservations, tool.id)),
    pendingCount: ofMember(store.reservations, member.id).filter(isPending).length,
    maxReservations: limitsOf(member).maxReservations,
    today: ctx.today(),
  });
  if (tool.condition !== 'good') reasons.push('rule.toolNotUsable');
  if (reasons.length > 0) throw refused(reasons);
  return store.transaction(() => store.reservations.insert({
    toolId: tool.id, memberId: member.id, ...range, status: 'pending',
  }));
}

export function cancelReservation(ctx, reservation) {
  if (!isPending(reservation)) throw refused(['rule.notPending']);
  return ctx.store.transaction(() => ctx.store.reservations.update(reservation.id, { status: 'cancelled' }));
}
