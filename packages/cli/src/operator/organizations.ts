import { setPlatformApi, setWithout } from '@headrace/server/accounts/store.ts';
import { isServiceKey } from '@headrace/server/accounts/keys.ts';
import { readConfig } from '@headrace/server/config.ts';
import type { Db } from '@headrace/server/db/database.ts';
import type { DatabaseHandle } from '@headrace/server/db/database.ts';
import { CAPABILITIES } from '@headrace/server/http/capabilities.ts';
import type { Capability } from '@headrace/server/http/capabilities.ts';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import { Fault, usage } from '../core/fault.ts';
import { databaseAway, openServiceDatabase } from './database.ts';

interface Options {
  id: string | undefined;
  'platform-api': 'true' | 'false' | undefined;
  without: string | undefined;
}

/** `headrace organizations set` */
export async function setOrganization(cli: Cli, options: Options): Promise<void> {
  const { id } = options;
  if (!id) throw usage('--id has to name an organization (`org_…`).');
  const changes = changesOf(options);
  if (!changes.length) throw usage('Name what to set: --platform-api or --without.');
  const config = readConfig(cli.io.env, isServiceKey);
  let database: DatabaseHandle | undefined;
  try {
    database = openServiceDatabase(config, 1);
    // The service notices the change within a second.
    for (const { apply } of changes)
      if (!(await apply(database.db, id))) throw new Fault(EXIT.failed, `There is no organization ${id}.`);
    cli.show({ organization: { id } }, () => changes.map(({ effect }) => `${effect} of ${id}`).join('\n'));
  } catch (error) {
    throw error instanceof Fault ? error : databaseAway(error, config);
  } finally {
    await database?.close();
  }
}

interface Change {
  apply: (db: Db, id: string) => Promise<boolean>;
  effect: string;
}

/** All are checked before the first is made. */
function changesOf({ 'platform-api': platformApi, without }: Options): Change[] {
  const changes: Change[] = [];
  if (platformApi !== undefined)
    changes.push({
      apply: (db, id) => setPlatformApi(db, id, platformApi === 'true'),
      effect: `Platform API access ${platformApi}`,
    });
  if (without !== undefined) {
    const names = capabilities(without);
    changes.push({
      apply: (db, id) => setWithout(db, id, names),
      effect: `Capabilities without ${names.join(', ') || 'exception'}`,
    });
  }
  return changes;
}

function capabilities(text: string): Capability[] {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
  const unknown = names.filter((name) => !(CAPABILITIES as readonly string[]).includes(name));
  if (unknown.length)
    throw usage(
      `--without: there is no capability ${unknown.join(', ')}; there are: ${CAPABILITIES.join(', ')}.`,
    );
  return names as Capability[];
}
