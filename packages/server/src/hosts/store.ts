/** The only writer of `hosts` and `bindings`. */
import type { HostBinding, HostStatus } from '@headrace/runner/host/protocol';
import { SILENCE_MS } from '@headrace/runner/host/protocol';
import { sql } from 'kysely';
import { clean } from '../db/clean-text.ts';
import type { Db } from '../db/database.ts';
import type { HostRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { newId } from '../ids.ts';
import { wakeWaiting } from '../jobs/store.ts';

/** A host, and whether it is online: its connection is held, and it showed a sign of life. */
export type SeenHost = HostRow & { is_online: boolean };

/** Until work is tried again whose host counts as online, and did not answer. */
const ONLINE_SECONDS = 1;

/** As the function `away_host` has it. */
const isOnline = sql<boolean>`process_id is not null and last_seen_at > now() - ${SILENCE_MS} * interval '1 millisecond'`;

export const selectHosts = (db: Db | Tx['db']) =>
  db.selectFrom('hosts').selectAll().select(isOnline.as('is_online'));

/**
 * For how long work that waits for a host is put off: the host wakes it when it connects. One that has connected since the work
 * saw that it was away is seen here, and one that connects now waits for this transaction, and finds the work.
 */
export async function hostDelaySeconds(tx: Tx, hostId: string, mostSeconds: number): Promise<number> {
  const host = await tx.db
    .selectFrom('hosts')
    .select(isOnline.as('is_online'))
    .where('id', '=', hostId)
    .forShare()
    .executeTakeFirst();
  return host?.is_online ? ONLINE_SECONDS : mostSeconds;
}

/** When a change is made: later than the one before. */
const touched = sql<Date>`greatest(now(), updated_at + interval '1 millisecond')`;

/** What jobs wait for whose host is away, or whose folder another run works in. */
export const hostWait = (hostId: string): `host:${string}` => `host:${hostId}`;
export const folderWait = (bindingId: string): string => `folder:${bindingId}`;

export async function insertHost(
  tx: Tx,
  row: Pick<HostRow, 'org_id' | 'id' | 'name' | 'user_id' | 'token_hash'>,
): Promise<SeenHost> {
  return tx.db
    .insertInto('hosts')
    .values(row)
    .returningAll()
    .returning(isOnline.as('is_online'))
    .executeTakeFirstOrThrow();
}

/** A new token ends the connection of the old one: whoever holds it looks at the row again. */
export async function saveHost(
  tx: Tx,
  id: string,
  change: Partial<Pick<HostRow, 'name' | 'token_hash'>>,
): Promise<SeenHost> {
  tx.wake('hosts', id);
  return tx.db
    .updateTable('hosts')
    .set({ ...change, updated_at: touched })
    .where('id', '=', id)
    .returningAll()
    .returning(isOnline.as('is_online'))
    .executeTakeFirstOrThrow();
}

/** Rows of threads name them, so theirs stay, without contents. */
async function endHosts(tx: Tx, of: { column: 'id' | 'org_id'; id: string }): Promise<void> {
  const ended = await tx.db
    .updateTable('hosts')
    .set({
      deleted_at: sql<Date>`now()`,
      token_hash: null,
      process_id: null,
      socket: null,
      name: '',
      version: null,
      providers: [],
    })
    .where(of.column, '=', of.id)
    .where('deleted_at', 'is', null)
    .returning('id')
    .execute();
  for (const { id } of ended) {
    await tx.db.deleteFrom('bindings').where('host_id', '=', id).execute();
    tx.wake('hosts', id);
    // What waits for it fails.
    await wakeWaiting(tx, hostWait(id));
  }
}

/** Deletes a host: its token counts no more, its connection ends, and so do its runs. */
export const removeHost = (tx: Tx, id: string) => endHosts(tx, { column: 'id', id });

/** The hosts of an organization that is deleted. */
export const deleteHostsOf = (tx: Tx, orgId: string) => endHosts(tx, { column: 'org_id', id: orgId });

/** A number for a connection that is being dialed: higher than those of all that were dialed before. */
export async function numberConnection(db: Db): Promise<number> {
  const { rows } = await sql<{ epoch: number }>`select nextval('host_connections') as epoch`.execute(db);
  return rows[0]!.epoch;
}

interface Connected {
  hostId: string;
  /** Its number. */
  epoch: number;
  /** What is stored of the token that it came with. */
  tokenHash: Buffer;
  processId: string;
  /** Where calls to it are passed on. */
  place: string;
}

/**
 * Makes a connection the host's own, and stores what it tells: it is online. `refused` where its token counts no more, `replaced`
 * where one that was dialed later has begun first.
 */
export async function beginConnection(
  tx: Tx,
  { hostId, epoch, tokenHash, processId, place }: Connected,
  status: HostStatus,
): Promise<'begun' | 'refused' | 'replaced'> {
  const host = await tx.db
    .selectFrom('hosts')
    .select(['epoch', 'org_id'])
    .where('id', '=', hostId)
    .where('token_hash', '=', tokenHash)
    .forUpdate()
    .executeTakeFirst();
  if (!host) return 'refused';
  if (host.epoch > epoch) return 'replaced';
  await tx.db
    .updateTable('hosts')
    .set({ epoch, process_id: processId, socket: place, ...told(status) })
    .where('id', '=', hostId)
    .execute();
  await storeBindings(tx, { org_id: host.org_id, id: hostId }, status.bindings);
  await wakeWaiting(tx, hostWait(hostId));
  tx.wake('hosts', hostId);
  return 'begun';
}

const told = ({ version, share, providers }: HostStatus) => ({
  version: clean(version),
  share,
  providers: [...new Set(providers)],
  last_seen_at: sql<Date>`now()`,
});

/** Stores what the connection of this number tells. False where it is not the host's own any more. */
export async function storeStatus(
  tx: Tx,
  { hostId, epoch }: { hostId: string; epoch: number },
  status: HostStatus,
): Promise<boolean> {
  const row = await tx.db
    .updateTable('hosts')
    .set(told(status))
    .where('id', '=', hostId)
    .where('epoch', '=', epoch)
    .where('deleted_at', 'is', null)
    .returning(['org_id', 'id'])
    .executeTakeFirst();
  if (row) await storeBindings(tx, row, status.bindings);
  return row !== undefined;
}

/** A binding keeps its id; one that is told no more stays as it was, removed. */
async function storeBindings(
  tx: Tx,
  host: Pick<HostRow, 'org_id' | 'id'>,
  bindings: readonly HostBinding[],
): Promise<void> {
  const byName = new Map(bindings.map((binding) => [clean(binding.name), binding]));
  if (byName.size > 0)
    await tx.db
      .insertInto('bindings')
      .values(
        [...byName].map(([name, { workspaceModes, isGit, branch }]) => ({
          org_id: host.org_id,
          host_id: host.id,
          id: newId('bnd'),
          name,
          workspace_modes: [...new Set(workspaceModes)],
          is_git: isGit,
          branch: branch === null ? null : clean(branch),
        })),
      )
      .onConflict((conflict) =>
        conflict.columns(['host_id', 'name']).doUpdateSet({
          workspace_modes: sql<string[]>`excluded.workspace_modes`,
          is_git: sql<boolean>`excluded.is_git`,
          branch: sql<string | null>`excluded.branch`,
          removed: false,
        }),
      )
      .execute();
  await tx.db
    .updateTable('bindings')
    .set({ removed: true })
    .where('host_id', '=', host.id)
    .where('removed', '=', false)
    .where('name', 'not in', [...byName.keys(), ''])
    .execute();
}

/** Records a sign of life. */
export async function touchConnection(db: Db, hostId: string, epoch: number): Promise<void> {
  await db
    .updateTable('hosts')
    .set({ last_seen_at: sql<Date>`now()` })
    .where('id', '=', hostId)
    .where('epoch', '=', epoch)
    .where('deleted_at', 'is', null)
    .execute();
}

/** Records the end of a connection that was silent for so long, unless another one has replaced it. */
export async function endConnection(
  db: Db,
  { hostId, epoch }: { hostId: string; epoch: number },
  silentMs: number,
): Promise<void> {
  await db
    .updateTable('hosts')
    .set({
      process_id: null,
      socket: null,
      last_seen_at: sql<Date>`greatest(last_seen_at, now() - ${silentMs} * interval '1 millisecond')`,
    })
    .where('id', '=', hostId)
    .where('epoch', '=', epoch)
    .execute();
}
