import { setPlatformApi } from '@headrace/server/accounts/store.ts';
import { isServiceKey } from '@headrace/server/accounts/keys.ts';
import { readConfig } from '@headrace/server/config.ts';
import type { DatabaseHandle } from '@headrace/server/db/database.ts';
import { databaseAway, openServiceDatabase } from './database.ts';
import { UsageError } from './usage-error.ts';

/** `headrace organizations set`. Returns the exit code. */
export async function setOrganization(
  id: string | undefined,
  platformApi: string | undefined,
): Promise<number> {
  if (!id) throw new UsageError('--id has to name an organization (`org_…`).');
  if (platformApi !== 'true' && platformApi !== 'false')
    throw new UsageError('--platform-api has to be true or false.');
  const config = readConfig(process.env, isServiceKey);
  let database: DatabaseHandle | undefined;
  try {
    database = openServiceDatabase(config, 1);
    // The service notices the change within a second.
    const isKnown = await setPlatformApi(database.db, id, platformApi === 'true');
    console.log(isKnown ? `Platform API access of ${id}: ${platformApi}` : `There is no organization ${id}.`);
    return isKnown ? 0 : 1;
  } catch (error) {
    throw databaseAway(error, config);
  } finally {
    await database?.close();
  }
}
