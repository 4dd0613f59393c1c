/** Opening a pull request at the provider: one commit, pushed as a new branch, then the pull request. */
import { audit, serviceOf } from '../audit/index.ts';
import { buildCommit, fetchCommit, PushError, pushCommit, readCommit } from '../commits/index.ts';
import type { Context } from '../context.ts';
import type { Tx } from '../db/transaction.ts';
import { ApiError, notFound } from '../http/errors.ts';
import type { WriteResult } from '../http/write-request.ts';
import { enqueue } from '../jobs/enqueue.ts';
import {
  changePullRequest,
  enqueueSync,
  findByNumber,
  findOpen,
  lockPullRequest,
  pullRequestView,
  recordPullRequest,
} from '../pull-requests/index.ts';
import type { LoadedPullRequest, LoopChange } from '../pull-requests/index.ts';
import type { Effect } from '../receipts/outside.ts';
import { openRepository, ProviderError, scmFault } from '../scm/index.ts';
import type { OpenRepository, ProviderPullRequest } from '../scm/index.ts';
import { loadTree, sameTree } from '../sources/index.ts';
import { lockThreadById } from '../threads/index.ts';
import { numbered } from './names.ts';
import { findOwnCommit } from './own-commit.ts';
import { lookAnyway } from './see.ts';

/** The part of the new record that is known before the provider is asked. */
export interface NewRecord extends Record<string, unknown> {
  id: string;
  orgId: string;
  projectId: string;
  threadId: string;
  repositoryId: string;
  reviewLoop: LoopChange | null;
  createdBy: string;
  /** Null: the service opens it. */
  address: string | null;
}

/** Everything needed to open the pull request, and to find it again. */
export interface Opening extends NewRecord {
  sourceId: string;
  baseSourceId: string;
  baseCommitSha: string;
  title: string;
  body: string;
  draft: boolean;
  base: string;
  branch: string;
  /** The first number to try behind the branch's name. */
  firstNumber: number;
  message: string;
  authoredAt: string;
  commentOnIssue: boolean;
}

export interface Opened {
  pull: ProviderPullRequest;
  repoFullName: string;
  /** The service's newest commit on its branch, and the source that it holds; null: neither is known. */
  headSha: string;
  headSourceId: string | null;
}

/** A branch at the provider that has the thread's files; `pull` where a lost attempt has opened it already. */
interface Branch {
  name: string;
  headSha: string;
  pull?: ProviderPullRequest;
}

/** Names of one title that are tried: others' branches may have them. */
const NAMES = 100;

export const opening: Effect<Opening, Opened> = {
  async act(ctx, target) {
    const repository = await openRepository(ctx, target.repositoryId);
    const repoFullName = repository.at.repository.full_name;
    const branch = await bringBranch(ctx, repository, target).catch(refusedPush);
    const pull = branch.pull ?? (await createOnce(repository, target, branch.name));
    return { pull, repoFullName, headSha: branch.headSha, headSourceId: target.sourceId };
  },

  /** By its branch, and what is open from it: what no thread has recorded and begins with our commit is ours. */
  async look(ctx, target) {
    const repository = await openRepository(ctx, target.repositoryId);
    for (let n = target.firstNumber; n < target.firstNumber + NAMES; n++) {
      const name = numbered(target.branch, n);
      const found = await findLost(ctx, repository, target, name);
      if (found) {
        const { headSha, pull } = found;
        const holds = await holdsSource(ctx, repository, headSha, target);
        return {
          pull,
          repoFullName: repository.at.repository.full_name,
          headSha,
          headSourceId: holds ? target.sourceId : null,
        };
      }
      if ((await repository.provider.resolveRef(repository.at, name)) === null) return null;
    }
    return null;
  },

  record,
};

/** Before the pull request is made nothing counts as done: a branch that is left behind is used again. */
function refusedPush(error: unknown): never {
  if (!(error instanceof PushError)) throw scmFault(error);
  throw error.code === 'unavailable'
    ? scmFault(new ProviderError({ code: 'unavailable' }, error.message, { cause: error }))
    : new ApiError('scm_access_denied', error.message, { cause: error });
}

async function bringBranch(ctx: Context, repository: OpenRepository, target: Opening): Promise<Branch> {
  const { provider, at } = repository;
  if ((await provider.resolveRef(at, target.base)) === null) throw notFound('branch');
  for (let n = target.firstNumber; n < target.firstNumber + NAMES; n++) {
    const name = numbered(target.branch, n);
    const branch = await takeName(ctx, repository, target, name);
    if (branch) return branch;
  }
  throw new ApiError(
    'conflict',
    'Too many branches have the name for the new branch. Change the title, or delete some of them.',
  );
}

/** Null where the name is another's. */
async function takeName(
  ctx: Context,
  repository: OpenRepository,
  target: Opening,
  name: string,
): Promise<Branch | null> {
  const tip = await repository.provider.resolveRef(repository.at, name);
  if (tip !== null) return takeAgain(ctx, repository, target, { name, tip });
  const commitSha = await commitFor(ctx, repository, target);
  try {
    await pushCommit(ctx, repository, { commitSha, branch: name, expected: null });
    return { name, headSha: commitSha };
  } catch (error) {
    if (error instanceof PushError && error.code === 'moved') return null;
    throw error;
  }
}

