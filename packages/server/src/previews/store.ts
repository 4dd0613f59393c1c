/** The only writer of `previews`. */
import { sql } from 'kysely';
import type { Insertable, RawBuilder } from 'kysely';
import type { Db } from '../db/database.ts';
import { countChanged } from '../db/purge.ts';
import type { Purge } from '../db/purge.ts';
import { hasStatus } from '../db/has-status.ts';
import type { PreviewRow, PreviewsTable, ProjectRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { START_SECONDS } from './schemas.ts';
import type { PreviewError } from './schemas.ts';
import { OPEN, OVER, previewChange } from './state.ts';
import type { PreviewEvent } from './state.ts';

type AnyDb = Db | Tx['db'];

/** Previews that have a sandbox, or will get one. */
const openPreviews = hasStatus('previews', OPEN);
/** Previews whose sandbox is removed. */
const previewsOver = hasStatus('previews', OVER);
/** Previews that no job works on. */
const unattended = sql<boolean>`not exists (select 1 from jobs j where j.key = 'preview:' || previews.id)`;

export async function insertPreview(
  tx: Tx,
  preview: Omit<Insertable<PreviewsTable>, 'status'>,
): Promise<PreviewRow> {
  return tx.db
    .insertInto('previews')
    .values({ ...preview, status: 'starting' })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Every change of a preview's status. Undefined when its status is none that the event needs. */
export async function movePreview(
  tx: Tx,
  previewId: string,
  event: PreviewEvent,
  error?: PreviewError,
): Promise<PreviewRow | undefined> {
  const { from, to } = previewChange(event);
  return tx.db
    .updateTable('previews')
    .set({
      status: to,
      ...(error ? { error_code: error.code, error_message: error.message } : {}),
      // Its sandbox is made again, with nothing of this one.
      ...(event === 'move'
        ? { runner_id: null, tried_source_ids: [], starting_since: sql<Date>`now()` }
        : {}),
    })
    .where('id', '=', previewId)
    .where(hasStatus('previews', from))
    .returningAll()
    .executeTakeFirst();
}

/** Stops the time of a preview that may only take so long to start, while it waits for a setup. */
export async function holdStart(tx: Tx, previewId: string): Promise<void> {
  await tx.db
    .updateTable('previews')
    .set({ starting_since: sql<Date>`'infinity'` })
    .where('id', '=', previewId)
    .execute();
}

/** Lets the time of a preview that has waited run from now. */
export async function resumeStart(db: Db, previewId: string): Promise<void> {
  await db
    .updateTable('previews')
    .set({ starting_since: sql<Date>`now()` })
    .where('id', '=', previewId)
    .where('starting_since', '=', sql<Date>`'infinity'`)
    .execute();
}

/** As resumeStart, for all whose setup has ended: their jobs wait for a worker only. */
export async function resumeStarts(db: Db): Promise<void> {
  await sql`
    update previews set starting_since = now() where status = 'starting' and starting_since = 'infinity'
      and not exists (select from jobs where key = 'preview:' || previews.id and waits_for is not null)`.execute(
    db,
  );
}

/** Records a source before it is written: until that is settled, the sandbox may hold it in part. */
export async function trySource(tx: Tx, previewId: string, sourceId: string | null): Promise<void> {
  await tx.db
    .updateTable('previews')
    .set({ tried_source_ids: sql`array_append(tried_source_ids, ${sourceId}::text)` })
    .where('id', '=', previewId)
    .where(sql<boolean>`array_position(tried_source_ids, ${sourceId}::text) is null`)
    .execute();
}

/** Names the runner that has its sandbox, or gets it. */
export async function setRunner(tx: Tx, previewId: string, runnerId: string): Promise<void> {
  await tx.db.updateTable('previews').set({ runner_id: runnerId }).where('id', '=', previewId).execute();
}

/** Names the source that the preview shows. */
export async function setSource(tx: Tx, previewId: string, sourceId: string | null): Promise<void> {
  await tx.db.updateTable('previews').set({ source_id: sourceId }).where('id', '=', previewId).execute();
}

/** Records that the sandbox holds exactly this source. */
export async function settleSource(tx: Tx, previewId: string, sourceId: string | null): Promise<void> {
  await tx.db
    .updateTable('previews')
    .set({ source_id: sourceId, tried_source_ids: [] })
    .where('id', '=', previewId)
    .execute();
}

export async function findProjectPreview(
  db: AnyDb,
  projectId: string,
  previewId: string,
): Promise<PreviewRow | undefined> {
  return db
    .selectFrom('previews')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('id', '=', previewId)
    .executeTakeFirst();
}

/** Newest first, behind `after`. */
export async function findThreadPreviews(
  db: Db,
  threadId: string,
  after: string | null,
  limit: number,
): Promise<PreviewRow[]> {
  let query = db.selectFrom('previews').selectAll().where('thread_id', '=', threadId);
  if (after !== null) query = query.where('id', '<', after);
  return query.orderBy('id', 'desc').limit(limit).execute();
}

/** The previews with the ids that `page` selects, newest first. */
export const findPreviews = (db: Db, page: RawBuilder<{ id: string }>): Promise<PreviewRow[]> =>
  db
    .selectFrom('previews')
    .selectAll()
    .where('id', 'in', sql<string>`(select id from (${page}) as page)`)
    .orderBy('id', 'desc')
    .execute();

/** Without those of deleted threads and apps. */
export async function findByTokens(
  db: Db,
  tokens: string[],
): Promise<Pick<PreviewRow, 'id' | 'status' | 'project_id' | 'token' | 'runner_id'>[]> {
  return db
    .selectFrom('previews')
    .innerJoin('projects', 'projects.id', 'previews.project_id')
    .leftJoin('threads', 'threads.id', 'previews.thread_id')
    .select(['previews.id', 'previews.status', 'previews.project_id', 'previews.token', 'previews.runner_id'])
    .where(sql<boolean>`token = any(${tokens})`)
    .where('projects.deleted_at', 'is', null)
    .where('threads.deleted_at', 'is', null)
    .execute();
}

/** How many previews of the project are open, and how many of those are the thread's. */
export async function countOpen(
  tx: Tx,
  projectId: string,
  threadId: string | null,
): Promise<{ project: number; thread: number }> {
  const { rows } = await sql<{ project: number; thread: number }>`
    select count(*) as project, count(*) filter (where thread_id = ${threadId}) as thread
    from previews where project_id = ${projectId} and ${openPreviews}`.execute(tx.db);
  return rows[0]!;
}

/** Ids of a thread's open previews, or of a project's without a thread, in the order in which they are locked. */
export async function findOpenOf(
  tx: Tx,
  of: { projectId: string; threadId: string | null },
): Promise<string[]> {
  const open = await tx.db
    .selectFrom('previews')
    .select('id')
    .where('project_id', '=', of.projectId)
    .where('thread_id', of.threadId === null ? 'is' : '=', of.threadId)
    .where(openPreviews)
    .orderBy('id')
    .execute();
  return open.map(({ id }) => id);
}

/** A preview as its job needs it: with the source that it is to show, its app, and whether its time is over. */
export type PreviewNow = Pick<
  PreviewRow,
  | 'id'
  | 'org_id'
  | 'project_id'
  | 'thread_id'
  | 'status'
  | 'command'
  | 'port'
  | 'setup'
  | 'source_id'
  | 'tried_source_ids'
  | 'follows_head'
  | 'runner_id'
> & {
  /** That of its thread, the head, or the one that it keeps. */
  latest_source_id: string | null;
  project_kind: ProjectRow['kind'];
  /** It waits, or has waited, for a setup. */
  has_waited: boolean;
  /** Nothing has listened on its port in time. */
  is_late: boolean;
  is_expired: boolean;
};

export async function findPreviewNow(db: Db, previewId: string): Promise<PreviewNow | undefined> {
  const { rows } = await sql<PreviewNow>`
    select p.id, p.org_id, p.project_id, p.thread_id, p.status, p.command, p.port, p.setup, p.source_id, p.tried_source_ids, p.follows_head, p.runner_id, j.kind as project_kind,
      case when p.thread_id is not null then t.latest_source_id when p.follows_head then j.head_source_id else p.source_id end as latest_source_id,
      p.expires_at <= now() as is_expired, p.starting_since = 'infinity' as has_waited, p.status = 'starting' and p.starting_since <= now() - ${START_SECONDS} * interval '1 second' as is_late
    from previews p left join threads t on t.id = p.thread_id join projects j on j.id = p.project_id where p.id = ${previewId}`.execute(
    db,
  );
  return rows[0];
}

/** Open previews that no job works on. */
export async function findForgotten(
  db: Db,
  limit: number,
): Promise<Pick<PreviewRow, 'id' | 'org_id' | 'project_id'>[]> {
  return db
    .selectFrom('previews')
    .select(['id', 'org_id', 'project_id'])
    .where(openPreviews)
    .where(unattended)
    .limit(limit)
    .execute();
}

/** Previews that have been starting for longer than `seconds`, waiting apart, with their apps. */
export async function findUnstarted(
  db: Db,
  seconds: number,
  limit: number,
): Promise<{ previewId: string; project: Pick<ProjectRow, 'id' | 'org_id' | 'kind'> }[]> {
  const late = await db
    .selectFrom('previews')
    .innerJoin('projects', 'projects.id', 'previews.project_id')
    .select(['previews.id as previewId', 'projects.id', 'projects.org_id', 'projects.kind'])
    .where('previews.status', '=', 'starting')
    .where('previews.starting_since', '<', sql<Date>`now() - ${seconds} * interval '1 second'`)
    .limit(limit)
    .execute();
  return late.map(({ previewId, ...project }) => ({ previewId, project }));
}

/** Those of the previews that are over and that no job works on. */
export async function findLeftOver(db: Db, previewIds: string[]): Promise<string[]> {
  const over = await db
    .selectFrom('previews')
    .select('id')
    .where('id', 'in', previewIds)
    .where(previewsOver)
    .where(unattended)
    .execute();
  return over.map(({ id }) => id);
}

/** Unlists the previews of a project that is being deleted. */
export async function unlistPreviews(tx: Tx, projectId: string): Promise<void> {
  await tx.db
    .updateTable('previews')
    .set({ listed: false })
    .where('project_id', '=', projectId)
    .where('listed', '=', true)
    .execute();
}

/** Previews of deleted threads, once their sandboxes are removed. */
export const purgePreviews: Purge = (db, threadIds, limit) =>
  purgeWhere(db, sql`thread_id = any(${threadIds}::text[])`, limit);

/** Previews without a thread of deleted projects, once their sandboxes are removed. */
export const purgeAppPreviews: Purge = (db, projectIds, limit) =>
  purgeWhere(db, sql`project_id = any(${projectIds}::text[]) and thread_id is null`, limit);

const purgeWhere = (db: Db, condition: RawBuilder<unknown>, limit: number) =>
  countChanged(
    db,
    sql`delete from previews where id in (select id from previews where ${condition} and ${previewsOver} limit ${limit})`,
  );
