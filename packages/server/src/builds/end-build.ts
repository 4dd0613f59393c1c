/**
 * A build ends in two steps, so that a worker that dies between them is followed by one that knows the
 * result: the outcome is stored while its sandbox is still there, its status follows when that is gone.
 */
import type { Context } from '../context.ts';
import { json } from '../db/schema.ts';
import type { ThreadRow } from '../db/schema.ts';
import { appendEvent, transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import type { Job } from '../jobs/job.ts';
import { scopeOf } from '../projects/index.ts';
import { passPlaceOn } from '../capacity/index.ts';
import { commitObject, discardObject } from '../sources/index.ts';
import { changeThread, clearActiveBuild } from '../threads/index.ts';
import { renewedDeadline } from '../workspaces/index.ts';
import type { BuildError } from './schemas.ts';
import { endingEvent } from './state.ts';
import type { Artifact } from './store-artifact.ts';
import { finishBuild, lockRunningBuild, refuseBuild, storeOutcome } from './store.ts';
import type { Build } from './store.ts';
import { buildEventData } from './view.ts';

export type Outcome =
  | { status: 'ready'; artifact: Artifact }
  | { status: 'failed'; exitCode: number | null; code: BuildError; message: string };

/**
 * Stores the outcome of a building build. Throws when the artifact was cleaned up meanwhile: it is then
 * stored again.
 */
export async function decideBuild(ctx: Context, job: Job, buildId: string, outcome: Outcome): Promise<void> {
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    const columns =
      outcome.status === 'ready'
        ? await readyColumns(tx, outcome.artifact)
        : { exit_code: outcome.exitCode, error_code: outcome.code, error_message: outcome.message };
    await storeOutcome(tx, buildId, { outcome: outcome.status, ...columns });
  });
}

async function readyColumns(tx: Tx, { key, sha256, byteSize, files }: Artifact) {
  if (!(await commitObject(tx, key))) throw new Error('the stored artifact was removed before its commit');
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

/** The last transaction of a decided build whose sandbox is gone. */
export async function endBuild(
  ctx: Context,
  job: Job,
  { id: buildId, thread_id: threadId }: Pick<Build, 'id' | 'thread_id'>,
): Promise<void> {
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    const thread = threadId === null ? null : await lockAnyThread(tx, threadId);
    const build = await lockRunningBuild(tx, buildId);
    const event = build && endingEvent(build);
    const ended = event && (await finishBuild(tx, buildId, event, await cancelledColumns(tx, build)));
    if (!ended) return;
    await passPlaceOn(tx, 'builds', { id: ended.project_id, org_id: ended.org_id });
    await publishEnd(ctx, tx, ended, thread);
  });
}

/** The build of a deleted thread ends too. */
const lockAnyThread = (tx: Tx, threadId: string): Promise<ThreadRow> =>
  tx.db.selectFrom('threads').selectAll().where('id', '=', threadId).forUpdate().executeTakeFirstOrThrow();

const REFUSALS = {
  failed: "The app's setup failed. Read its logs, mend it, and submit the build again.",
  lost: "The runner does not keep what the app's setup makes. Submit the build again later, or ask the operator to give it more room.",
};

/** Fails a queued build whose setup failed, or is lost again and again. */
export async function refuseForSetup(
  ctx: Context,
  job: Job,
  { id, thread_id: threadId }: Pick<Build, 'id' | 'thread_id'>,
  why: keyof typeof REFUSALS,
): Promise<void> {
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    const thread = threadId === null ? null : await lockAnyThread(tx, threadId);
    const refused = await refuseBuild(tx, id, REFUSALS[why]);
    if (refused) await publishEnd(ctx, tx, refused, thread);
  });
}

/** Publishes an ended build, and frees its thread. */
async function publishEnd(ctx: Context, tx: Tx, ended: Build, thread: ThreadRow | null): Promise<void> {
  const project = await tx.db
    .selectFrom('projects')
    .selectAll()
    .where('id', '=', ended.project_id)
    .executeTakeFirstOrThrow();
  appendEvent(
    tx,
    { ...scopeOf(project), threadId: ended.thread_id },
    `platform.build.${ended.status}`,
    buildEventData(ended),
  );
  if (thread?.deleted_at) await clearActiveBuild(tx, thread.id);
  else if (thread)
    await changeThread(
      tx,
      { thread, project },
      { active_build_id: null, ...(await renewedDeadline(ctx, tx.db, thread)) },
      'always',
    );
}

/** The columns that a requested cancellation overwrites. A cancelled build keeps no artifact. */
async function cancelledColumns(tx: Tx, build: Build) {
  if (build.cancel_requested_at === null) return {};
  if (build.artifact_key !== null)
    await discardObject(tx.db, {
      org_id: build.org_id,
      project_id: build.project_id,
      key: build.artifact_key,
    });
  return {
    exit_code: null,
    error_code: 'cancelled',
    error_message: 'The build was cancelled.',
    artifact_key: null,
    manifest: null,
  };
}
