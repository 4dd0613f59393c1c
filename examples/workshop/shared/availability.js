import { isActive } from './loan-rules.js';
import { isPending } from './reservation-rules.js';
import { queueOf } from './waiting-list.js';

/**
 * What a visitor is told about a tool: `available`, `lent`, `held`, `reserved` or
 * `repair`. The first that holds wins, in the order that matters at the shelf.
 */
export function availabilityOf({ tool, loans, reservations, waiting, today }) {
  if (tool.condition !== 'good') return 'repair';
  if (loans.some(isActive)) return 'lent';
  if (queueOf(waiting).some((entry) => entry.status === 'held')) return 'held';
  if (reservations.some((one) => isPending(one) && one.from <= today && today <= one.to)) return 'reserved';
  return 'available';
}

/** The day on which a tool that is out should be back; null when it is not out. */
export function backOn(loans) {
  return loans.find(isActive)?.due ?? null;
}
