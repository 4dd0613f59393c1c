import type { Task } from '@headrace/client';

export type TaskStatus = Task['status'];

/** In the order in which a task goes through them. */
export const STATUSES = ['open', 'in_progress', 'in_review', 'done', 'cancelled'] as const;

/** The word, and the status whose shape and colour stand for it. */
const LOOKS: Record<TaskStatus, { word: string; look: string }> = {
  open: { word: 'open', look: 'queued' },
  in_progress: { word: 'in progress', look: 'preparing' },
  in_review: { word: 'in review', look: 'waiting' },
  done: { word: 'done', look: 'completed' },
  cancelled: { word: 'cancelled', look: 'cancelled' },
};

/** What `Status` shows of a task; an unknown status is shown as its word. */
export function lookOf(status: string): { status: string; word: string } {
  const known = (LOOKS as Record<string, { word: string; look: string } | undefined>)[status];
  return known ? { status: known.look, word: known.word } : { status, word: status };
}

export const wordOf = (status: string): string => lookOf(status).word;
