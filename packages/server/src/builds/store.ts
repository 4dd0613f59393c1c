/**
 * The only writer of `builds` and `build_logs`.
 */
import { sql } from 'kysely';
import type { Insertable, RawBuilder, Updateable } from 'kysely';
import type { Db } from '../db/database.ts';
import { countChanged } from '../db/purge.ts';
import type { Purge } from '../db/purge.ts';
import { hasStatus } from '../db/has-status.ts';
import type { BuildRow, BuildsTable, ManifestFile } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import type { LogSize, Piece } from '../logs/index.ts';
import { buildChange, ENDED, OPEN } from './state.ts';
import type { BuildEvent } from './state.ts';

type AnyDb = Db | Tx['db'];

/** A build's row without its manifest, which has up to 10,000 files. */
export type Build = Omit<BuildRow, 'manifest' | 'held' | 'listed'>;
const COLUMNS = [
  'org_id',
  'id',
  'project_id',
  'thread_id',
  'source_id',
  'command',
  'output_directory',
  'timeout_seconds',
  'status',
  'exit_code',
  'error_code',
  'error_message',
  'artifact_key',
  'artifact_sha256',
  'artifact_byte_size',
  'file_count',
  'output_byte_size',
  'logs_byte_size',
  'logs_truncated',
  'journal_offset',
  'cancel_requested_at',
  'outcome',
  'runner_id',
  'created_by',
  'created_at',
  'started_at',
  'finished_at',
  'setup',
  'layer_of',
] as const;

/** Builds that have not ended. */
const openBuilds = hasStatus('builds', OPEN);
/** Builds that have ended. */
const endedBuilds = hasStatus('builds', ENDED);
/** Builds that have a sandbox, or whose sandbox was just removed. */
const runningBuilds = hasStatus('builds', ['building']);

export async function insertBuild(tx: Tx, build: Omit<Insertable<BuildsTable>, 'status'>): Promise<Build> {
  return tx.db
    .insertInto('builds')
    .values({ ...build, status: 'queued' })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
}

export async function findBuild(db: AnyDb, buildId: string): Promise<Build | undefined> {
  return db.selectFrom('builds').select(COLUMNS).where('id', '=', buildId).executeTakeFirst();
}

export async function findProjectBuild(
  db: AnyDb,
  projectId: string,
  buildId: string,
): Promise<Build | undefined> {
  return db
    .selectFrom('builds')
    .select(COLUMNS)
    .where('project_id', '=', projectId)
    .where('id', '=', buildId)
    .executeTakeFirst();
}

/** Newest first, behind `after`. */
export async function findThreadBuilds(
  db: Db,
  threadId: string,
  after: string | null,
  limit: number,
): Promise<Build[]> {
  let query = db.selectFrom('builds').select(COLUMNS).where('thread_id', '=', threadId);
  if (after !== null) query = query.where('id', '<', after);
  return query.orderBy('id', 'desc').limit(limit).execute();
}

/** The builds with the ids that `page` selects, newest first. */
export const findBuilds = (db: Db, page: RawBuilder<{ id: string }>): Promise<Build[]> =>
  db
    .selectFrom('builds')
    .select(COLUMNS)
    .where('id', 'in', sql<string>`(select id from (${page}) as page)`)
    .orderBy('id', 'desc')
    .execute();

export async function findManifest(db: Db, buildId: string): Promise<ManifestFile[] | null> {
  const { manifest } = await db
    .selectFrom('builds')
    .select('manifest')
    .where('id', '=', buildId)
    .executeTakeFirstOrThrow();
  return manifest;
}

export async function isCancelRequested(db: Db, buildId: string): Promise<boolean> {
  const build = await db
    .selectFrom('builds')
    .select('id')
    .where('id', '=', buildId)
    .where('cancel_requested_at', 'is not', null)
    .executeTakeFirst();
  return build !== undefined;
}

/** Open builds that no job works on. */
export async function findForgotten(
  db: Db,
  limit: number,
): Promise<Pick<BuildRow, 'id' | 'org_id' | 'project_id'>[]> {
  const { rows } = await sql<Pick<BuildRow, 'id' | 'org_id' | 'project_id'>>`
    select id, org_id, project_id from builds
    where ${openBuilds} and not exists (select 1 from jobs j where j.key = 'build:' || builds.id) limit ${limit}`.execute(
    db,
  );
  return rows;
}

/** Those of the builds that have ended. */
export async function findEnded(db: Db, buildIds: string[]): Promise<string[]> {
  const ended = await db
    .selectFrom('builds')
    .select('id')
    .where('id', 'in', buildIds)
    .where(endedBuilds)
    .execute();
  return ended.map(({ id }) => id);
}

/** Every change of a build's status. Undefined when its status is not the one that the event needs. */
async function moveBuild(
  tx: Tx,
  buildId: string,
  event: BuildEvent,
  change: Updateable<BuildsTable>,
): Promise<Build | undefined> {
  const { from, to } = buildChange(event);
  return tx.db
    .updateTable('builds')
    .set({ ...change, status: to })
    .where('id', '=', buildId)
    .where('status', '=', from)
    .returning(COLUMNS)
    .executeTakeFirst();
}

