import { TimedOut } from '../deadline.ts';

/** Tells a database that is away from a query that is wrong. */
const AWAY = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'EAGAIN',
  '57P01',
  '57P02',
  '57P03',
  '53300',
  '08000',
  '08001',
  '08003',
  '08004',
  '08006',
  '57014',
]);

/**
 * True when the database could not be reached, went away, or did not answer in time: the caller may try
 * again.
 */
export function isDatabaseAway(error: unknown): boolean {
  if (error instanceof TimedOut) return true;
  if (!(error instanceof Error)) return false;
  const { code, syscall, severity } = error as { code?: string; syscall?: string; severity?: string };
  if (code && AWAY.has(code))
    return (
      severity !== undefined ||
      syscall === 'connect' ||
      syscall === 'read' ||
      syscall === 'write' ||
      /^\d/.test(code)
    );
  return /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|not queryable|Query read timeout/.test(
    error.message,
  );
}
