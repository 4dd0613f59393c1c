/**
 * Loading a thread = being allowed to see it: its organization, its project under the path that was asked,
 * the key's projects, not deleted. What a thread takes no more (archived, sealed, busy) is refused here
 * too, in that order.
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

interface Asked {
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
  return find(db, call, false);
}

/** The thread alone, in one statement: for reads, which clients poll. */
export async function readThread(db: Db, call: Asked): Promise<ThreadRow> {
  let query = db
    .selectFrom('threads as t')
    .innerJoin('projects as p', 'p.id', 't.project_id')
    .selectAll('t')
    .where('t.org_id', '=', call.principal.orgId)
    .where('t.id', '=', call.params.threadId!)
    .where('t.deleted_at', 'is', null)
    .where('p.deleted_at', 'is', null);
  if (call.params.appId !== undefined) query = query.where('p.id', '=', call.params.appId);
  if (call.params.appId !== undefined && call.api === 'platform')
    query = query.where('p.kind', '=', 'platform');
  const thread = await query.executeTakeFirst();
  // Which of the two is not there is told by looking for each.
  return thread && seesProject(call.principal, thread.project_id)
    ? thread
    : (await loadThread(db, call)).thread;
}

/**
 * As loadThread, with the thread's row locked for this transaction. Lock order: project, then thread; the
 * project is not locked here.
 */
export async function lockThread(tx: Tx, call: Asked): Promise<LoadedThread> {
  return find(tx.db, call, true);
}

async function find(db: Db | Tx['db'], call: Asked, lock: boolean): Promise<LoadedThread> {
  // On a Platform path the app is looked up first: an unknown app is told as such.
  const known = call.params.appId === undefined ? undefined : await loadProject(db, call);
  let query = db
    .selectFrom('threads')
    .selectAll()
    .where('org_id', '=', call.principal.orgId)
    .where('id', '=', call.params.threadId!)
    .where('deleted_at', 'is', null);
  if (known) query = query.where('project_id', '=', known.id);
  if (lock) query = query.forUpdate();
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
 * Locks a thread for a job; undefined when it was deleted meanwhile. `locked`: its project, where the
 * caller holds that row already.
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
 * 409 on an archived or sealed thread, in that order. `sealed: 'allowed'` for what an applied draft still
 * takes (builds, previews).
 */
export function requireOpen(thread: ThreadRow, sealed: 'refused' | 'allowed' = 'refused'): void {
  if (thread.archived_at) throw archived();
  if (sealed === 'refused' && thread.sealed_at)
    throw new ApiError(
      'draft_sealed',
      'This draft was applied and is sealed. Continue in a new thread from the head.',
    );
}

/** What occupies the thread beside runs: an exec, an apply or a build. */
export function occupation(thread: ThreadRow): BusyReason | null {
  if (thread.active_exec_id) return 'exec';
  if (thread.active_apply_id) return 'apply';
  return thread.active_build_id ? 'build' : null;
}

/** 409 `thread_busy` while an exec, apply or build occupies the thread: for messages, retry and restore. */
export function requireUnoccupied(thread: ThreadRow): void {
  const reason = occupation(thread);
  if (reason) throw threadBusy(reason);
}

/**
 * 409 `thread_busy` unless the thread is idle: no run, exec, apply or build. For edit, exec, apply and
 * build.
 */
export async function requireIdle(tx: { db: Db | Tx['db'] }, thread: ThreadRow): Promise<void> {
  const work = await threadWork(tx.db, thread.id);
  if (work.active || work.queuedRuns) throw threadBusy('run');
  requireUnoccupied(thread);
}
