/** Commands that were run on this page, by thread; they end with the page. */
import { useSyncExternalStore } from 'react';

export interface Result {
  exitCode: number | null;
  signal: string | null;
  timedOut: boolean;
  stdout: string;
  stderr: string;
  truncated: boolean;
  durationMs: number;
  sourceId: string | null;
}
export interface Ran {
  command: string;
  result: Result;
}

const NONE: Ran[] = [];
/** Older ones are forgotten. */
export const MOST = 50;
const byThread = new Map<string, Ran[]>();
const listeners = new Set<() => void>();

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export function remember(threadId: string, ran: Ran): void {
  byThread.set(threadId, [...(byThread.get(threadId) ?? NONE), ran].slice(-MOST));
  for (const listener of listeners) listener();
}

/** Oldest first. */
export const useHistory = (threadId: string): Ran[] =>
  useSyncExternalStore(subscribe, () => byThread.get(threadId) ?? NONE);

export function endOf({ exitCode, signal, timedOut }: Result): string {
  if (timedOut) return 'ended after its time limit';
  if (signal !== null) return `ended by ${signal}`;
  return `exit code ${exitCode ?? 'unknown'}`;
}
