/** `headrace secrets new-key` and `headrace secrets rotate`. */
import { isServiceKey } from '@headrace/server/accounts/keys.ts';
import { readConfig } from '@headrace/server/config.ts';
import type { Config } from '@headrace/server/config.ts';
import { isDatabaseAway } from '@headrace/server/db/faults.ts';
import { countOthers, rotateSecrets } from '@headrace/server/rotate-secrets.ts';
import { replaceKeys } from '@headrace/server/sealing.ts';
import { existingSecretKeys, replaceSecretKey } from '@headrace/server/secret-keys.ts';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import type { Exit } from '../core/exit.ts';
import { databaseAway, openServiceDatabase } from './database.ts';

/** Receipts, whose fingerprints and answers the keys protect, are kept for so long; cursors less. */
const STILL_NEEDED_DAYS = 8;

export async function newSecretKey(cli: Cli): Promise<void> {
  const config = readConfig(cli.io.env, isServiceKey);
  if (config.secretKey !== null)
    throw new Error(
      'HEADRACE_SECRET_KEY gives the key: move it to HEADRACE_FORMER_SECRET_KEYS, and set another one',
    );
  await replaceSecretKey(config.dataDir);
  const path = `${config.dataDir}/secret.key`;
  cli.show(
    { path },
    () =>
      `${path} is a new key; secret.key.former has the one before. Restart the service, then run \`secrets rotate\`.`,
  );
}

/** Fails if more than the current key is needed to open what is stored. */
export async function rotateSealed(cli: Cli): Promise<Exit> {
  const config = readConfig(cli.io.env, isServiceKey);
  const { current, former } = await existingSecretKeys(config);
  replaceKeys(current, former);
  const all = await rotated(config, current);
  const unreadable = all.reduce((sum, one) => sum + one.unreadable.length, 0);
  const lines = [
    ...all.map(({ what, ...one }) => `${what}: ${one.resealed} sealed again, ${one.current} were already`),
    ...all.flatMap(({ what, unreadable: ids }) =>
      ids.map((id) => `unreadable  ${what}: ${id}: no key opens it; set it again`),
    ),
    unreadable > 0
      ? `${unreadable} remain under a key that is neither the current nor a former one.`
      : `Nothing that is stored needs a former key. Remove them ${STILL_NEEDED_DAYS} days after the change: until then retries and cursors from before need them.`,
  ];
  cli.show({ formerKeys: former.length, rotated: all }, () => lines.join('\n'));
  return unreadable > 0 ? EXIT.failed : EXIT.done;
}

async function rotated(config: Config, secretKey: Buffer) {
  const database = openServiceDatabase(config, 1);
  try {
    const others = await countOthers(database.db, secretKey);
    if (others > 0)
      throw new Error(
        `${others} processes of the service run with another secret key: restart them with the current one first`,
      );
    return await rotateSecrets(database.db, secretKey);
  } catch (error) {
    throw isDatabaseAway(error) ? databaseAway(error, config) : error;
  } finally {
    await database.close();
  }
}
