import type { IncomingHttpHeaders } from 'node:http';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { HostRow } from '../db/schema.ts';
import { requireCapability } from '../http/capabilities.ts';
import { ApiError } from '../http/errors.ts';
import { hostIdOf, isTokenOf } from './token.ts';

const BEARER = /^bearer +(\S+) *$/i;

const wrongToken = () =>
  new ApiError(
    'unauthorized',
    'This host token is not valid: it is mistyped, was replaced, or its host was deleted.',
  );

/** A host that may connect, by the row as it is now. */
export type KnownHost = Pick<HostRow, 'id' | 'name' | 'org_id'> & { token_hash: Buffer };

/** The host of a token; its person still has to be a member. Throws `unauthorized`, and what the operator has taken. */
export async function authenticateHost(
  ctx: Pick<Context, 'db' | 'config'>,
  headers: IncomingHttpHeaders,
): Promise<KnownHost> {
  const token = BEARER.exec(headers.authorization ?? '')?.[1] ?? '';
  const id = hostIdOf(token);
  const host = id === null ? undefined : await findKnown(ctx, id);
  if (!host || !isTokenOf(token, host.token_hash)) throw wrongToken();
  requireCapability(ctx.config, host, 'hosts');
  return host;
}

/** The host as it is now; undefined where nothing may connect as it. */
export async function findKnown(
  { db }: Pick<Context, 'db'>,
  id: string,
): Promise<(KnownHost & { without: string[]; epoch: number }) | undefined> {
  const row = await db
    .selectFrom('hosts')
    .innerJoin('organizations', 'organizations.id', 'hosts.org_id')
    .select(['hosts.id', 'hosts.name', 'hosts.org_id', 'token_hash', 'epoch', 'without'])
    .where('hosts.id', '=', id)
    .where('hosts.deleted_at', 'is', null)
    .where('organizations.deleted_at', 'is', null)
    .where(
      sql<boolean>`exists (select from members m where m.org_id = hosts.org_id and m.user_id = hosts.user_id)`,
    )
    .executeTakeFirst();
  return row && { ...row, token_hash: row.token_hash! };
}
