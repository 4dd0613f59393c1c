import { isPending } from '../../shared/reservation-rules.js';
import { queueOf } from '../../shared/waiting-list.js';

// Reads that several services need.

export function ofTool(collection, toolId) {
  return collection.where((record) => record.toolId === toolId);
}

export function ofMember(collection, memberId) {
  return collection.where((record) => record.memberId === memberId);
}

export function hoursOf(store) {
  return { week: store.week.all(), closures: store.closures.all() };
}

/**
 * Who may take a tool off the shelf today: a hold goes before a reservation.
 * @returns {{kind: 'hold' | 'reservation', id: string, memberId: string} | null}
 */
export function claimOn(store, toolId, today) {
  const hold = queueOf(ofTool(store.waiting, toolId)).find((entry) => entry.status === 'held');
  if (hold) return { kind: 'hold', id: hold.id, memberId: hold.memberId };
  const reserved = ofTool(store.reservations, toolId).find(
    (one) => isPending(one) && one.from <= today && today <= one.to,
  );
  return reserved ? { kind: 'reservation', id: reserved.id, memberId: reserved.memberId } : null;
}
