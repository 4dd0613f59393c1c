/** `headrace users reset-password`: a new password for a person who lost theirs. */
import { randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { isServiceKey } from '@headrace/server/accounts/keys.ts';
import { NEW_PASSWORD } from '@headrace/server/accounts/passwords.ts';
import { resetPassword } from '@headrace/server/accounts/reset-password.ts';
import { openBus } from '@headrace/server/bus.ts';
import type { Bus } from '@headrace/server/bus.ts';
import { readConfig } from '@headrace/server/config.ts';
import type { DatabaseHandle } from '@headrace/server/db/database.ts';
import { newId } from '@headrace/server/ids.ts';
import { databaseAway, openServiceDatabase } from './database.ts';
import { UsageError } from './usage-error.ts';

interface ResetArguments {
  email?: string;
  'password-stdin'?: boolean;
}

/** Returns the exit code. */
export async function resetUserPassword({
  email,
  'password-stdin': isGiven = false,
}: ResetArguments): Promise<number> {
  if (!email) throw new UsageError('--email has to name a user by their e-mail address.');
  const password = isGiven ? await givenPassword() : randomBytes(18).toString('base64url');
  const config = readConfig(process.env, isServiceKey);
  let database: DatabaseHandle | undefined;
  let bus: Bus | undefined;
  try {
    database = openServiceDatabase(config, 1);
    // Makes running processes look again, so that open streams end at once as well.
    bus = await openBus(database.connection, newId('wrk'), { debug: () => {} });
    const isKnown = await resetPassword({ db: database.db, bus }, email, password);
    if (!isKnown) console.error(`headrace: no user has the address ${email}.`);
    else if (isGiven) console.log(`${email} has the new password; all sessions have ended.`);
    else console.log(`New password of ${email} (shown once): ${password}\nAll sessions have ended.`);
    return isKnown ? 0 : 1;
  } catch (error) {
    throw databaseAway(error, config);
  } finally {
    await bus?.close();
    await database?.close();
  }
}

async function givenPassword(): Promise<string> {
  const password = (await text(process.stdin)).replace(/\r?\n$/, '');
  const length = [...password].length;
  if (length < NEW_PASSWORD.minLength || length > NEW_PASSWORD.maxLength)
    throw new UsageError(
      `A password has ${NEW_PASSWORD.minLength} to ${NEW_PASSWORD.maxLength} characters; stdin has ${length}.`,
    );
  return password;
}
