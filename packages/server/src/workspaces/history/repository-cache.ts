import type { Context } from '../../context.ts';
import { fetchCommit, findCache } from '../../commits/index.ts';
import { openRepository } from '../../scm/index.ts';
import { linksOfCommit } from './commit-files.ts';
import type { Links } from './inner-links.ts';

/**
 * Reads a commit in the repository's cache. What is there needs no provider and no installation; what is not
 * there, or not whole, is fetched.
 */
export async function withCommit<T>(
  ctx: Context,
  { repositoryId, commitSha }: { repositoryId: string; commitSha: string },
  read: (dir: string) => Promise<T>,
): Promise<T> {
  const known = findCache(ctx, repositoryId);
  if (known) {
    try {
      return await read(known.dir);
    } catch (error) {
      ctx.log.debug({ err: error, repository: repositoryId }, 'a commit is not in the cache');
    }
  }
  const repository = await openRepository(ctx, repositoryId);
  await fetchCommit(ctx, repository, { commitSha });
  return read(findCache(ctx, repositoryId)!.dir);
}

/** The links of a commit that belong into workspaces. */
export const repositoryLinks = (ctx: Context, repositoryId: string, commitSha: string): Promise<Links> =>
  withCommit(ctx, { repositoryId, commitSha }, (dir) => linksOfCommit(dir, commitSha));
