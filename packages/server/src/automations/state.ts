/**
 * The status of an execution:
 *
 *   (none)            admit      queued
 *   (none)            skip       skipped     a rule of admission.ts refuses it; a run by hand is never skipped
 *   queued            begin      running     its turn; its thread, message and run exist
 *   queued            refuse     failed      no thread can be created in the project
 *   running           complete   completed   its run completed, and its pull request, if any, is open
 *   running           fail       failed      its run, the initialization or the pull request failed
 *   queued, running   cancel     cancelled   queued: the automation was disabled or deleted; running: its run was
 *                                            cancelled, or its thread archived or deleted
 */
import type { ExecutionRow } from '../db/schema.ts';

export type ExecutionStatus = ExecutionRow['status'];
export type ExecutionEvent = 'begin' | 'refuse' | 'complete' | 'fail' | 'cancel';

/** The statuses of executions that have not ended. */
export const OPEN = ['queued', 'running'] as const satisfies ExecutionStatus[];

/** The status of a new execution that is admitted, and of one that is not. */
export const admitted = 'queued' satisfies ExecutionStatus;
export const notAdmitted = 'skipped' satisfies ExecutionStatus;

const TRANSITIONS = {
  begin: { from: ['queued'], to: 'running' },
  refuse: { from: ['queued'], to: 'failed' },
  complete: { from: ['running'], to: 'completed' },
  fail: { from: ['running'], to: 'failed' },
  cancel: { from: OPEN, to: 'cancelled' },
} as const satisfies Record<ExecutionEvent, { from: readonly ExecutionStatus[]; to: ExecutionStatus }>;

/** Which statuses an event requires, and which one results. */
export const executionChange = (
  event: ExecutionEvent,
): { from: readonly ExecutionStatus[]; to: ExecutionStatus } => TRANSITIONS[event];
