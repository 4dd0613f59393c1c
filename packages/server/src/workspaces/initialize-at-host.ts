/** Prepares a new thread at a host: its folder's files, as they are then, become the thread's source. */
import { RunnerError } from '@headrace/runner/client';
import { commitSource, fetchCommit } from '../commits/index.ts';
import type { Context } from '../context.ts';
import type { ProjectRow, ThreadRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { hostStanding } from '../hosts/index.ts';
import type { Job } from '../jobs/job.ts';
import { openRepository, ProviderError } from '../scm/index.ts';
import { abandon, insertSource } from '../sources/index.ts';
import type { Staged } from '../sources/index.ts';
import { changeThread, lockThreadById, setInitializationPhase } from '../threads/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import type { Tree } from '../trees/tree.ts';
import { captureWorkspace, stageCapture } from './capture-workspace.ts';
import { makeAtHost } from './prepare-at-host.ts';
import { isBeyondReading } from './save-workspace.ts';

/** Why a thread has nothing to start from at its host; another attempt is in vain. */
export class HostFault extends Error {
  readonly failure: { code: string; message: string };

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.failure = { code, message };
  }
}

/**
 * The source that the thread begins with, once it is stored. Undefined where the thread was archived or deleted. Throws HostFault
 * and HostRefused; a host that goes away meanwhile, RunnerError 503.
 */
export async function importAtHost(
  ctx: Context,
  job: Pick<Job, 'claimedAt' | 'fence'>,
  { thread, project }: LoadedThread,
): Promise<string | null | undefined> {
  const show = (phase: 'allocating_sandbox' | 'configuring_workspace') =>
    setInitializationPhase(ctx.db, thread.id, { initialization_phase: phase });
  if ((await hostStanding(ctx, ctx.host!.target.hostId)).is === 'gone')
    throw new HostFault('host_offline', 'The host of this thread was deleted.');
  await show('allocating_sandbox');
  const { headCommit } = await makeAtHost(ctx, job, thread.id);
  await setInitializationPhase(ctx.db, thread.id, {
    initialization_phase: 'configuring_workspace',
    workspace_setup_status: 'running',
  });
  if (thread.source_id !== null) return thread.latest_source_id;
  const { tree, staged } = await readFiles(ctx, thread);
  const baseCommitSha = headCommit === null ? null : await baseCommit(ctx, project, headCommit);
  const stored = await transaction(ctx, async (tx) => {
    await job.fence(tx);
    return storeFiles(tx, thread.id, { tree, staged, baseCommitSha });
  });
  if (stored === undefined) await abandon(ctx, { org_id: thread.org_id, id: thread.project_id }, staged);
  return stored;
}

interface Files {
  tree: Tree;
  staged: Staged;
}

async function readFiles(ctx: Context, thread: ThreadRow): Promise<Files> {
  try {
    const capture = await captureWorkspace(ctx, thread, null);
    if (capture.held === null && !capture.isUnchanged)
      throw new HostFault('repository_too_large', tooLarge(capture.fault));
    const tree = capture.held ?? new Map();
    return { tree, staged: await stageCapture(ctx, thread, { ...capture, tree }, null) };
  } catch (error) {
    if (isBeyondReading(error))
      throw new HostFault('repository_too_large', tooLarge(error.message), { cause: error });
    if (error instanceof RunnerError && error.status === 404)
      throw new HostFault('binding_not_found', 'The folder is not there any more.', { cause: error });
    throw error;
  }
}

const tooLarge = (detail: string | null) =>
  `The folder has more than a source may hold. Have git ignore what does not belong to it. ${detail ?? ''}`.trim();

async function storeFiles(
  tx: Tx,
  threadId: string,
  { tree, staged, baseCommitSha }: Files & { baseCommitSha: string | null },
): Promise<string | undefined> {
  const now = await lockThreadById(tx, threadId);
  if (!now || now.thread.archived_at) return undefined;
  const source = await insertSource(tx, now.project, {
    tree,
    staged,
    parents: [],
    origin: 'import',
    threadId,
    runId: null,
    message: null,
  });
  await changeThread(
    tx,
    now,
    { source_id: source.id, latest_source_id: source.id, base_commit_sha: baseCommitSha },
    'always',
  );
  return source.id;
}

/** The commit as the repository of the project has it; null where that has none such: then no pull request can be opened. */
async function baseCommit(ctx: Context, project: ProjectRow, commitSha: string): Promise<string | null> {
  if (project.repository_id === null) return null;
  try {
    const repository = await openRepository(ctx, project.repository_id);
    await fetchCommit(ctx, repository, { commitSha });
    await commitSource(ctx, project, repository, { commitSha, branch: null });
    return commitSha;
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    ctx.log.info({ err: error, project: project.id }, "the repository does not have a host's commit");
    return null;
  }
}
