import { setPlatformApi } from '@headrace/server/accounts/entitlements.ts';
import { isServiceKey } from '@headrace/server/accounts/keys.ts';
import { readConfig } from '@headrace/server/config.ts';
import { openDatabase } from '@headrace/server/db/database.ts';
import type { DatabaseHandle } from '@headrace/server/db/database.ts';
import { embeddedConnection } from '@headrace/server/db/embedded/index.ts';
import { UsageError } from './usage-error.ts';

/** `headrace organizations set`. Returns the exit code. */
export async function setOrganization(id: string | undefined, platformApi: string | undefined): Promise<number> {
  if (!id) throw new UsageError('--id has to name an organization (`org_…`).');
  if (platformApi !== 'true' && platformApi !== 'false') throw new UsageError('--platform-api has to be true or false.');
  const { databaseUrl, dataDir } = readConfig(process.env, isServiceKey);
  let database: DatabaseHandle | undefined;
  try {
    // Of a service that runs, or external: what is set is noticed within a second.
    database = openDatabase(databaseUrl === null ? embeddedConnection(dataDir) : { connectionString: databaseUrl }, 1);
    const isKnown = await setPlatformApi(database.db, id, platformApi === 'true');
    console.log(isKnown ? `Platform API access of ${id}: ${platformApi}` : `There is no organization ${id}.`);
    return isKnown ? 0 : 1;
  } catch (error) {
    throw new Error(`the database does not answer (${(error as Error).message}): start the service on ${dataDir}, or set DATABASE_URL`, { cause: error });
  } finally {
    await database?.close();
  }
}
