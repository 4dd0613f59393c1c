import { RunnerError } from '@headrace/runner/client';
import type { Origin } from '@headrace/runner/protocol';
import type { Readable } from 'node:stream';
import type { Context } from '../context.ts';
import type { ThreadRow } from '../db/schema.ts';
import { sameEntry } from '../trees/tree.ts';
import { loadTree, tarOf } from '../sources/index.ts';
import type { Tree } from '../trees/tree.ts';
import { effectiveSettings } from '../settings/index.ts';
import type { Holder } from '../runner/await-runner.ts';
import { packPatch } from './pack-patch.ts';

/** Versions of a project that are considered as the base of a patch, the last used first. */
const CANDIDATES = 4;
/** A patch of more than this share of all files or bytes is no faster than all of them. */
const PATCH_SHARE = 0.25;
/** In a project's top folder. */
const LOCK_FILES = ['package-lock.json', 'pnpm-lock.yaml', 'yarn.lock'];

/** Makes a thread's workspace from nothing, with exactly the files of a source. */
export async function restoreWorkspace(
  ctx: Context,
  job: Holder,
  { id, project_id: projectId }: Pick<ThreadRow, 'id' | 'project_id'>,
  sourceId: string | null,
): Promise<void> {
  if (sourceId === null)
    return ctx.runner.putWorkspace(id, tarOf(ctx, projectId, new Map()), {}, job.claimedAt);
  const { runtime } = await effectiveSettings(ctx.db, { project_id: projectId });
  const warm = {
    group: projectId,
    locks: lockFilesOf(await loadTree(ctx, sourceId)),
    runtime: runtime ?? undefined,
  };
  await putSourceFiles(ctx, projectId, sourceId, (tar, origin) =>
    ctx.runner.putWorkspace(id, tar, { ...origin, warm }, job.claimedAt),
  );
}

/**
 * Gives the runner the files of a source, by the first way that it takes: the files that it keeps of the
 * source, those of a near version and a patch, or all files, which it then keeps. `put` is called once per
 * way.
 */
export async function putSourceFiles(
  ctx: Context,
  projectId: string,
  sourceId: string,
  put: (tar: Readable | Buffer | undefined, origin: Origin) => Promise<void>,
): Promise<void> {
  if (ctx.runnerStatus()?.restore !== 'copy') {
    if (await isKept(put(undefined, { base: sourceId }))) return;
    const near = await nearest(ctx, projectId, sourceId);
    if (near) {
      const patch = await packPatch(ctx, {
        projectId,
        from: near.tree,
        to: await loadTree(ctx, sourceId),
      });
      if (await isKept(put(patch, { base: near.id }))) return;
    }
  }
  await put(tarOf(ctx, projectId, await loadTree(ctx, sourceId)), {
    keep: { key: sourceId, group: projectId },
  });
}

/**
 * Hashes of the lock files that dependencies are installed by; none where the source holds `node_modules`
 * itself.
 */
function lockFilesOf(tree: Tree): string[] {
  const found = LOCK_FILES.flatMap((path) => tree.get(path)?.sha256 ?? []);
  return found.length > 0 &&
    tree.keys().some((path) => path === 'node_modules' || path.startsWith('node_modules/'))
    ? []
    : found;
}

/** Returns false where the runner does not keep the source to build on (any longer). */
async function isKept(put: Promise<void>): Promise<boolean> {
  try {
    await put;
    return true;
  } catch (error) {
    if (error instanceof RunnerError && error.code === 'not_cached') return false;
    throw error;
  }
}

async function nearest(
  ctx: Context,
  projectId: string,
  sourceId: string,
): Promise<{ id: string; tree: Tree } | undefined> {
  const keys = (await ctx.runner.keptSources(projectId)).slice(0, CANDIDATES);
  if (keys.length === 0) return undefined;
  const known = await ctx.db
    .selectFrom('sources')
    .select('id')
    .where('id', 'in', keys)
    .where('project_id', '=', projectId)
    .execute();
  const wanted = await loadTree(ctx, sourceId);
  const found = await Promise.all(
    known.map(async ({ id }) => {
      const tree = await loadTree(ctx, id);
      return { id, tree, share: distance(tree, wanted) };
    }),
  );
  const [best] = found.toSorted((a, b) => a.share - b.share);
  return best && best.share <= PATCH_SHARE ? best : undefined;
}

/** The share of `to`, in files or in bytes, that a patch from `from` has. */
function distance(from: Tree, to: Tree): number {
  let files = 0,
    bytes = 0,
    allBytes = 0,
    kept = 0;
  for (const [path, entry] of to) {
    const was = from.get(path);
    allBytes += entry.byteSize;
    if (was) kept++;
    if (was && sameEntry(was, entry)) continue;
    files++;
    bytes += entry.byteSize;
  }
  return Math.max((files + from.size - kept) / Math.max(1, to.size), bytes / Math.max(1, allBytes));
}
