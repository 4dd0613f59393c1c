import { TimedOut } from '../deadline.ts';

/** Tells a database that is away from a query that is wrong. */
const AWAY = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'EAGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
  'ENOTFOUND',
  // A standby, until it is promoted.
  '25006',
  '57P01',
  '57P02',
  '57P03',
  '53200',
  '53300',
  '08000',
  '08001',
  '08003',
  '08004',
  '08006',
  '57014',
]);

/** True when the server has no room on its disk: who tries again at once fails again. */
export const isDiskFull = (error: unknown): boolean =>
  error instanceof Error && (error as { code?: string }).code === '53100';

/** True when a row is there already that may be there once. */
export const isUniqueViolation = (error: unknown): boolean =>
  error instanceof Error && (error as { code?: string }).code === '23505';

/**
 * True when the database could not be reached, went away, or did not answer in time: the caller may try
 * again.
 */
export function isDatabaseAway(error: unknown): boolean {
  if (error instanceof TimedOut) return true;
  if (!(error instanceof Error)) return false;
  if (isPoolerAway(error.message)) return true;
  const { code, syscall, severity } = error as { code?: string; syscall?: string; severity?: string };
  if (code && AWAY.has(code))
    return (
      severity !== undefined ||
      syscall === 'connect' ||
      syscall === 'read' ||
      syscall === 'write' ||
      syscall === 'getaddrinfo' ||
      /^\d/.test(code)
    );
  return /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|not queryable|Query read timeout/.test(
    error.message,
  );
}

/** What PgBouncer says while its server is away. */
const isPoolerAway = (message: string) =>
  /^(pgbouncer cannot connect to server|server conn crashed|query_wait_timeout|server login has been failing)/.test(
    message,
  );

/** Names the variable, and where it leads, without user and password. */
export function unreachable(databaseUrl: string, cause: unknown, variable = 'DATABASE_URL'): Error {
  // `localhost` has two addresses: the error of both has no message of its own.
  const [first = cause] = cause instanceof AggregateError ? (cause.errors as unknown[]) : [];
  const { host, pathname } = new URL(databaseUrl);
  const where = host ? ` at ${host}` : '';
  return new Error(
    `${variable}: the database "${pathname.slice(1)}"${where} cannot be used: ${(first as Error).message}. Check that it runs, and its address, name, user and password.`,
    { cause },
  );
}
