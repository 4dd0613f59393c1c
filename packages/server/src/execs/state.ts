/**
 * A command's states. Its row moves only along these:
 *
 *   queued ----its workspace is ready; committed before the command starts, so that it never starts twice--> running
 *   queued ----nobody could say whether it was started, and its result is awaited further--> running
 *   queued ----no workspace could be made, or its thread was archived or deleted--> failed
 *   running ---the command ended, and what it changed is stored--> completed
 *   running ---its sandbox was lost, or its result could not be stored for an hour--> failed
 */
import type { ExecRow } from '../db/schema.ts';

export type ExecStatus = ExecRow['status'];

const FROM = {
  running: ['queued'],
  completed: ['running'],
  failed: ['queued', 'running'],
} as const satisfies Partial<Record<ExecStatus, readonly ExecStatus[]>>;

export type NextStatus = keyof typeof FROM;

/** The statuses that lead to `to`. */
export const statusesBefore = (to: NextStatus): readonly ExecStatus[] => FROM[to];

export const isEnded = (status: ExecStatus): boolean => status === 'completed' || status === 'failed';
