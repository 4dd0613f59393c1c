/**
 * The status of an apply, which ends once:
 *
 *   queued   merge      applied      its result is the head, and its draft is sealed
 *   queued   repair     queued       an agent resolves the conflicts; its run's end decides on (repair/verdict.ts)
 *   queued   conflict   conflicted   `stale_head`, conflicts that the caller resolves, or a repair that gave up
 *   queued   fail       failed       the result breaks a rule for sources, or the sources cannot be read
 *   queued   cancel     failed       its thread was archived or deleted
 */
import type { ApplyRow } from '../db/schema.ts';

export type ApplyStatus = ApplyRow['status'];
export type ApplyEvent = 'merge' | 'repair' | 'conflict' | 'fail' | 'cancel';

/** Applies that have not ended. */
export const OPEN = ['queued'] as const satisfies ApplyStatus[];

const TRANSITIONS = {
  merge: { from: OPEN, to: 'applied' },
  repair: { from: OPEN, to: 'queued' },
  conflict: { from: OPEN, to: 'conflicted' },
  fail: { from: OPEN, to: 'failed' },
  cancel: { from: OPEN, to: 'failed' },
} as const satisfies Record<ApplyEvent, { from: readonly ApplyStatus[]; to: ApplyStatus }>;

/** The statuses in which an apply takes an event, and the one that it has afterwards. */
export const applyChange = (event: ApplyEvent): { from: readonly ApplyStatus[]; to: ApplyStatus } =>
  TRANSITIONS[event];

export const isEnded = (status: ApplyStatus): boolean => !(OPEN as readonly ApplyStatus[]).includes(status);
