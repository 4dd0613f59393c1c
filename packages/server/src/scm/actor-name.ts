import type { Db } from '../db/database.ts';
import type { Tx } from '../db/transaction.ts';
import type { Principal } from '../http/principal.ts';

/** The name of the account or the user that calls. */
export async function actorName(db: Db | Tx['db'], { accountId, userId }: Principal): Promise<string> {
  const named =
    accountId === null
      ? await db.selectFrom('users').select('name').where('id', '=', userId).executeTakeFirst()
      : await db.selectFrom('service_accounts').select('name').where('id', '=', accountId).executeTakeFirst();
  return named?.name ?? 'Somebody';
}
