/**
 * The status of a run:
 *
 *   queued                     start      running     its place is free and its workspace is ready
 *   running                    ask        waiting     the agent asks what no rule answers
 *   waiting                    resume     running     no question is open any more
 *   running, waiting           complete   completed
 *   queued, running, waiting   fail       failed
 *   queued, running, waiting   cancel     cancelled
 *
 * and of a tool call, which only moves forward; a run that ends takes its open calls with it:
 *
 *   pending, running   end   completed, failed, cancelled
 *   pending            run   running
 */
import type { RunRow, ToolRow } from '../db/schema.ts';

export type RunStatus = RunRow['status'];
export type RunEvent = 'start' | 'ask' | 'resume' | 'complete' | 'fail' | 'cancel';

/** Runs under way, with a sandbox. */
export const ACTIVE = ['running', 'waiting'] as const satisfies RunStatus[];
/** Runs that have not ended. */
export const OPEN = ['queued', ...ACTIVE] as const satisfies RunStatus[];

const TRANSITIONS = {
  start: { from: ['queued'], to: 'running' },
  ask: { from: ['running'], to: 'waiting' },
  resume: { from: ['waiting'], to: 'running' },
  complete: { from: ACTIVE, to: 'completed' },
  fail: { from: OPEN, to: 'failed' },
  cancel: { from: OPEN, to: 'cancelled' },
} as const satisfies Record<RunEvent, { from: readonly RunStatus[]; to: RunStatus }>;

/** Which statuses an event needs, and which one it leaves. */
export const runChange = (event: RunEvent): { from: readonly RunStatus[]; to: RunStatus } =>
  TRANSITIONS[event];

/** Whether a run is under way. */
export const isActive = (status: RunStatus): boolean => (ACTIVE as readonly RunStatus[]).includes(status);
/** Whether a run's agent may call models: it is under way, and nobody has stopped it. */
export const isCalling = (run: Pick<RunRow, 'status' | 'cancel_requested_at'>): boolean =>
  isActive(run.status) && run.cancel_requested_at === null;
/** Whether a run has ended. */
export const isEnded = (status: RunStatus): boolean => !(OPEN as readonly RunStatus[]).includes(status);

export type ToolStatus = ToolRow['status'];

/** Tool calls that have not ended. */
export const OPEN_TOOLS = ['pending', 'running'] as const satisfies ToolStatus[];

export const isToolEnded = (status: ToolStatus): boolean =>
  !(OPEN_TOOLS as readonly ToolStatus[]).includes(status);

/** Whether a tool call may change from one status to another: a journal that is read again repeats all. */
export const movesForward = (from: ToolStatus, to: ToolStatus): boolean =>
  from === 'pending' ? to !== 'pending' : from === 'running' && isToolEnded(to);
