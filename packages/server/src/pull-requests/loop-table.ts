/** The whole table of a review loop's statuses, as the guide shows it. */
import { LOOK_ROWS } from './loop-looks.ts';
import { loopAfter, loopAfterChoice, loopAfterFault, loopAfterRefusal } from './loop-state.ts';
import type { LoopChange, LoopState } from './loop-state.ts';

export interface TableRow {
  from: string;
  when: string;
  to: string;
  also: string;
}

interface EventRow extends TableRow {
  /** What the row does. */
  change(loop: LoopState, now: Date): LoopChange;
}

const fault = (loop: LoopState, now: Date): LoopChange =>
  loopAfterFault(
    { ...loop, enabled: loop.status !== 'disabled' },
    { code: 'unavailable', message: 'away' },
    { push: 'current', now },
  );

/** Changes by callers, by the end of the pull request and by the provider's faults. */
export const EVENT_ROWS: readonly EventRow[] = [
  {
    from: 'any',
    when: 'a caller disables it',
    to: 'disabled',
    also: '`disabledBy` `user`',
    change: ({ status }, now) => loopAfter(status, 'switchOff', now),
  },
  {
    from: 'any enabled',
    when: 'it is merged or closed, its thread is archived or deleted, or its installation is removed',
    to: 'disabled',
    also: '`disabledBy` `system`',
    change: ({ status }, now) => loopAfter(status, 'end', now),
  },
  {
    from: 'any enabled',
    when: 'another thread takes over the pull request',
    to: 'disabled',
    also: '`disabledBy` `transferred`',
    change: ({ status }, now) => loopAfter(status, 'transfer', now),
  },
  {
    from: 'disabled',
    when: 'a caller enables it',
    to: 'observing',
    also: '`passCount` and `operationalRetryCount` reset',
    change: ({ status }, now) => loopAfter(status, 'enable', now),
  },
  {
    from: 'blocked, error',
    when: 'a caller enables it',
    to: 'observing',
    also: '`passCount` and `operationalRetryCount` reset',
    change: ({ status }, now) => loopAfter(status, 'enable', now),
  },
  {
    from: 'finalizing',
    when: 'the provider refuses the merge, except for a conflict',
    to: 'blocked',
    also: '`merge_refused`',
    change: (loop, now) => loopAfterRefusal(loop, { now, summary: null }),
  },
  {
    from: 'finalizing',
    when: 'a caller sets `autoMerge` to `false`',
    to: 'ready',
    also: '',
    change: (loop, now) => loopAfterChoice(loop, false, { unresolvedCount: 0, now }),
  },
  {
    from: 'ready',
    when: 'a caller sets `autoMerge` to `true`; nothing is unresolved',
    to: 'finalizing',
    also: '',
    change: (loop, now) => loopAfterChoice(loop, true, { unresolvedCount: 0, now }),
  },
  {
    from: 'ready',
    when: 'a caller sets `autoMerge` to `true`; something is unresolved',
    to: 'blocked',
    also: '`unresolved_comments`',
    change: (loop, now) => loopAfterChoice(loop, true, { unresolvedCount: 1, now }),
  },
  {
    from: 'any enabled',
    when: 'the provider fails, up to three times in a row',
    to: 'same',
    also: 'retried after 30, 60 and 120 s',
    change: fault,
  },
  {
    from: 'any enabled',
    when: 'the provider fails for the fourth time',
    to: 'error',
    also: '`unavailable`, `access_denied` or `repository_gone`; retried every 300 s',
    change: (loop, now) => fault({ ...loop, operational_retry_count: 3 }, now),
  },
];

export const LOOP_TABLE: readonly TableRow[] = [
  ...EVENT_ROWS,
  ...LOOK_ROWS.map(({ from, when, to, reason, also = '' }) => ({
    from,
    when,
    to,
    also: reason === undefined ? also : `\`${reason}\``,
  })),
];
