import type { Context } from '../context.ts';
import { fetchCommit, openCache } from '../commits/index.ts';
import { runGit } from '../git/run-git.ts';
import type { OpenRepository } from '../scm/index.ts';

/** How far behind a tip a commit of the service is looked for. */
const COMMITS = 50;

/** The newest commit that a thread's trailer names, at `tip` or behind it; null where there is none. */
export async function findOwnCommit(
  ctx: Context,
  repository: OpenRepository,
  tip: string,
  threadId: string,
): Promise<string | null> {
  await fetchCommit(ctx, repository, { commitSha: tip });
  const { dir } = await openCache(ctx, repository);
  const { output } = await runGit(dir, [
    'log',
    '--first-parent',
    `--max-count=${COMMITS}`,
    '--format=%H %(trailers:key=Headrace-Thread,valueonly,separator=%x20)',
    tip,
  ]);
  for (const line of output.toString('utf8').split('\n')) {
    const [sha, ...threads] = line.trim().split(' ');
    if (sha && threads.includes(threadId)) return sha;
  }
  return null;
}