const now = sql<Date>`now()`;

/** Marks a queued build that is beyond a limit. */
export async function holdBuild(tx: Tx, buildId: string): Promise<void> {
  await tx.db
    .updateTable('builds')
    .set({ held: true })
    .where('id', '=', buildId)
    .where('status', '=', 'queued')
    .execute();
}

/** `layerOf`: the setup whose layer it gets. */
export const startBuild = (
  tx: Tx,
  buildId: string,
  { runnerId, layerOf }: { runnerId: string; layerOf: string | null },
): Promise<Build | undefined> =>
  moveBuild(tx, buildId, 'start', { started_at: now, runner_id: runnerId, layer_of: layerOf });

/** Fails a queued build whose setup failed. */
export const refuseBuild = (tx: Tx, buildId: string, message: string): Promise<Build | undefined> =>
  moveBuild(tx, buildId, 'refuse', {
    error_code: 'setup_failed',
    error_message: message,
    finished_at: now,
  });

export const cancelQueuedBuild = (tx: Tx, buildId: string): Promise<Build | undefined> =>
  moveBuild(tx, buildId, 'cancel', {
    error_code: 'cancelled',
    error_message: 'The build was cancelled before it started.',
    finished_at: now,
  });

/** Ends a building build; `change` holds the columns that a cancellation overwrites. */
export const finishBuild = (
  tx: Tx,
  buildId: string,
  event: 'succeed' | 'fail',
  change: Updateable<BuildsTable>,
): Promise<Build | undefined> => moveBuild(tx, buildId, event, { ...change, finished_at: now });

/** Requests the cancellation of a building build, which fails once its sandbox is gone. */
export async function requestCancel(tx: Tx, buildId: string): Promise<void> {
  await tx.db
    .updateTable('builds')
    .set({ cancel_requested_at: sql<Date>`coalesce(cancel_requested_at, now())` })
    .where('id', '=', buildId)
    .where(runningBuilds)
    .execute();
}

/** Undefined when the build is not building. */
export async function lockRunningBuild(tx: Tx, buildId: string): Promise<Build | undefined> {
  return tx.db
    .selectFrom('builds')
    .select(COLUMNS)
    .where('id', '=', buildId)
    .where(runningBuilds)
    .forUpdate()
    .executeTakeFirst();
}

/** Locks the row of a build that has no thread to be locked. */
export async function lockBuild(tx: Tx, buildId: string): Promise<void> {
  await tx.db.selectFrom('builds').select('id').where('id', '=', buildId).forUpdate().execute();
}

/** How many builds without a thread a project has queued or building. */
export async function countOpenWithoutThread(tx: Tx, projectId: string): Promise<number> {
  const { count } = await tx.db
    .selectFrom('builds')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('project_id', '=', projectId)
    .where('thread_id', 'is', null)
    .where(openBuilds)
    .executeTakeFirstOrThrow();
  return count;
}

/** Ids of a project's queued builds without a thread, in the order in which they are locked. */
export async function findQueuedWithoutThread(tx: Tx, projectId: string): Promise<string[]> {
  const queued = await tx.db
    .selectFrom('builds')
    .select('id')
    .where('project_id', '=', projectId)
    .where('thread_id', 'is', null)
    .where(hasStatus('builds', ['queued']))
    .orderBy('id')
    .execute();
  return queued.map(({ id }) => id);
}

/** Stores the outcome of a building build that has none yet. */
export async function storeOutcome(
  tx: Tx,
  buildId: string,
  change: Updateable<BuildsTable> & { outcome: 'ready' | 'failed' },
): Promise<void> {
  await tx.db
    .updateTable('builds')
    .set(change)
    .where('id', '=', buildId)
    .where(runningBuilds)
    .where('outcome', 'is', null)
    .execute();
}

/** Adds pieces to a build's log. Wakes readers that wait for it. */
export async function appendLog(
  tx: Tx,
  { org_id: orgId, id }: Pick<Build, 'org_id' | 'id'>,
  pieces: Piece[],
  size: LogSize,
): Promise<void> {
  await tx.db
    .insertInto('build_logs')
    .values(
      pieces.map(({ through, text }) => ({
        org_id: orgId,
        build_id: id,
        journal_offset: through,
        content: text,
      })),
    )
    .execute();
  await tx.db
    .updateTable('builds')
    .set({
      journal_offset: pieces.at(-1)!.through,
      logs_byte_size: size.byteSize,
      logs_truncated: size.isTruncated,
    })
    .where('id', '=', id)
    .execute();
  tx.wake('resources', id);
}

/** Unlists the builds of a project that is being deleted. */
export async function unlistBuilds(tx: Tx, projectId: string): Promise<void> {
  await tx.db
    .updateTable('builds')
    .set({ listed: false })
    .where('project_id', '=', projectId)
    .where('listed', '=', true)
    .execute();
}

/** Builds of deleted projects, with their logs. */
export const purgeBuilds: Purge = (db, projectIds, limit) =>
  countChanged(
    db,
    sql`delete from builds where id in (select id from builds where project_id = any(${projectIds}::text[]) limit ${limit})`,
  );
