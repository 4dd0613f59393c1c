/**
 * Loading a thread = being allowed to see it: it is of the caller's organization, of the project in the
 * path and of the key's projects, and not deleted. Work on an archived, sealed or busy thread is refused
 * here too, in that order.
 */
import type { Principal } from '../http/principal.ts';
import { seesProject } from '../http/principal.ts';
import type { Db } from '../db/database.ts';
import type { ProjectRow, ThreadRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { ApiError, notFound, threadBusy } from '../http/errors.ts';
import type { BusyReason } from '../http/errors.ts';
import { loadProject } from '../projects/index.ts';
import { threadWork } from './store.ts';

/** A caller and the path that it asked for. */
export interface Asked {
  principal: Principal;
  api: 'platform' | 'direct';
  params: Record<string, string>;
}

export interface LoadedThread {
  thread: ThreadRow;
  project: ProjectRow;
}

/** Reads the thread that the path names, with its project. */
export async function loadThread(db: Db | Tx['db'], call: Asked): Promise<LoadedThread> {
  return find(db, call, 'none');
}

/**
 * Loads the thread that the path names and locks its row. Lock order: project, then thread. The project is
 * not locked here.
 */
export async function lockThread(tx: Tx, call: Asked): Promise<LoadedThread> {
  return find(tx.db, call, 'update');
}

async function find(db: Db | Tx['db'], call: Asked, lock: 'none' | 'update'): Promise<LoadedThread> {
  // On a Platform path the app is looked up first, so that an unknown app is refused as an app.
  const known = call.params.appId === undefined ? undefined : await loadProject(db, call);
  let query = db
    .selectFrom('threads')
    .selectAll()
    .where('org_id', '=', call.principal.orgId)
    .where('id', '=', call.params.threadId!)
    .where('deleted_at', 'is', null);
  if (known) query = query.where('project_id', '=', known.id);
  if (lock === 'update') query = query.forUpdate();
  const thread = await query.executeTakeFirst();
  if (!thread || !seesProject(call.principal, thread.project_id)) throw notFound('thread');
  const project =
    known ??
    (await db
      .selectFrom('projects')
      .selectAll()
      .where('id', '=', thread.project_id)
      .executeTakeFirstOrThrow());
  if (project.deleted_at) throw notFound('thread');
  return { thread, project };
}

/**
 * Locks a thread for a job; undefined when it was deleted meanwhile. `locked` is its project, where the
 * caller has locked that row.
 */
export async function lockThreadById(
  tx: Tx,
  threadId: string,
  locked?: ProjectRow,
): Promise<LoadedThread | undefined> {
  const thread = await tx.db
    .selectFrom('threads')
    .selectAll()
    .where('id', '=', threadId)
    .where('deleted_at', 'is', null)
    .forUpdate()
    .executeTakeFirst();
  if (!thread) return undefined;
  return {
    thread,
    project:
      locked ??
      (await tx.db
        .selectFrom('projects')
        .selectAll()
        .where('id', '=', thread.project_id)
        .executeTakeFirstOrThrow()),
  };
}

export const archived = () =>
  new ApiError('thread_archived', 'The thread is archived. Unarchive it first: PATCH it with status ready.');

/**
 * Refuses work on an archived or sealed thread, in that order (409). Builds and previews pass
 * `sealed: 'allowed'`: an applied draft takes them.
 */
export function requireOpen(thread: ThreadRow, sealed: 'refused' | 'allowed' = 'refused'): void {
  if (thread.archived_at) throw archived();
  if (sealed === 'refused' && thread.sealed_at)
    throw new ApiError(
      'draft_sealed',
      'This draft was applied and is sealed. Continue in a new thread from the head.',
    );
}

/** What keeps the thread busy, apart from runs. */
function busyReason(thread: ThreadRow): BusyReason | null {
  if (thread.active_exec_id) return 'exec';
  if (thread.active_apply_id) return 'apply';
  return thread.active_build_id ? 'build' : null;
}

/** Refuses messages, retry and restore while the thread has an exec, apply or build (409 `thread_busy`). */
export function requireUnoccupied(thread: ThreadRow): void {
  const reason = busyReason(thread);
  if (reason) throw threadBusy(reason);
}

/**
 * Refuses edit, exec, apply and build unless the thread is idle: without a run, exec, apply or build (409
 * `thread_busy`).
 */
export async function requireIdle(tx: Tx, thread: ThreadRow): Promise<void> {
  if (await hasRuns(tx.db, thread)) throw threadBusy('run');
  requireUnoccupied(thread);
}

/** Whether the thread has no run, exec, apply or build. */
export async function isIdle(db: Db | Tx['db'], thread: ThreadRow): Promise<boolean> {
  return !busyReason(thread) && !(await hasRuns(db, thread));
}

async function hasRuns(db: Db | Tx['db'], thread: ThreadRow): Promise<boolean> {
  const work = await threadWork(db, thread.id);
  return work.active !== null || work.queuedRuns > 0;
}
