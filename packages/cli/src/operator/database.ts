import type { Config } from '@headrace/server/config.ts';
import { openDatabase } from '@headrace/server/db/database.ts';
import type { DatabaseHandle } from '@headrace/server/db/database.ts';
import { embeddedConnection } from '@headrace/server/db/embedded/index.ts';

type Where = Pick<Config, 'databaseUrl' | 'dataDir'>;

/** The database of a running service, or an external one. Callers give its faults to `databaseAway`. */
export function openServiceDatabase({ databaseUrl, dataDir }: Where, connections: number): DatabaseHandle {
  return openDatabase(
    databaseUrl === null ? embeddedConnection(dataDir) : { connectionString: databaseUrl },
    connections,
  );
}

/** The error for the operator when the database cannot be reached. */
export function databaseAway(error: unknown, { dataDir }: Where): Error {
  return new Error(
    `the database does not answer (${(error as Error).message}): start the service on ${dataDir}, or set DATABASE_URL`,
    { cause: error },
  );
}
