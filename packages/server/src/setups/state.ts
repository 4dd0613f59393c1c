/**
 * The status of a setup:
 *
 *   queued    start     running   its job is claimed and a place is free; `started_at` is committed before the
 *                                 command starts, so that it never starts twice
 *   queued    drop      failed    its app was deleted
 *   running   succeed   ready     exit 0, and the runner keeps its layer
 *   running   fail      failed    anything else, or its app was deleted
 *
 * A record that is ready stays so; whether its layer is still kept is a fact of its own (`layer_gone_at`).
 */
import type { SetupRow } from '../db/schema.ts';

export type SetupStatus = SetupRow['status'];
export type SetupEvent = 'start' | 'drop' | 'succeed' | 'fail';

/** Setups that have not ended: one of a key in an app. */
export const UNDER_WAY = ['queued', 'running'] as const satisfies SetupStatus[];
export const ENDED = ['ready', 'failed'] as const satisfies SetupStatus[];

const TRANSITIONS = {
  start: { from: 'queued', to: 'running' },
  drop: { from: 'queued', to: 'failed' },
  succeed: { from: 'running', to: 'ready' },
  fail: { from: 'running', to: 'failed' },
} as const satisfies Record<SetupEvent, { from: SetupStatus; to: SetupStatus }>;

/** Which status an event needs, and which one it leaves. */
export const setupChange = (event: SetupEvent): { from: SetupStatus; to: SetupStatus } => TRANSITIONS[event];

export const isEnded = ({ status }: Pick<SetupRow, 'status'>): boolean =>
  (ENDED as readonly SetupStatus[]).includes(status);
