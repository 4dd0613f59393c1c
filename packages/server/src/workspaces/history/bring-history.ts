import type { Context } from '../../context.ts';
import { loadTree } from '../../sources/index.ts';
import { historyKey } from '../ground.ts';
import type { Ground } from '../ground.ts';
import { packHistory } from './pack-history.ts';
import { withCommit } from './repository-cache.ts';

/** The key under which the runner keeps the `.git` of workspaces upon this commit. */
export const historyOf = (ctx: Context, ground: Ground): string =>
  historyKey(ground, ctx.config.scm.historyDepth);

/**
 * Gives it to the runner. False where it cannot be made, for example because the provider is away and the
 * cache was lost: a workspace without history is better than none.
 */
export async function bringHistory(ctx: Context, ground: Ground): Promise<boolean> {
  const { repositoryId, projectId, headSha, sourceId } = ground;
  const history = { ...ground, depth: ctx.config.scm.historyDepth };
  try {
    const files = sourceId === null ? null : await loadTree(ctx, sourceId);
    const tar = await withCommit(ctx, { repositoryId, commitSha: headSha }, (dir) =>
      packHistory(dir, history, files),
    );
    await ctx.runner.putHistory(historyOf(ctx, ground), projectId, tar);
    return true;
  } catch (error) {
    ctx.log.warn({ err: error, project: projectId }, 'a workspace gets no git history');
    return false;
  }
}
