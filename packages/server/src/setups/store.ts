/** The only writer of `setups` and `setup_logs`. */
import { sql } from 'kysely';
import type { Insertable, Updateable } from 'kysely';
import type { Db } from '../db/database.ts';
import { hasStatus } from '../db/has-status.ts';
import { countChanged } from '../db/purge.ts';
import type { Purge } from '../db/purge.ts';
import type { SetupRow, SetupsTable } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import type { LogSize, Piece } from '../logs/index.ts';
import { ENDED, setupChange, UNDER_WAY } from './state.ts';
import type { SetupEvent } from './state.ts';

type AnyDb = Db | Tx['db'];

const underWay = hasStatus('setups', UNDER_WAY);
const now = sql<Date>`now()`;

/** Inserts a queued one. Undefined where one of its key is under way. */
export async function insertSetup(
  tx: Tx,
  setup: Omit<Insertable<SetupsTable>, 'status'>,
): Promise<SetupRow | undefined> {
  return tx.db
    .insertInto('setups')
    .values({ ...setup, status: 'queued' })
    .onConflict((conflict) => conflict.columns(['project_id', 'key']).where(underWay).doNothing())
    .returningAll()
    .executeTakeFirst();
}

export async function findSetup(db: AnyDb, setupId: string): Promise<SetupRow | undefined> {
  return db.selectFrom('setups').selectAll().where('id', '=', setupId).executeTakeFirst();
}

export async function findProjectSetup(
  db: AnyDb,
  projectId: string,
  setupId: string,
): Promise<SetupRow | undefined> {
  return db
    .selectFrom('setups')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('id', '=', setupId)
    .executeTakeFirst();
}

/** Newest first, behind `after`. */
export async function findProjectSetups(
  db: Db,
  projectId: string,
  after: string | null,
  limit: number,
): Promise<SetupRow[]> {
  let query = db.selectFrom('setups').selectAll().where('project_id', '=', projectId);
  if (after !== null) query = query.where(sql<boolean>`id collate "C" < ${after}`);
  return query
    .orderBy(sql`id collate "C"`, 'desc')
    .limit(limit)
    .execute();
}

/** A record of a key, as whoever needs it looks at it. */
export type OfKey = Pick<SetupRow, 'id' | 'status' | 'runner_id' | 'layer_gone_at'> & {
  /** Whether it ended within the last `seconds`. */
  is_recent: boolean;
  /** Whether its layer was gone within so many seconds. */
  is_short_lived: boolean;
};

/** The records of a key, newest first. */
export async function findOfKey(
  db: AnyDb,
  { projectId, key, seconds }: { projectId: string; key: string; seconds: number },
  limit: number,
): Promise<OfKey[]> {
  const { rows } = await sql<OfKey>`
    select id, status, runner_id, layer_gone_at, coalesce(finished_at > now() - ${seconds} * interval '1 second', false) as is_recent,
      coalesce(layer_gone_at < finished_at + ${seconds} * interval '1 second', false) as is_short_lived
    from setups where project_id = ${projectId} and key = ${key} order by id collate "C" desc limit ${limit}`.execute(
    db,
  );
  return rows;
}

