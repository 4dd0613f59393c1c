import { constants } from 'node:os';

/** A first process tells a death by signal as 128 + n, like a shell: the signal's name, or null. */
export function signalOf(code: number | null): string | null {
  if (code === null || code <= 128) return null;
  return Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0] ?? null;
}
