import type { Context } from '../context.ts';
import { GitError, runGit } from '../git/run-git.ts';
import { inlineText } from '../inline-text.ts';
import { ProviderError } from '../scm/index.ts';
import type { GitTransport, OpenRepository } from '../scm/index.ts';
import { openCache } from './cache.ts';
import { gitFault, keepCommit } from './fetch-commit.ts';
import { isKnownAncestor } from './history.ts';

/** Why a branch did not move. `moved`: it is not where it was expected. */
type PushFault = 'moved' | 'access_denied' | 'protected' | 'branch_gone' | 'unavailable';

/** The message is for callers: no address, no credential. */
export class PushError extends Error {
  readonly code: PushFault;

  constructor(code: PushFault, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'PushError';
    this.code = code;
  }
}

interface Push {
  /** A commit of the cache, `expected` or a descendant of it. */
  commitSha: string;
  branch: string;
  /** The branch's commit now; null: there is no such branch yet. */
  expected: string | null;
}

const PUSH_MS = 600_000;
const LOOK_MS = 60_000;

/**
 * Moves a branch from the commit that is expected there to a descendant of it: never by force. A branch that
 * is at the commit already is a success. Throws PushError.
 */
export async function pushCommit(
  ctx: Pick<Context, 'config' | 'shutdown'>,
  repository: OpenRepository,
  push: Push,
): Promise<void> {
  const { commitSha, expected } = push;
  const cache = await openCache(ctx, repository);
  const { dir } = cache;
  if (expected !== null && !(await isKnownAncestor(dir, expected, commitSha)))
    throw new Error(`${commitSha} is no descendant of ${expected}`);
  const attempt = async (isRetry: boolean) => {
    const transport = await repository.provider.gitTransport(repository.at, { isRetry });
    await pushOnce(dir, transport, push, ctx.shutdown);
  };
  try {
    // A credential that is refused is got once more: one of an App lives an hour.
    await attempt(false).catch((error: unknown) => {
      if (error instanceof PushError && error.code === 'access_denied') return attempt(true);
      throw error;
    });
  } catch (error) {
    throw error instanceof ProviderError ? pushFault(error) : error;
  }
  await keepCommit(cache, commitSha);
}

async function pushOnce(
  dir: string,
  transport: GitTransport,
  { commitSha, branch, expected }: Push,
  signal: AbortSignal,
): Promise<void> {
  const ref = `refs/heads/${branch}`;
  const pushed = await speak(dir, transport, {
    // The lease holds the branch where it was expected; that the commit descends from there was looked at.
    args: [
      'push',
      '--porcelain',
      '--no-verify',
      `--force-with-lease=${ref}:${expected ?? ''}`,
      '--',
      transport.url,
      `${commitSha}:${ref}`,
    ],
    codes: [0, 1],
    limitMs: PUSH_MS,
    signal,
  });
  const [flag, , summary = ''] =
    pushed.output
      .toString('utf8')
      .split('\n')
      .find((line) => line.includes(`:${ref}\t`))
      ?.split('\t') ?? [];
  if (flag !== undefined && flag !== '!') return;
  const code = flag === undefined ? 'unavailable' : refusalOf(summary, pushed.stderr);
  if (code !== 'moved') throw refused(code, summary);
  const now = await tipOf(dir, transport, ref, signal);
  if (now === commitSha) return;
  if (now === null && expected !== null) throw new PushError('branch_gone', `The branch ${branch} is gone.`);
  throw new PushError('moved', `The branch ${branch} has moved.`);
}

/** What a provider says behind a refused reference, and what it means; the first that fits. */
const REFUSALS: [RegExp, PushFault][] = [
  [
    /stale info|fetch first|non-fast-forward|cannot lock ref|failed to (update|lock)|incorrect old value|already exists/i,
    'moved',
  ],
  // GitHub: an App that may not change workflows.
  [/without .{0,80}(permission|scope)|permission denied|not permitted/i, 'access_denied'],
  // Objects that it takes for broken will be refused next time, too; a full disk may be better then.
  [/fsck error|: (has|bad|zero|missing)[A-Z]/, 'protected'],
  [/unpacker error|internal|remote failure|timed? ?out|no report/i, 'unavailable'],
];

const refusalOf = (summary: string, stderr: string): PushFault =>
  REFUSALS.find(([said]) => said.test(summary) || said.test(stderr))?.[1] ?? 'protected';

function refused(code: PushFault, summary: string): PushError {
  const said = inlineText(/\((.*)\)$/.exec(summary)?.[1] ?? '', 200);
  return new PushError(
    code,
    said ? `The provider refused the push: ${said}.` : 'The provider did not take the push.',
  );
}

async function tipOf(
  dir: string,
  transport: GitTransport,
  ref: string,
  signal: AbortSignal,
): Promise<string | null> {
  const { output } = await speak(dir, transport, {
    args: ['ls-remote', '--', transport.url, ref],
    limitMs: LOOK_MS,
    signal,
  });
  return /^([0-9a-f]{40})\t/.exec(output.toString('utf8'))?.[1] ?? null;
}

async function speak(
  dir: string,
  { env }: GitTransport,
  { args, ...options }: { args: string[]; codes?: number[]; limitMs: number; signal: AbortSignal },
): Promise<{ output: Buffer; stderr: string }> {
  try {
    return await runGit(dir, ['-c', 'protocol.version=2', ...args], {
      ...options,
      env: { GIT_ALLOW_PROTOCOL: 'https:http:file', ...env },
    });
  } catch (error) {
    throw error instanceof GitError ? pushFault(gitFault(error)) : error;
  }
}

function pushFault(error: ProviderError): PushError {
  const isRefused = error.fault.code === 'access_denied' || error.fault.code === 'gone';
  return isRefused
    ? new PushError('access_denied', "The provider refuses the service's credential.", { cause: error })
    : new PushError('unavailable', 'The provider cannot be reached.', { cause: error });
}
