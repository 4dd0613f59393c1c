import type { Context } from '../context.ts';
import { GitError, runGit } from '../git/run-git.ts';
import { ProviderError } from '../scm/index.ts';
import type { GitTransport, OpenRepository } from '../scm/index.ts';
import { openCache } from './cache.ts';
import type { Cache } from './cache.ts';
import { inTurn } from './turns.ts';

const FETCH_MS = 600_000;

interface Wanted {
  /** The commit that this branch has now. */
  branch?: string;
  /** Instead of a branch. */
  commitSha?: string;
  /** Commits of history; by default those that a workspace shows. More of them are fetched again. */
  depth?: number;
}

/** A fetched commit is kept under this name, with as much of its history as was fetched. */
const keptAs = (commitSha: string) => `refs/headrace/commits/${commitSha}`;

/**
 * Fetches a commit into the repository's cache, unless it is there, and returns its id. The service fetches
 * with its own credential: no sandbox takes part. Throws ProviderError: `not_found` where the branch or the
 * commit is not there.
 */
export async function fetchCommit(
  ctx: Pick<Context, 'config'>,
  repository: OpenRepository,
  { branch, commitSha, depth }: Wanted,
): Promise<string> {
  const sha = commitSha ?? (await repository.provider.resolveRef(repository.at, branch!));
  if (sha === null) throw new ProviderError({ code: 'not_found' }, 'the repository has no such branch');
  const cache = await openCache(ctx, repository);
  if (depth === undefined && (await isFetched(cache, sha))) return sha;
  if (cache.isLinked) {
    if (await isFetched(cache, sha)) return sha;
    throw new ProviderError({ code: 'not_found' }, 'the repository has no such commit');
  }
  await inTurn(cache.dir, async () => {
    if (depth === undefined && (await isFetched(cache, sha))) return;
    await fetchWith(repository, cache, { sha, depth: depth ?? ctx.config.scm.historyDepth });
  });
  return sha;
}

/** The reference is written when all of the commit is there; without it a killed fetch may have left a part. */
async function isFetched({ dir, isLinked }: Cache, sha: string): Promise<boolean> {
  const name = isLinked ? `${sha}^{commit}` : keptAs(sha);
  const { code } = await runGit(dir, ['rev-parse', '--quiet', '--verify', '--end-of-options', name], {
    codes: [0, 1, 128],
  });
  return code === 0;
}

/** Keeps a commit that was made here and that its repository has now: it need not be fetched. */
export async function keepCommit({ dir, isLinked }: Cache, sha: string): Promise<void> {
  if (!isLinked) await runGit(dir, ['update-ref', keptAs(sha), sha], { isAlone: true });
}

/** A credential that is refused is got once more: one of an App lives an hour. */
async function fetchWith(
  { provider, at }: OpenRepository,
  cache: Cache,
  what: { sha: string; depth: number },
): Promise<void> {
  const attempt = async (isRetry: boolean) =>
    fetchFrom(await provider.gitTransport(at, { isRetry }), cache, what);
  try {
    await attempt(false);
  } catch (error) {
    if (!(error instanceof ProviderError && error.fault.code === 'access_denied')) throw error;
    await attempt(true);
  }
}

async function fetchFrom(
  { url, env }: GitTransport,
  { dir }: Cache,
  { sha, depth }: { sha: string; depth: number },
): Promise<void> {
  const options = [
    '--quiet',
    '--no-tags',
    '--no-recurse-submodules',
    '--no-write-fetch-head',
    '--no-auto-gc',
  ];
  const args = ['fetch', ...options, `--depth=${depth}`, '--', url, `+${sha}:${keptAs(sha)}`];
  try {
    await runGit(dir, args, {
      env: { GIT_ALLOW_PROTOCOL: 'https:http:file', ...env },
      limitMs: FETCH_MS,
      isAlone: true,
    });
  } catch (error) {
    throw error instanceof GitError ? gitFault(error) : error;
  }
}

/** What git says, in the words of `LC_ALL=C`, the first that fits. */
const FAULTS: [RegExp, ProviderError['fault'], string][] = [
  [
    /Authentication failed|could not read (Username|Password)|returned error: 40[13]|Permission denied/i,
    { code: 'access_denied' },
    'the credential is refused',
  ],
  [
    /not our ref|couldn't find remote ref|no such remote ref|unadvertised object/i,
    { code: 'not_found' },
    'the repository has no such commit',
  ],
  [
    /returned error: (404|410)|repository .* not found|does not appear to be a git repository/i,
    { code: 'gone' },
    'the repository is not there',
  ],
];

/** The fault of a git that spoke with a provider. */
export function gitFault(error: GitError): ProviderError {
  const [, fault, message] = FAULTS.find(([said]) => !error.timedOut && said.test(error.stderr)) ?? [
    null,
    { code: 'unavailable' } as const,
    error.timedOut ? 'the provider took too long' : 'the provider could not be reached',
  ];
  return new ProviderError(fault, message, { cause: error });
}
