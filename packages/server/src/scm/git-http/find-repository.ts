import type { Db } from '../../db/database.ts';
import type { RepositoryRow } from '../../db/schema.ts';
import type { Principal } from '../../http/principal.ts';
import { seenBy } from '../policy.ts';

const ADDRESS = /^([a-z0-9][a-z0-9._-]{0,99})\.git$/;

/** The built-in repository of the address `<name>.git`; undefined where the caller sees none. */
export async function findRepository(
  db: Db,
  principal: Principal,
  address: string,
): Promise<RepositoryRow | undefined> {
  const name = ADDRESS.exec(address)?.[1];
  if (name === undefined) return undefined;
  return db
    .selectFrom('repositories')
    .selectAll()
    .where(seenBy(principal))
    .where('provider', '=', 'local')
    .where('name', '=', name)
    .executeTakeFirst();
}
