/** A new status in cached data, shown before the refetch that the event causes. */
import type { LiveEvent } from './lanes.ts';
import { subjectOf } from './follows.ts';

export interface StatusChange {
  status: string;
  /** By the service's clock. */
  occurredAt: string;
}

/** Data, pages, items, item, a part of it. */
const DEPTH = 6;
const MOST_NODES = 20_000;

/** The last status of each id. */
export function statusChanges(events: readonly LiveEvent[]): Map<string, StatusChange> {
  const changes = new Map<string, StatusChange>();
  for (const event of events) {
    const { id, status } = subjectOf(event);
    if (typeof id === 'string' && typeof status === 'string')
      changes.set(id, { status, occurredAt: event.occurredAt });
  }
  return changes;
}

/** The data with the new statuses; the same object if there is nothing to change in it. */
export function patchStatuses<T>(data: T, changes: ReadonlyMap<string, StatusChange>): T {
  let left = MOST_NODES;
  const patch = (value: unknown, depth: number): unknown => {
    if (typeof value !== 'object' || value === null || depth === 0 || left-- <= 0) return value;
    if (Array.isArray(value)) return patchAll(value, (one) => patch(one, depth - 1));
    if (!isPlain(value)) return value;
    let next = value;
    for (const [name, part] of Object.entries(value)) {
      const patched = patch(part, depth - 1);
      if (patched !== part) next = { ...next, [name]: patched };
    }
    const status = newStatus(value, changes);
    return status === null ? next : { ...next, status };
  };
  return patch(data, DEPTH) as T;
}

function patchAll(items: unknown[], patch: (item: unknown) => unknown): unknown[] {
  let next = items;
  for (const [at, item] of items.entries()) {
    const patched = patch(item);
    if (patched === item) continue;
    if (next === items) next = [...items];
    next[at] = patched;
  }
  return next;
}

const isPlain = (value: object): value is Record<string, unknown> => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};

/** Null also for an entity that was read after the event: it already has this status, or a later one. */
function newStatus(
  { id, status, updatedAt }: Record<string, unknown>,
  changes: ReadonlyMap<string, StatusChange>,
): string | null {
  const change = typeof id === 'string' && typeof status === 'string' ? changes.get(id) : undefined;
  if (!change || change.status === status) return null;
  const isLater = typeof updatedAt === 'string' && Date.parse(updatedAt) > Date.parse(change.occurredAt);
  return isLater ? null : change.status;
}
