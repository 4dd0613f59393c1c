/**
 * The status of a command:
 *
 *   queued            start      running     its workspace is ready; committed before the command starts, so
 *                                            that it never starts twice. Also when its job failed too often
 *                                            to trust that nothing was started
 *   running           complete   completed   it ended, and what it changed is stored
 *   queued, running   fail       failed      no workspace could be made, its thread was archived or deleted,
 *                                            its sandbox was lost, or its result could not be stored
 */
import type { ExecRow } from '../db/schema.ts';

export type ExecStatus = ExecRow['status'];
export type ExecEvent = 'start' | 'complete' | 'fail';

/** Commands that have not ended. */
export const OPEN = ['queued', 'running'] as const satisfies ExecStatus[];

const TRANSITIONS = {
  start: { from: ['queued'], to: 'running' },
  complete: { from: ['running'], to: 'completed' },
  fail: { from: OPEN, to: 'failed' },
} as const satisfies Record<ExecEvent, { from: readonly ExecStatus[]; to: ExecStatus }>;

/** Which statuses an event needs, and which one it leaves. */
export const execChange = (event: ExecEvent): { from: readonly ExecStatus[]; to: ExecStatus } =>
  TRANSITIONS[event];

export const isEnded = (status: ExecStatus): boolean => !(OPEN as readonly ExecStatus[]).includes(status);
