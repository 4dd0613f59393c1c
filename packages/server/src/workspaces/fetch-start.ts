/**
 * What a thread of a project with a repository starts from: the commit that its branch has when the thread is
 * prepared, fetched by the service and stored as a source. No sandbox takes part.
 */
import { commitSource, isBehind, RepositoryTooLarge } from '../commits/index.ts';
import type { Context } from '../context.ts';
import type { ThreadRow } from '../db/schema.ts';
import { ApiError } from '../http/errors.ts';
import type { Job } from '../jobs/job.ts';
import { LostJob } from '../jobs/job.ts';
import { moveBoundHead } from '../projects/index.ts';
import { openRepository, ProviderError } from '../scm/index.ts';
import type { OpenRepository } from '../scm/index.ts';
import { changeThread, lockThreadById } from '../threads/index.ts';
import type { LoadedThread } from '../threads/index.ts';

const MESSAGES = {
  repository_access_denied:
    'The source control host refuses access to the repository. Renew the credential of its installation, then retry.',
  repository_not_found:
    'The repository is gone: the source control host has it no more. Create a project with another repository.',
  branch_not_found:
    'The repository has no such branch. Push it, then retry, or create a thread from another branch.',
  repository_empty: 'The repository has no commit yet. Push one, then retry.',
  repository_unavailable: 'The repository could not be reached. Retry in a moment.',
  repository_too_large:
    'The commit has more than a source may hold. Ask the operator to raise the limit, or start from a smaller commit.',
} as const;

/** Why a thread has nothing to start from. Other than with `repository_unavailable`, a new attempt is in vain. */
export class RepositoryFault extends Error {
  readonly failure: { code: keyof typeof MESSAGES; message: string };

  constructor(code: keyof typeof MESSAGES, { detail, cause }: { detail?: string; cause?: unknown } = {}) {
    const message = detail === undefined ? MESSAGES[code] : `${MESSAGES[code]} ${detail}`;
    super(message, { cause });
    this.failure = { code, message };
  }

  get isFinal(): boolean {
    return this.failure.code !== 'repository_unavailable';
  }
}

/** A commit to be fetched. */
interface Start {
  repository: OpenRepository;
  commitSha: string;
}

/**
 * Finds the commit of the thread's branch; null where the thread has its files already, or a project without
 * a repository. Throws RepositoryFault.
 */
export async function resolveStart(ctx: Context, { thread, project }: LoadedThread): Promise<Start | null> {
  if (project.repository_id === null || thread.source_id !== null) return null;
  try {
    const repository = await openRepository(ctx, project.repository_id);
    const { provider, at } = repository;
    const commitSha = await provider.resolveRef(at, thread.base_branch!);
    if (commitSha !== null) return { repository, commitSha };
    const branches = await provider.listBranches(at, { prefix: '', after: null, limit: 1 });
    throw new RepositoryFault(branches.length === 0 ? 'repository_empty' : 'branch_not_found');
  } catch (error) {
    throw faultOf(error);
  }
}

/**
 * Fetches the commit, and in one transaction stores its source, moves the project's head where the branch is
 * its default one, and gives both to the thread. Returns the thread as it is then. Throws RepositoryFault.
 */
export async function fetchStart(
  ctx: Context,
  job: Pick<Job, 'fence'>,
  { thread, project }: LoadedThread,
  { repository, commitSha }: Start,
): Promise<ThreadRow> {
  const branch = thread.base_branch!;
  let fetched = thread;
  try {
    await commitSource(ctx, project, repository, {
      commitSha,
      branch,
      async also(tx, lockedProject, source) {
        await job.fence(tx);
        const { head_revision: revision, head_commit_sha: head } = lockedProject;
        // Another fetch was faster, and may have found a later commit: the head does not go back to this one.
        const isLate =
          revision !== project.head_revision &&
          head !== null &&
          (await isBehind(ctx, repository, commitSha, head));
        if (lockedProject.default_branch === branch && !isLate)
          await moveBoundHead(tx, lockedProject, { commitSha, sourceId: source.id });
        const now = await lockThreadById(tx, thread.id, lockedProject);
        if (!now) return;
        fetched = await changeThread(
          tx,
          now,
          { source_id: source.id, latest_source_id: source.id, base_commit_sha: commitSha },
          'always',
        );
      },
    });
    return fetched;
  } catch (error) {
    throw faultOf(error);
  }
}

const PROVIDER_CODES: Partial<Record<ProviderError['fault']['code'], keyof typeof MESSAGES>> = {
  access_denied: 'repository_access_denied',
  gone: 'repository_not_found',
};

function faultOf(error: unknown): unknown {
  if (error instanceof RepositoryFault || error instanceof LostJob) return error;
  if (error instanceof RepositoryTooLarge)
    return new RepositoryFault('repository_too_large', { detail: error.message, cause: error });
  if (error instanceof ProviderError)
    // A commit that is not there any more: the branch has another one at the next attempt.
    return new RepositoryFault(PROVIDER_CODES[error.fault.code] ?? 'repository_unavailable', {
      cause: error,
    });
  if (error instanceof ApiError && error.code === 'scm_access_denied')
    return new RepositoryFault('repository_access_denied', { cause: error });
  if (error instanceof ApiError && error.code === 'scm_repository_gone')
    return new RepositoryFault('repository_not_found', { cause: error });
  return new RepositoryFault('repository_unavailable', { cause: error });
}
