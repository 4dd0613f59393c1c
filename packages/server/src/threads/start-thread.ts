import { sql } from 'kysely';
import type { ExecutionTarget, ProjectRow, ThreadRow } from '../db/schema.ts';
import { json } from '../db/schema.ts';
import { appendEvent } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { ApiError } from '../http/errors.ts';
import type { Principal } from '../http/principal.ts';
import { newId } from '../ids.ts';
import { enqueue } from '../jobs/enqueue.ts';
import { headNotInitialized, isInHeadHistory, scopeOf } from '../projects/index.ts';
import { loadSource } from '../sources/index.ts';
import { giveTask } from '../tasks/index.ts';
import { insertThread } from './store.ts';

/** Who creates a thread: an account, and its user if it acts through a session. */
export type Creator = Pick<Principal, 'actorId' | 'userId'>;

export interface NewThread {
  sourceId?: string | undefined;
  baseBranch?: string | undefined;
  title?: string | undefined;
  modelId?: string | undefined;
  spendLimitMicros: number | null;
  metadata?: Record<string, string> | undefined;
  taskId?: string | undefined;
  trackerIssueUrl?: string | undefined;
  errorTrackerIssue?: Record<string, unknown> | undefined;
  /** The automation whose execution creates it. */
  automationId?: string | undefined;
  /** The host at which it works, with whose files it begins. */
  executionTarget?: ExecutionTarget | undefined;
  /** What a fork begins with. */
  fork?: Fork | undefined;
}

interface Fork {
  /** It is locked. */
  parent: ThreadRow;
  checkpointId: string | null;
  /** Of the checkpoint, else the parent's latest. */
  sourceId: string;
  /** The commit that the source's change is based on. */
  baseCommitSha: string | null;
}

type Chosen = Pick<NewThread, 'sourceId' | 'baseBranch'>;

/** The source or branch that a new thread starts from. */
interface Start {
  sourceId: string | null;
  latestSourceId: string | null;
  baseCommitSha: string | null;
  baseBranch: string | null;
}

/** A fork's applies merge from its parent's base, which need not be in the head's history any more. */
const startOfFork = ({ parent, sourceId, baseCommitSha }: Fork): Start => ({
  sourceId: parent.source_id,
  latestSourceId: sourceId,
  baseCommitSha,
  baseBranch: parent.base_branch,
});

async function findStart(
  tx: Tx,
  project: ProjectRow,
  input: Chosen & Pick<NewThread, 'fork' | 'executionTarget'>,
): Promise<Start> {
  if (input.fork) return startOfFork(input.fork);
  if (input.executionTarget)
    return { sourceId: null, latestSourceId: null, baseCommitSha: null, baseBranch: project.default_branch };
  if (project.repository_id !== null) return findStartInRepository(tx, project, input);
  if (input.baseBranch !== undefined)
    throw new ApiError(
      'repository_not_bound',
      'The project has no repository, and so no branches. Leave baseBranch out.',
    );
  const sourceId = await startingSource(tx, project, input.sourceId);
  return { sourceId, latestSourceId: sourceId, baseCommitSha: null, baseBranch: null };
}

/** A branch's commit is fetched when the thread is prepared; a stored one is known already. */
async function findStartInRepository(
  tx: Tx,
  project: ProjectRow,
  { sourceId, baseBranch }: Chosen,
): Promise<Start> {
  if (sourceId === undefined)
    return {
      sourceId: null,
      latestSourceId: null,
      baseCommitSha: null,
      baseBranch: baseBranch ?? project.default_branch,
    };
  const source = await loadSource(tx.db, project.id, sourceId);
  if (source.commit_sha === null)
    throw new ApiError(
      'source_not_in_history',
      'A thread starts from the source of a commit. Leave sourceId out to start from a branch.',
    );
  return {
    sourceId,
    latestSourceId: sourceId,
    baseCommitSha: source.commit_sha,
    baseBranch: source.commit_branch,
  };
}

/** The source that a new thread of a project without a repository starts from; a Direct one may have none. */
async function startingSource(
  tx: Tx,
  project: ProjectRow,
  sourceId: string | undefined,
): Promise<string | null> {
  if (sourceId === undefined) {
    if (project.head_source_id === null && project.kind === 'platform') throw headNotInitialized();
    return project.head_source_id;
  }
  const source = await loadSource(tx.db, project.id, sourceId);
  if (project.head_source_id !== null && !(await isInHeadHistory(tx.db, project.id, source.id)))
    throw new ApiError(
      'source_not_in_history',
      "A thread starts from a source in the head's history. Leave sourceId out to start from the head.",
    );
  return source.id;
}

/**
 * Creates a thread of a project that is locked against deletion, and the job that prepares it: `thread.updated`.
 * Throws if the project has nothing to start from.
 */
export async function startThread(
  tx: Tx,
  creator: Creator,
  project: ProjectRow,
  input: NewThread,
): Promise<ThreadRow> {
  const task = await giveTask(tx, creator, project, input);
  const { fork } = input;
  const { sourceId, latestSourceId, baseCommitSha, baseBranch } = await findStart(tx, project, input);
  const thread = await insertThread(tx, {
    org_id: project.org_id,
    id: newId('thr'),
    project_id: project.id,
    listed: project.kind === 'platform',
    source_id: sourceId,
    latest_source_id: latestSourceId,
    model_id: input.modelId ?? null,
    title: input.title ?? null,
    metadata: json(input.metadata ?? {}),
    status: 'queued',
    initialization_state: 'accepted',
    initialization_updated_at: sql<Date>`now()`,
    spend_limit_micros: input.spendLimitMicros,
    created_by: creator.actorId,
    automation_id: input.automationId ?? null,
    participant_user_ids: creator.userId ? [creator.userId] : [],
    task_id: task?.id ?? null,
    thread_index: task?.last_thread_index ?? null,
    tracker_issue_url: input.trackerIssueUrl ?? task?.tracker_issue_url ?? null,
    base_branch: baseBranch,
    base_commit_sha: baseCommitSha,
    forked_from: fork
      ? json({ threadId: fork.parent.id, checkpointId: fork.checkpointId, sourceId: fork.sourceId })
      : null,
    execution_target: input.executionTarget ? json(input.executionTarget) : null,
    error_tracker_issue: input.errorTrackerIssue ? json(input.errorTrackerIssue) : null,
  });
  appendEvent(tx, { ...scopeOf(project), threadId: thread.id }, 'thread.updated', {
    id: thread.id,
    status: thread.status,
  });
  await enqueue(
    tx,
    'thread.initialize',
    { threadId: thread.id },
    { key: `thread:${thread.id}`, turnOf: thread },
  );
  return thread;
}
