/**
 * The status of a build:
 *
 *   queued     start     building   its job is claimed and a place is free; `started_at` is committed before
 *                                   the command starts, so that it never starts twice
 *   queued     cancel    failed     cancelled before it started
 *   queued     refuse     failed     it asks for the app's setup, which failed
 *   building   succeed   ready      exit 0, output valid and stored, sandbox gone
 *   building   fail      failed     anything else, or cancelled; sandbox gone
 *
 * While it is building its outcome is decided once, and stored before its sandbox is removed; its status
 * follows. A cancellation that was accepted meanwhile prevails over the outcome.
 */
import type { BuildRow } from '../db/schema.ts';

export type BuildStatus = BuildRow['status'];
export type BuildEvent = 'start' | 'cancel' | 'refuse' | 'succeed' | 'fail';

/** Builds that have not ended. */
export const OPEN = ['queued', 'building'] as const satisfies BuildStatus[];
export const ENDED = ['ready', 'failed'] as const satisfies BuildStatus[];

const TRANSITIONS = {
  start: { from: 'queued', to: 'building' },
  cancel: { from: 'queued', to: 'failed' },
  refuse: { from: 'queued', to: 'failed' },
  succeed: { from: 'building', to: 'ready' },
  fail: { from: 'building', to: 'failed' },
} as const satisfies Record<BuildEvent, { from: BuildStatus; to: BuildStatus }>;

/** Which status an event needs, and which one it leaves. */
export const buildChange = (event: BuildEvent): { from: BuildStatus; to: BuildStatus } => TRANSITIONS[event];

export const isEnded = ({ status }: Pick<BuildRow, 'status'>): boolean =>
  (ENDED as readonly BuildStatus[]).includes(status);

/** What ends a building build whose sandbox is gone; undefined while its outcome is not decided. */
export function endingEvent({
  outcome,
  cancel_requested_at: cancelledAt,
}: Pick<BuildRow, 'outcome' | 'cancel_requested_at'>): 'succeed' | 'fail' | undefined {
  if (outcome === null) return undefined;
  return outcome === 'ready' && cancelledAt === null ? 'succeed' : 'fail';
}
