import { RunnerError } from '@headrace/runner/client';
import type { Origin } from '@headrace/runner/protocol';
import type { Readable } from 'node:stream';
import type { Context } from '../context.ts';
import type { ThreadRow } from '../db/schema.ts';
import { sameEntry } from '../trees/tree.ts';
import { loadTree, tarOf } from '../sources/index.ts';
import type { Tree } from '../trees/tree.ts';
import { isLayerGone, loseLayer } from '../setups/index.ts';
import type { SetupFound } from '../setups/index.ts';
import type { Holder } from '../runner/await-runner.ts';
import { groundOf, groundOfSource, layoutsOf, linksUpon, newerThan, sourceOfKey } from './ground.ts';
import type { Ground, Layout } from './ground.ts';
import { bringHistory, historyOf } from './history/bring-history.ts';
import { packPatch } from './pack-patch.ts';

/** Versions of a project that are considered as the base of a patch, the last used first. */
const CANDIDATES = 4;
/** A patch of more than this share of all files or bytes is no faster than all of them. */
const PATCH_SHARE = 0.25;

/** Gives the runner files; called once per way that is tried. */
type Put = (tar: Readable | Buffer | undefined, origin: Origin) => Promise<void>;

/**
 * Makes a thread's workspace from nothing, with exactly the files of a source, over the layer of its setup. With
 * a repository it has the links of the commit below, and a `.git`; without them where they cannot be made.
 * Returns false, with nothing made, where the layer is no longer kept; its setup's record then says so.
 */
export async function restoreWorkspace(
  ctx: Context,
  job: Holder,
  { id, project_id: projectId }: Pick<ThreadRow, 'id' | 'project_id'>,
  { sourceId, setup }: { sourceId: string | null; setup: SetupFound },
): Promise<boolean> {
  if (sourceId === null) {
    await ctx.runner.putWorkspace(id, tarOf(ctx, projectId, new Map()), {}, job.claimedAt);
    return true;
  }
  const ground = await groundOf(ctx, id);
  const layer = setup.kind === 'ready' ? setup.setupId : undefined;
  const restore = (history: string | undefined) =>
    putUpon(ctx, ground, { projectId, sourceId }, (tar, origin) =>
      ctx.runner.putWorkspace(id, tar, { ...origin, layer, history }, job.claimedAt),
    );
  const history = ground ? historyOf(ctx, ground) : undefined;
  try {
    if (!(await isThere(restore(history), 'no_history')))
      await restore((await bringHistory(ctx, ground!)) ? history : undefined);
    return true;
  } catch (error) {
    if (layer === undefined || !isLayerGone(error)) throw error;
    await loseLayer(ctx.db, layer);
    return false;
  }
}

/**
 * Gives the runner the files of a source, by the first way that it takes: the files that it keeps of the
 * source, those of a near version and a patch, or all files, which it then keeps.
 */
export async function putSourceFiles(
  ctx: Context,
  projectId: string,
  sourceId: string,
  put: Put,
): Promise<void> {
  await putUpon(ctx, await groundOfSource(ctx, sourceId), { projectId, sourceId }, put);
}

async function putUpon(
  ctx: Context,
  ground: Ground | null,
  { projectId, sourceId }: { projectId: string; sourceId: string },
  put: Put,
): Promise<void> {
  const [layout] = await layoutsOf(ctx, ground, [sourceId]);
  if (!layout) throw new Error(`the source ${sourceId} is not of the project`);
  if (ctx.runnerStatus()?.restore !== 'copy') {
    if (await isThere(put(undefined, { base: layout.key }), 'not_cached')) return;
    const patch = await patchOf(ctx, ground, { projectId, layout });
    if (patch && (await isThere(put(patch.tar, { base: patch.base }), 'not_cached'))) return;
  }
  const files = await loadTree(ctx, sourceId);
  const links = await linksUpon(ctx, ground, layout, files);
  const newer = await newerThan(ctx, ground, files);
  await put(tarOf(ctx, projectId, files, { links, newer }), { keep: { key: layout.key, group: projectId } });
}

/** Returns false where the runner does not keep what to build on (any longer). */
async function isThere(put: Promise<void>, missing: 'not_cached' | 'no_history'): Promise<boolean> {
  try {
    await put;
    return true;
  } catch (error) {
    if (error instanceof RunnerError && error.code === missing) return false;
    throw error;
  }
}

/** A patch from a near version that the runner keeps, if there is one. */
async function patchOf(
  ctx: Context,
  ground: Ground | null,
  { projectId, layout }: { projectId: string; layout: Layout },
): Promise<{ tar: Buffer; base: string } | undefined> {
  const near = await nearest(ctx, ground, { projectId, layout });
  if (!near) return undefined;
  const to = await loadTree(ctx, layout.sourceId);
  const links = ground && {
    from: await linksUpon(ctx, ground, near.layout, near.tree),
    to: await linksUpon(ctx, ground, layout, to),
  };
  const tar = await packPatch(ctx, {
    projectId,
    from: near.tree,
    to,
    ...(links && links.from.size + links.to.size > 0 ? { links } : {}),
    // They may be as in the commit of the near version, and then have its time.
    rewrite: await newerThan(ctx, ground, to),
  });
  return { tar, base: near.layout.key };
}

async function nearest(
  ctx: Context,
  ground: Ground | null,
  { projectId, layout: { sourceId } }: { projectId: string; layout: Layout },
): Promise<{ layout: Layout; tree: Tree } | undefined> {
  const keys = (await ctx.runner.keptSources(projectId)).slice(0, CANDIDATES);
  if (keys.length === 0) return undefined;
  const known = await ctx.db
    .selectFrom('sources')
    .select(['id', 'commit_sha'])
    .where('id', 'in', keys.map(sourceOfKey))
    .where('project_id', '=', projectId)
    .execute();
  const wanted = await loadTree(ctx, sourceId);
  const found = await Promise.all(
    keys.flatMap((key) => {
      const row = known.find(({ id }) => id === sourceOfKey(key));
      if (!row) return [];
      const linksOf = ground && (row.commit_sha ?? key.split('-', 2)[1] ?? null);
      return compared(ctx, { sourceId: row.id, key, linksOf }, wanted);
    }),
  );
  const [best] = found.toSorted((a, b) => a.share - b.share);
  return best && best.share <= PATCH_SHARE ? best : undefined;
}

async function compared(
  ctx: Context,
  layout: Layout,
  wanted: Tree,
): Promise<{ layout: Layout; tree: Tree; share: number }> {
  const tree = await loadTree(ctx, layout.sourceId);
  return { layout, tree, share: distance(tree, wanted) };
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
