import type { Context } from '../context.ts';
import type { OpenRepository } from '../scm/index.ts';
import { findCommitSource, loadTree, readCommitTree } from '../sources/index.ts';
import type { Tree } from '../trees/tree.ts';
import { openCache } from './cache.ts';
import { RepositoryTooLarge } from './commit-source.ts';
import { fetchCommit } from './fetch-commit.ts';

/**
 * The files of a commit as its source in the project has them, or would have: nothing is stored. Throws
 * ProviderError and RepositoryTooLarge.
 */
export async function readCommit(
  ctx: Context,
  projectId: string,
  repository: OpenRepository,
  commitSha: string,
): Promise<Tree> {
  const source = await findCommitSource(ctx.db, projectId, commitSha);
  if (source) return loadTree(ctx, source.id);
  await fetchCommit(ctx, repository, { commitSha });
  const { dir } = await openCache(ctx, repository);
  const read = await readCommitTree(ctx, projectId, {
    gitDir: dir,
    commitSha,
    limits: ctx.config.repositoryLimits,
  });
  if (!read.ok) throw new RepositoryTooLarge(read.rule);
  return read.tree;
}
