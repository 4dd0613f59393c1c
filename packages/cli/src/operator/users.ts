/** `headrace users reset-password`: a new password for a person who lost theirs. */
import { randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { isServiceKey } from '@headrace/server/accounts/keys.ts';
import { NEW_PASSWORD } from '@headrace/server/accounts/passwords.ts';
import { resetPassword } from '@headrace/server/accounts/reset-password.ts';
import { openBus } from '@headrace/server/bus.ts';
import type { Bus } from '@headrace/server/bus.ts';
import { readConfig } from '@headrace/server/config.ts';
import type { Config } from '@headrace/server/config.ts';
import type { DatabaseHandle } from '@headrace/server/db/database.ts';
import { newId } from '@headrace/server/ids.ts';
import type { Cli } from '../core/cli.ts';
import { usage } from '../core/fault.ts';
import { databaseAway, openServiceDatabase } from './database.ts';

export async function resetUserPassword(
  cli: Cli,
  { email, 'password-stdin': isGiven }: { email: string | undefined; 'password-stdin': boolean },
): Promise<void> {
  if (!email) throw usage('--email has to name a user by their e-mail address.');
  const password = isGiven ? await givenPassword(cli) : randomBytes(18).toString('base64url');
  const config = readConfig(cli.io.env, isServiceKey);
  if (!(await changed(config, email, password))) throw new Error(`no user has the address ${email}.`);
  cli.show(isGiven ? { email } : { email, password }, () =>
    isGiven
      ? `${email} has the new password; all sessions have ended.`
      : `New password of ${email} (shown once): ${password}\nAll sessions have ended.`,
  );
}

/** False if nobody has the address. */
async function changed(config: Config, email: string, password: string): Promise<boolean> {
  let database: DatabaseHandle | undefined;
  let bus: Bus | undefined;
  try {
    database = openServiceDatabase(config, 1);
    // Makes running processes look again, so that open streams end at once as well.
    bus = await openBus(database.connection, newId('wrk'), { debug: () => {} });
    return await resetPassword({ db: database.db, bus }, email, password);
  } catch (error) {
    throw databaseAway(error, config);
  } finally {
    await bus?.close();
    await database?.close();
  }
}

async function givenPassword({ io }: Cli): Promise<string> {
  const password = (await text(io.stdin)).replace(/\r?\n$/, '');
  const length = [...password].length;
  if (length < NEW_PASSWORD.minLength || length > NEW_PASSWORD.maxLength)
    throw usage(
      `A password has ${NEW_PASSWORD.minLength} to ${NEW_PASSWORD.maxLength} characters; stdin has ${length}.`,
    );
  return password;
}
