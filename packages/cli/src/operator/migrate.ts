import { isServiceKey } from '@headrace/server/accounts/keys.ts';
import { readConfig } from '@headrace/server/config.ts';
import { migrate, newestMigration } from '@headrace/server/db/migrate.ts';
import type { Cli } from '../core/cli.ts';
import { usage } from '../core/fault.ts';

/** `headrace migrate` */
export async function migrateDatabase(cli: Cli): Promise<void> {
  const { databaseUrl } = readConfig(cli.io.env, isServiceKey);
  if (databaseUrl === null)
    throw usage(
      'headrace migrate works on an external database: set DATABASE_URL.',
      'The embedded database is migrated by its service when it starts.',
    );
  await migrate({ connectionString: databaseUrl });
  const schema = await newestMigration();
  cli.show({ schema }, () => `The database has schema ${schema}.`);
}
