import { constants } from 'node:os';

/**
 * The name of the signal in an exit code of 128 + n, with which a first process, like a shell, reports a
 * death by signal; or null.
 */
export function signalOf(code: number | null): string | null {
  if (code === null || code <= 128) return null;
  return Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0] ?? null;
}
