/**
 * A build ends in two steps, so that a worker that dies in between is followed by one that knows the
 * result: what it came to is decided and stored while its sandbox is still there, its status follows when
 * that is gone.
 */
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { json } from '../db/schema.ts';
import type { ThreadRow } from '../db/schema.ts';
import { appendEvent, transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import type { Job } from '../jobs/worker.ts';
import { scopeOf } from '../projects/index.ts';
import { passPlaceOn } from '../capacity/index.ts';
import { changeThread, clearActiveBuild } from '../threads/index.ts';
import { freshDeadline } from '../workspaces/index.ts';
import type { BuildError } from './schemas.ts';
import { discardObject } from './store-artifact.ts';
import type { Artifact } from './store-artifact.ts';
import { BUILD_COLUMNS, buildEventData } from './view.ts';

export type Outcome =
  | { status: 'ready'; artifact: Artifact }
  | { status: 'failed'; exitCode: number | null; code: BuildError; message: string };

/**
 * Stores what a building build came to. Throws when the artifact was cleaned up meanwhile: it is then
 * stored again.
 */
export async function decide(ctx: Context, job: Job, buildId: string, outcome: Outcome): Promise<void> {
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    const columns =
      outcome.status === 'ready'
        ? await readyColumns(tx, outcome.artifact)
        : { exit_code: outcome.exitCode, error_code: outcome.code, error_message: outcome.message };
    await tx.db
      .updateTable('builds')
      .set({ outcome: outcome.status, ...columns })
      .where('id', '=', buildId)
      .where('status', '=', 'building')
      .where('outcome', 'is', null)
      .execute();
  });
}

async function readyColumns(tx: Tx, { key, sha256, byteSize, files }: Artifact) {
  const kept = await tx.db
    .updateTable('objects')
    .set({ committed_at: sql<Date>`now()` })
    .where('key', '=', key)
    .where('delete_after', 'is', null)
    .returning('key')
    .executeTakeFirst();
  if (!kept) throw new Error('the stored artifact was removed before its commit');
  return {
    exit_code: 0,
    artifact_key: key,
    artifact_sha256: sha256,
    artifact_byte_size: byteSize,
    file_count: files.length,
    output_byte_size: files.reduce((sum, file) => sum + file.byteSize, 0),
    manifest: json(files),
  };
}

/**
 * The terminal transaction of a decided build whose sandbox is gone. A cancel that was accepted goes before
 * what it came to.
 */
export async function endBuild(ctx: Context, job: Job, buildId: string, threadId: string): Promise<void> {
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    // A deleted thread's build ends too.
    const thread = await tx.db
      .selectFrom('threads')
      .selectAll()
      .where('id', '=', threadId)
      .forUpdate()
      .executeTakeFirstOrThrow();
    const build = await tx.db
      .selectFrom('builds')
      .select(BUILD_COLUMNS)
      .where('id', '=', buildId)
      .where('status', '=', 'building')
      .forUpdate()
      .executeTakeFirst();
    if (!build?.outcome) return;
    const isCancelled = build.cancel_requested_at !== null;
    if (isCancelled && build.artifact_key !== null) await discardObject(tx.db, build, build.artifact_key);
    const ended = await tx.db
      .updateTable('builds')
      .set({
        finished_at: sql<Date>`now()`,
        status: build.outcome,
        ...(isCancelled
          ? {
              status: 'failed',
              exit_code: null,
              error_code: 'cancelled',
              error_message: 'The build was cancelled.',
              artifact_key: null,
              manifest: null,
            }
          : {}),
      })
      .where('id', '=', buildId)
      .returning(BUILD_COLUMNS)
      .executeTakeFirstOrThrow();
    const project = await tx.db
      .selectFrom('projects')
      .selectAll()
      .where('id', '=', build.project_id)
      .executeTakeFirstOrThrow();
    appendEvent(tx, scopeOf(project), `platform.build.${ended.status}`, buildEventData(ended), { threadId });
    await passPlaceOn(tx, 'builds', project);
    if (thread.deleted_at) await clearActiveBuild(tx, threadId);
    else
      await changeThread(
        tx,
        { thread, project },
        { active_build_id: null, ...(await renewedDeadline(ctx, tx, thread)) },
        'always',
      );
  });
}

/** A workspace that waited for a build has its whole idle time before it again. */
export async function renewedDeadline(ctx: Context, tx: Tx, thread: ThreadRow) {
  return thread.workspace_status === 'ready'
    ? { idle_expires_at: await freshDeadline(ctx, tx.db, thread) }
    : {};
}