/** The record of a key that is under way, else the newest. */
export async function findCurrent(db: AnyDb, projectId: string, key: string): Promise<SetupRow | undefined> {
  return db
    .selectFrom('setups')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('key', '=', key)
    .orderBy(underWay, 'desc')
    .orderBy(sql`id collate "C"`, 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** Whether it is under way; if so it stays that until the end of the transaction. */
export async function keepUnderWay(tx: Tx, setupId: string): Promise<boolean> {
  const found = await tx.db
    .selectFrom('setups')
    .select('id')
    .where('id', '=', setupId)
    .where(underWay)
    .forShare()
    .executeTakeFirst();
  return found !== undefined;
}

export async function isUnderWay(db: Db, setupId: string): Promise<boolean> {
  const found = await db
    .selectFrom('setups')
    .select('id')
    .where('id', '=', setupId)
    .where(underWay)
    .executeTakeFirst();
  return found !== undefined;
}

/** Setups under way that no job works on. */
export async function findForgotten(
  db: Db,
  limit: number,
): Promise<Pick<SetupRow, 'id' | 'org_id' | 'project_id'>[]> {
  return db
    .selectFrom('setups')
    .select(['id', 'org_id', 'project_id'])
    .where(underWay)
    .where(sql<boolean>`not exists (select 1 from jobs j where j.key = 'setup:' || setups.id)`)
    .limit(limit)
    .execute();
}

/** Those of the setups that have ended. */
export async function findEnded(db: Db, setupIds: string[]): Promise<string[]> {
  const ended = await db
    .selectFrom('setups')
    .select('id')
    .where('id', 'in', setupIds)
    .where(hasStatus('setups', ENDED))
    .execute();
  return ended.map(({ id }) => id);
}

/** Every change of a setup's status. Undefined when its status is not the one that the event needs. */
async function moveSetup(
  tx: Tx,
  setupId: string,
  event: SetupEvent,
  change: Updateable<SetupsTable>,
): Promise<SetupRow | undefined> {
  const { from, to } = setupChange(event);
  return tx.db
    .updateTable('setups')
    .set({ ...change, status: to })
    .where('id', '=', setupId)
    .where('status', '=', from)
    .returningAll()
    .executeTakeFirst();
}

export const startSetup = (tx: Tx, setupId: string, runnerId: string): Promise<SetupRow | undefined> =>
  moveSetup(tx, setupId, 'start', { started_at: now, runner_id: runnerId });

export const finishSetup = (
  tx: Tx,
  setupId: string,
  event: Exclude<SetupEvent, 'start'>,
  change: Updateable<SetupsTable>,
): Promise<SetupRow | undefined> => moveSetup(tx, setupId, event, { ...change, finished_at: now });

/** Marks a queued setup that is beyond a limit. */
export async function holdSetup(tx: Tx, setupId: string): Promise<void> {
  await tx.db
    .updateTable('setups')
    .set({ held: true })
    .where('id', '=', setupId)
    .where('status', '=', 'queued')
    .execute();
}

/** Records that the runner keeps a setup's layer no more. */
export async function loseLayer(db: Db, setupId: string): Promise<void> {
  await db
    .updateTable('setups')
    .set({ layer_gone_at: now })
    .where('id', '=', setupId)
    .where('layer_gone_at', 'is', null)
    .execute();
}

/** Adds pieces to a setup's log. Wakes readers that wait for it. */
export async function appendLog(
  tx: Tx,
  { org_id: orgId, id }: Pick<SetupRow, 'org_id' | 'id'>,
  pieces: Piece[],
  size: LogSize,
): Promise<void> {
  await tx.db
    .insertInto('setup_logs')
    .values(
      pieces.map(({ through, text }) => ({
        org_id: orgId,
        setup_id: id,
        journal_offset: through,
        content: text,
      })),
    )
    .execute();
  await tx.db
    .updateTable('setups')
    .set({
      journal_offset: pieces.at(-1)!.through,
      logs_byte_size: size.byteSize,
      logs_truncated: size.isTruncated,
    })
    .where('id', '=', id)
    .execute();
  tx.wake('resources', id);
}

/** The setups under way in a project, in the order in which they are locked. */
export async function findUnderWay(tx: Tx, projectId: string): Promise<Pick<SetupRow, 'id' | 'status'>[]> {
  return tx.db
    .selectFrom('setups')
    .select(['id', 'status'])
    .where('project_id', '=', projectId)
    .where(underWay)
    .orderBy('id')
    .forUpdate()
    .execute();
}

/** Setups of deleted projects, with their logs. */
export const purgeSetups: Purge = (db, projectIds, limit) =>
  countChanged(
    db,
    sql`delete from setups where id in (select id from setups where project_id = any(${projectIds}::text[]) limit ${limit})`,
  );
