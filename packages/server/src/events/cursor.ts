/**
 * Event cursors. Sealed: the reader's feed and filters (any other use is `invalid_cursor`), on the feed of
 * all apps the credential's projects (another set is `cursor_scope_changed`), and a position, which expires
 * one retention after its time, and with the log's generation: a restored log, and one on a promoted standby, gives
 * sequences again.
 */
import { ApiError } from '../http/errors.ts';
import { invalidCursor, openCursor, scopeHash, sealCursor } from '../http/cursors.ts';
import type { EventFilter } from './filter.ts';
import type { LogEnd, Order, Position } from './store.ts';

/** What a cursor is bound to, as digests. */
export interface Binding {
  filter: string;
  /** Of all apps' feed with a restricted credential; else null. */
  scope: string | null;
  /** Of the log. */
  generation: number;
}

/** Cursors that were made before the log had generations name none. */
const FIRST_GENERATION = 1;

export const scopeChanged = () =>
  new ApiError(
    'cursor_scope_changed',
    'The credential reads other apps than when this cursor was made. Capture a new head, reload what you show, and go on from there.',
  );
export const cursorExpired = () =>
  new ApiError(
    'cursor_expired',
    'This cursor is older than the events that are kept, or than a restored backup or a failover of the database. Capture a new head, reload what you show, and go on from there.',
  );

/** Cursors of pages, events, heads and streams are `asc`; only a page that is read backwards has a `desc` one. */
export function bindingOf(filter: EventFilter, generation: number, order: Order = 'asc'): Binding {
  const isAllApps = filter.feed === 'platform' && filter.projectId === null;
  return {
    filter: scopeHash(
      'events',
      filter.orgId,
      filter.feed,
      filter.projectId,
      filter.threadId,
      filter.runId,
      filter.types && [...filter.types].sort(),
      ...(order === 'asc' ? [] : [order]),
    ),
    scope: isAllApps && filter.projectIds !== null ? scopeHash([...filter.projectIds].sort()) : null,
    generation,
  };
}

export const sealPosition = (secret: Buffer, binding: Binding, position: Position): string =>
  sealCursor(secret, [binding.filter, binding.scope, position.sequence, position.time, binding.generation]);

/**
 * The position in a cursor of this binding. Throws `invalid_cursor` (400), `cursor_scope_changed` or
 * `cursor_expired` (410).
 */
export function openPosition(secret: Buffer, binding: Binding, cursor: string): Position {
  const payload = openCursor(secret, cursor);
  if (!Array.isArray(payload) || payload[0] !== binding.filter || payload.length > 5) throw invalidCursor();
  const [, scope, sequence, time, generation = FIRST_GENERATION] = payload as [
    string,
    string | null,
    number,
    number,
    number?,
  ];
  if (scope !== binding.scope) throw scopeChanged();
  if (generation !== binding.generation) throw cursorExpired();
  return { sequence, time };
}

/**
 * Throws `cursor_expired` (410) where the log has begun another generation since its tail here looked last: the read
 * decides.
 */
export function requireGeneration({ generation }: Pick<Binding, 'generation'>, end: LogEnd): void {
  if (end.generation !== generation) throw cursorExpired();
}

/**
 * Throws `cursor_expired` (410) unless everything behind the position is still kept. One behind the log's
 * end is of a log that was lost without a restore.
 */
export function requireRetained(position: Position, end: Position, retentionSeconds: number): void {
  if (position.time < end.time - retentionSeconds * 1000 || position.sequence > end.sequence)
    throw cursorExpired();
}
