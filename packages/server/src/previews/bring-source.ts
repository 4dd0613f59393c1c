import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import type { Job } from '../jobs/job.ts';
import { loadTree, tarOf } from '../sources/index.ts';
import { sameEntry } from '../trees/tree.ts';
import type { Entry, Tree } from '../trees/tree.ts';
import { groundOfSource, linksOfSource, packPatch, putSourceFiles, sameLinks } from '../workspaces/index.ts';
import type { Links } from '../workspaces/index.ts';
import { setSource, settleSource, trySource } from './store.ts';
import type { PreviewNow } from './store.ts';

/** A preview with the source that its sandbox holds, and the one that it is to show. */
type PreviewSources = Pick<
  PreviewNow,
  'id' | 'project_id' | 'source_id' | 'latest_source_id' | 'tried_source_ids'
>;

/** So many sources are tried in a row; then the last of them is, until it is written. */
const MOST_TRIED = 8;

/**
 * Gives a prepared sandbox the source that it is to show, with which its command starts. `layer`: the key of
 * what is below.
 */
export async function bringFirst(
  ctx: Context,
  job: Job,
  preview: PreviewSources,
  layer: string | undefined,
): Promise<void> {
  const { id, project_id: projectId, latest_source_id: sourceId } = preview;
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    await trySource(tx, id, sourceId);
    // A visitor may see it before its put is answered.
    await setSource(tx, id, sourceId);
  });
  if (sourceId === null) await ctx.runner.putSource(id, tarOf(ctx, projectId, new Map()));
  else
    await putSourceFiles(ctx, projectId, sourceId, (tar, origin) =>
      ctx.runner.putSource(id, tar, { ...origin, layer }),
    );
  await settle(ctx, job, id, sourceId);
}

/** The source that is to be written into a running preview; undefined where it holds the one to show. */
export function nextSource(preview: PreviewSources): { id: string | null } | undefined {
  const { source_id: held, latest_source_id: latest, tried_source_ids: tried } = preview;
  if (tried.length === 0) return latest === held ? undefined : { id: latest };
  return { id: tried.includes(latest) || tried.length < MOST_TRIED ? latest : tried.at(-1)! };
}

/**
 * Writes a source into the running sandbox. What was tried before may be there wholly, in part or not: its files
 * are written over, too. Files that the server itself wrote stay. Once `signal` fires, another may be being written:
 * nothing is sent or recorded.
 */
export async function bringNewer(
  { ctx, job, signal }: { ctx: Context; job: Job; signal: AbortSignal },
  preview: PreviewSources,
  sourceId: string | null,
): Promise<void> {
  const { id, source_id: held, tried_source_ids: tried } = preview;
  const patch = await packNewer(ctx, preview.project_id, new Set([held, ...tried]), sourceId);
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    await trySource(tx, id, sourceId);
  });
  signal.throwIfAborted();
  await ctx.runner.putSource(id, patch);
  signal.throwIfAborted();
  await settle(ctx, job, id, sourceId);
}

const settle = (ctx: Context, job: Job, previewId: string, sourceId: string | null): Promise<void> =>
  transaction(ctx, async (tx) => {
    await job.fence(tx);
    await settleSource(tx, previewId, sourceId);
  });

/** The patch to a source, of a sandbox whose files are each as in one of the sources `mixed`. */
async function packNewer(
  ctx: Context,
  projectId: string,
  mixed: ReadonlySet<string | null>,
  sourceId: string | null,
): Promise<Buffer> {
  const ground = sourceId === null ? null : await groundOfSource(ctx, sourceId);
  const sideOf = async (id: string | null): Promise<{ tree: Tree; links: Links }> => {
    const tree: Tree = id === null ? new Map() : await loadTree(ctx, id);
    return { tree, links: await linksOfSource(ctx, ground, id, tree) };
  };
  const to = await sideOf(sourceId);
  const sides = await Promise.all([...mixed].map(sideOf));
  const haveSameLinks = sides.every(({ links }) => sameLinks(links, to.links));
  return packPatch(ctx, {
    projectId,
    from: commonOf(sides.map(({ tree }) => tree)),
    to: to.tree,
    ...(haveSameLinks
      ? {}
      : { links: { from: new Map(sides.flatMap(({ links }) => [...links])), to: to.links } }),
  });
}

/** A file that may be any of several, or not be there. */
const UNSURE: Entry = { sha256: '', byteSize: 0, executable: false };

/** The files of all trees. One that they do not all have alike is as none. */
function commonOf([first, ...others]: Tree[]): Tree {
  if (others.length === 0) return first!;
  const common = new Map(first);
  for (const other of others) {
    for (const path of common.keys()) if (!other.has(path)) common.set(path, UNSURE);
    for (const [path, entry] of other) if (!sameEntry(entry, common.get(path))) common.set(path, UNSURE);
  }
  return common;
}
