import { commitSource } from '../../commits/index.ts';
import { transaction } from '../../db/transaction.ts';
import type { MergeResult } from '../../merge/pool.ts';
import { repairAgent } from '../../runs/index.ts';
import { abandon, limitsOf, mergeRequest, stageBlobs } from '../../sources/index.ts';
import type { MergeSides } from '../../sources/index.ts';
import { isIdle } from '../../threads/index.ts';
import { comparePaths } from '../../trees/paths.ts';
import { renewedDeadline } from '../../workspaces/index.ts';
import { pathsInTheWay } from '../merge-theirs.ts';
import type { Syncing } from '../syncing.ts';
import { endUpdate, lockUpdate, settleUpdate } from './end-update.ts';
import type { UpdateEnd } from './end-update.ts';
import { keptAsideOf } from './kept-aside.ts';
import { queueRepair } from './queue-repair.ts';

/** What an update merges: the base's commit, and the sources. */
interface Merging {
  baseSha: string;
  sides: MergeSides & { base: string };
}

/** Merges the thread's files with those of the base's commit, upon those of the commit that both have. */
export async function mergeSources(
  at: Syncing,
  { baseSha, common }: { baseSha: string; common: string },
): Promise<void> {
  const { ctx, repository, row, thread } = at;
  const project = { org_id: row.org_id, id: row.project_id };
  const sourceOf = async (commitSha: string) =>
    (await commitSource(ctx, project, repository, { commitSha, branch: row.base_ref })).id;
  const sides = {
    projectId: row.project_id,
    base: await sourceOf(common),
    head: await sourceOf(baseSha),
    draft: thread.latest_source_id!,
  };
  const merge = await ctx.merger.merge({ ...mergeRequest(ctx, sides), limits: limitsOf(ctx, row) });
  const { conflicts: keptAside } = await keptAsideOf(at, baseSha, merge.tree);
  const isClean = merge.status === 'clean' && merge.invalid.length === 0 && keptAside.length === 0;
  if (isClean) await settleClean(at, { baseSha, sides }, merge);
  else await settleConflicts(at, { baseSha, sides }, { files: pathsInTheWay(merge), keptAside });
}

async function settleClean(at: Syncing, { baseSha, sides }: Merging, merge: MergeResult): Promise<void> {
  const { ctx, row } = at;
  const project = { org_id: row.org_id, id: row.project_id };
  const staged = await stageBlobs(ctx, project, merge.newBlobs);
  const isSettled = await transaction(ctx, async (tx) => {
    const locked = await lockUpdate(tx, at);
    if (!locked || !(await isIdle(tx.db, locked.thread.thread))) return false;
    await settleUpdate(tx, locked, {
      baseSha,
      parents: [sides.head, sides.draft],
      tree: merge.tree,
      staged,
      change: await renewedDeadline(ctx, tx.db, locked.thread.thread),
    });
    return true;
  });
  if (!isSettled) await abandon(ctx, project, staged);
}

/** Paths in conflict: files, and what no source can hold, which no agent sees. */
interface Conflicts {
  files: string[];
  keptAside: string[];
}

async function settleConflicts(
  at: Syncing,
  { baseSha, sides }: Merging,
  { files, keptAside }: Conflicts,
): Promise<void> {
  const { ctx, row } = at;
  const paths = [...new Set([...files, ...keptAside])].toSorted(comparePaths);
  const conflicted = (error: UpdateEnd['error']): UpdateEnd => ({
    status: 'conflicted',
    baseSha,
    conflicts: paths,
    error,
  });
  const agent =
    row.branch_update!.conflictResolution === 'agent' && keptAside.length === 0
      ? await repairAgent(ctx.db, row, files, [])
      : null;
  await transaction(ctx, async (tx) => {
    const locked = await lockUpdate(tx, at);
    if (!locked) return;
    if (row.branch_update!.conflictResolution === 'manual')
      await endUpdate(tx, locked.loaded, conflicted(null));
    else if (keptAside.length > 0) await endUpdate(tx, locked.loaded, conflicted(BEYOND_AGENTS));
    else if (!agent) await endUpdate(tx, locked.loaded, conflicted(NOT_CONFIGURED));
    else if (await isIdle(tx.db, locked.thread.thread))
      await queueRepair(tx, ctx.config, locked, { ...agent, baseSha, conflicts: paths, sides });
  });
}

const BEYOND_AGENTS = {
  code: 'unresolved',
  message:
    'The conflict is in an entry that no source holds, such as a symbolic link or a submodule. Merge it with git.',
};
const NOT_CONFIGURED = {
  code: 'not_configured',
  message:
    "No agent is configured that repairs conflicts. Configure a model, or set the project's metadata headrace.repairScript.",
};
