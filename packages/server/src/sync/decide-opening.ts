/** Decides on a new pull request, under its thread's lock and before the provider is asked. */
import type { Context } from '../context.ts';
import type { ProjectRow, ThreadRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { ApiError } from '../http/errors.ts';
import { newId } from '../ids.ts';
import { countPullRequests, findOpen, newLoop } from '../pull-requests/index.ts';
import { effectiveSettings } from '../settings/index.ts';
import { requireOpen } from '../threads/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import { branchName, defaultBody, defaultTitle } from './names.ts';
import { messageOf, nextCommitMessage } from './next-commit.ts';
import type { NewRecord, Opening } from './open-pull-request.ts';
import { anotherIsOpen, hold } from './policy.ts';

interface AskedRecord {
  reviewLoop?: { enabled?: boolean | undefined; autoMerge?: boolean | undefined } | undefined;
  createdBy: string;
  /** Null: the service opens it. */
  address: string | null;
  /** The operation, or the execution, that other changes of the thread's pull requests wait for. */
  heldBy: string;
}

/**
 * The record of a new pull request of a locked thread. Refuses, in this order, a thread that is archived, sealed, not
 * bound or busy, or that has another open one.
 */
export async function decideRecord(
  tx: Tx,
  { thread, project }: LoadedThread,
  { reviewLoop, createdBy, address, heldBy }: AskedRecord,
): Promise<NewRecord> {
  requireOpen(thread);
  if (project.repository_id === null) throw notBound();
  await hold(tx, thread, heldBy);
  const open = await findOpen(tx.db, thread.id);
  if (open) throw anotherIsOpen(open.id);
  const settings = await effectiveSettings(tx.db, project);
  return {
    id: newId('pr'),
    orgId: thread.org_id,
    projectId: project.id,
    threadId: thread.id,
    repositoryId: project.repository_id,
    reviewLoop: newLoop(reviewLoop, settings.reviewLoop),
    createdBy,
    address,
  };
}

interface AskedOpening {
  title?: string | undefined;
  body?: string | undefined;
  base?: string | undefined;
  /** Default: the project's. */
  draft?: boolean | undefined;
  commentOnIssue?: boolean | undefined;
}

/** The content of the pull request: the thread's change, with the thread's title. Throws `no_changes`. */
export async function decideOpening(
  tx: Tx,
  ctx: Context,
  { thread, project, record }: LoadedThread & { record: NewRecord },
  asked: AskedOpening,
): Promise<Opening> {
  const change = await changeOf(tx, thread);
  const defaults = await defaultsOf(tx, thread, project);
  const title = asked.title ?? defaults.title;
  return {
    ...record,
    draft: asked.draft ?? (await effectiveSettings(tx.db, project)).pullRequests.draft,
    ...change,
    ...(await commitOf(tx, ctx, thread, { title, sourceId: change.sourceId })),
    title,
    body: asked.body ?? defaults.body,
    base: asked.base ?? thread.base_branch ?? project.default_branch!,
    branch: branchName(ctx.config.scm.branchPrefix, title, thread.id),
    firstNumber: (await countPullRequests(tx.db, thread.id)) + 1,
    commentOnIssue: asked.commentOnIssue ?? false,
  };
}

interface Change {
  sourceId: string;
  baseSourceId: string;
  baseCommitSha: string;
}

/** The thread's changes since its base commit. Throws `no_changes`. */
async function changeOf(tx: Tx, thread: ThreadRow): Promise<Change> {
  const { base_commit_sha: baseCommitSha, latest_source_id: sourceId } = thread;
  const nothing = new ApiError(
    'no_changes',
    'The thread has no changes to its base commit. Change a file first.',
  );
  if (thread.execution_target && baseCommitSha === null)
    throw new ApiError(
      'conflict',
      "The repository does not have the commit that the host's folder was at when the thread began. Push it, and begin another thread.",
    );
  if (baseCommitSha === null || sourceId === null) throw nothing;
  const sources = await tx.db
    .selectFrom('sources')
    .select(['id', 'sha256', 'commit_sha'])
    .where((q) => q.or([q('id', '=', sourceId), q('commit_sha', '=', baseCommitSha)]))
    .where('project_id', '=', thread.project_id)
    .execute();
  const base = sources.find(({ commit_sha: sha }) => sha === baseCommitSha)!;
  const latest = sources.find(({ id }) => id === sourceId)!;
  if (base.sha256 === latest.sha256) throw nothing;
  return { sourceId, baseSourceId: base.id, baseCommitSha };
}

async function defaultsOf(tx: Tx, thread: ThreadRow, project: ProjectRow) {
  const { url } = await tx.db
    .selectFrom('repositories')
    .select('url')
    .where('id', '=', project.repository_id)
    .executeTakeFirstOrThrow();
  const errorTrackerUrl = thread.error_tracker_issue?.['url'];
  return {
    title: defaultTitle(thread.title, await messageOf(tx.db, thread.id, 'user', 'first')),
    body: defaultBody(await messageOf(tx.db, thread.id, 'assistant', 'last'), {
      trackerIssueUrl: thread.tracker_issue_url,
      errorTrackerUrl: typeof errorTrackerUrl === 'string' ? errorTrackerUrl : null,
      repositoryUrl: url,
    }),
  };
}

/** Its message and date are fixed here: another attempt makes the same commit. */
async function commitOf(
  tx: Tx,
  ctx: Context,
  thread: ThreadRow,
  { title, sourceId }: { title: string; sourceId: string },
): Promise<{ message: string; authoredAt: string }> {
  const commit = { threadId: thread.id, afterSourceId: null, sourceId, subject: title };
  return {
    message: await nextCommitMessage(ctx, tx.db, commit),
    authoredAt: new Date().toISOString(),
  };
}

const notBound = () =>
  new ApiError(
    'repository_not_bound',
    'The project has no repository. Create a project with one to open pull requests.',
  );
