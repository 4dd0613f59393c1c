import type { Config } from '@headrace/server/config.ts';
import { openDatabase } from '@headrace/server/db/database.ts';
import type { DatabaseHandle } from '@headrace/server/db/database.ts';
import { embeddedConnection } from '@headrace/server/db/embedded/index.ts';

type Where = Pick<Config, 'databaseUrl' | 'databaseDirectUrl' | 'dataDir'>;

/** The database of a running service, or an external one. Callers give its faults to `databaseAway`. */
export function openServiceDatabase(where: Where, connections: number): DatabaseHandle {
  return openDatabase(serviceConnection(where), { max: connections });
}

/** Past a connection pooler, if there is one: commands take locks of their session. */
export function serviceConnection({ databaseUrl, databaseDirectUrl, dataDir }: Where) {
  return databaseUrl === null
    ? embeddedConnection(dataDir)
    : { connectionString: databaseDirectUrl ?? databaseUrl };
}

/** The error for the operator when the database cannot be reached. */
export function databaseAway(error: unknown, { dataDir }: Where): Error {
  return new Error(
    `the database does not answer (${(error as Error).message}): start the service on ${dataDir}, or set DATABASE_URL`,
    { cause: error },
  );
}