async function commitFor(ctx: Context, repository: OpenRepository, target: Opening): Promise<string> {
  await fetchCommit(ctx, repository, { commitSha: target.baseCommitSha });
  return buildCommit(ctx, repository, {
    projectId: target.projectId,
    parents: [target.baseCommitSha],
    from: await loadTree(ctx, target.baseSourceId),
    to: await loadTree(ctx, target.sourceId),
    message: target.message,
    authoredAt: new Date(target.authoredAt),
  });
}

/** A branch of this thread that a lost attempt has left behind, with the thread's files of now. */
async function takeAgain(
  ctx: Context,
  repository: OpenRepository,
  target: Opening,
  { name, tip }: { name: string; tip: string },
): Promise<Branch | null> {
  const lost = await findLost(ctx, repository, target, name);
  if (lost) return { name, ...lost };
  const pulls = await repository.provider.findPullRequests(repository.at, { headRef: name, state: 'all' });
  if (pulls.length > 0 || (await findOwnCommit(ctx, repository, tip, target.threadId)) !== tip) return null;
  if (await holdsSource(ctx, repository, tip, target)) return { name, headSha: tip };
  const commitSha = await buildCommit(ctx, repository, {
    projectId: target.projectId,
    parents: [tip],
    from: await readCommit(ctx, target.projectId, repository, tip),
    to: await loadTree(ctx, target.sourceId),
    message: target.message,
    authoredAt: new Date(target.authoredAt),
  });
  await pushCommit(ctx, repository, { commitSha, branch: name, expected: tip });
  return { name, headSha: commitSha };
}

/** A pull request of this thread that no record has. */
async function findLost(
  ctx: Context,
  repository: OpenRepository,
  target: Opening,
  headRef: string,
): Promise<{ pull: ProviderPullRequest; headSha: string } | null> {
  const pulls = await repository.provider.findPullRequests(repository.at, { headRef, state: 'open' });
  for (const pull of pulls) {
    const records = await findByNumber(ctx.db, target.repositoryId, pull.number);
    if (records.some((row) => row.thread_id === target.threadId)) continue;
    const headSha = await findOwnCommit(ctx, repository, pull.headSha, target.threadId);
    if (headSha !== null) return { pull, headSha };
  }
  return null;
}

/** Whether a commit has the files of the source that is to be pushed. */
async function holdsSource(
  ctx: Context,
  repository: OpenRepository,
  commitSha: string,
  { projectId, sourceId }: Opening,
): Promise<boolean> {
  const tree = await readCommit(ctx, projectId, repository, commitSha);
  return sameTree(tree, await loadTree(ctx, sourceId));
}

/** A provider that does not answer may have made it; anything else that it says is a refusal. */
async function createOnce(
  { provider, at }: OpenRepository,
  target: Opening,
  headRef: string,
): Promise<ProviderPullRequest> {
  const { title, body, draft, base: baseRef } = target;
  const author = at.ctx.config.scm.commit.name;
  try {
    return await provider.createPullRequest(at, { title, body, draft, headRef, baseRef, author });
  } catch (error) {
    const isUnknown = error instanceof ProviderError && error.fault.code === 'unavailable';
    throw isUnknown ? error : scmFault(error);
  }
}

async function record(tx: Tx, target: Opening, opened: Opened): Promise<WriteResult> {
  await lockThreadById(tx, target.threadId);
  const loaded = await recordOpened(tx, target, opened);
  if (target.commentOnIssue)
    await enqueue(tx, 'pull-request.comment', { pullRequestId: target.id }, { turnOf: loaded.row });
  return { status: 201, body: { ok: true, pullRequest: pullRequestView(loaded) } };
}

/** The record of a pull request at the provider, for a locked thread; what is next for it follows. */
export async function recordOpened(
  tx: Tx,
  target: NewRecord,
  { pull, repoFullName, headSha, headSourceId }: Opened,
): Promise<LoadedPullRequest> {
  // One that was opened again meanwhile stays closed here: a thread has one that is open.
  const other = await findOpen(tx.db, target.threadId);
  if (other) await changePullRequest(tx, (await lockPullRequest(tx, other.id))!, { state: 'closed' });
  const loaded = await recordPullRequest(
    tx,
    {
      org_id: target.orgId,
      id: target.id,
      project_id: target.projectId,
      thread_id: target.threadId,
      repository_id: target.repositoryId,
      number: pull.number,
      url: pull.url,
      repo_full_name: repoFullName,
      title: pull.title,
      body: pull.body,
      state: 'open',
      draft: pull.draft,
      head_ref: pull.headRef,
      head_sha: headSha,
      base_ref: pull.baseRef,
      head_source_id: headSourceId,
      next_look_at: lookAnyway,
      created_by: target.createdBy,
    },
    target.reviewLoop,
  );
  const { orgId, createdBy, address } = target;
  const by = address === null ? serviceOf(orgId) : { principal: { orgId, actorId: createdBy }, address };
  await audit(tx, by, 'pull_request.created', target.id);
  await enqueueSync(tx, loaded.row);
  return loaded;
}
