/** A commit of a repository on this machine becomes a source: staged part by part, then stored in one transaction. */
import type { Context } from '../context.ts';
import type { ProjectRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import type { SourceLimits } from '../trees/limits.ts';
import type { Tree } from '../trees/tree.ts';
import { faultsMapped } from './faults.ts';
import type { OpenedCommit, TooLarge } from './import/commit-reading.ts';
import type { Handle, Packed } from './import/pool.ts';
import { commitStaged, insertSource } from './insert-source.ts';
import type { EncodedTree } from './insert-source.ts';
import { abandon, stagePack } from './stage.ts';
import type { ProjectKey, Staged } from './stage.ts';
import { findNewestCommit, findStored } from './store.ts';
import type { SourceRow } from './store.ts';

type Staging = Pick<Context, 'db' | 'store' | 'pool'>;

export interface StagedCommit extends Pick<OpenedCommit, 'keptAside' | 'keptAsideCount'> {
  ok: true;
  commitSha: string;
  tree: EncodedTree;
  packs: NonNullable<Staged>[];
}

/**
 * Reads and packs what the project does not have of a commit, off the event loop, and puts it into the store;
 * 32 MiB at a time are in memory. No transaction may be open. Throws 503 where the store or the pool is away,
 * and GitError where the repository is damaged.
 */
export async function stageCommit(
  ctx: Staging,
  project: ProjectKey,
  commit: { gitDir: string; commitSha: string; limits: SourceLimits },
): Promise<StagedCommit | TooLarge> {
  const near = (await findNewestCommit(ctx.db, project.id)) ?? null;
  const opened = await faultsMapped(ctx.pool.openCommit({ ...commit, near }));
  if (!opened.ok) return opened;
  const packs: NonNullable<Staged>[] = [];
  try {
    await stageParts(ctx, project, opened, packs);
    const tree = await faultsMapped(ctx.pool.closeCommit(opened.handle));
    const { keptAside, keptAsideCount } = opened;
    return { ok: true, commitSha: commit.commitSha, tree, packs, keptAside, keptAsideCount };
  } catch (error) {
    ctx.pool.release(opened.handle);
    await abandonPacks(ctx, project, packs);
    throw error;
  }
}

/**
 * The files of a commit as its source has them, hashed in the worker thread. Nothing is stored. Throws 503
 * where the pool has no room, and GitError where the repository is damaged.
 */
export async function readCommitTree(
  ctx: Staging,
  projectId: string,
  commit: { gitDir: string; commitSha: string; limits: SourceLimits },
): Promise<{ ok: true; tree: Tree } | TooLarge> {
  const near = (await findNewestCommit(ctx.db, projectId)) ?? null;
  return faultsMapped(
    (async () => {
      const opened = await ctx.pool.openCommit({ ...commit, near });
      if (!opened.ok) return opened;
      try {
        for (const [part, byteSize] of opened.parts.entries())
          ctx.pool.release((await ctx.pool.readCommitPart(opened.handle, { part, byteSize })).handle);
        return { ok: true, tree: (await ctx.pool.closeCommit(opened.handle)).manifest } as const;
      } finally {
        ctx.pool.release(opened.handle);
      }
    })(),
  );
}

/** The next part is read while one is put. */
async function stageParts(
  ctx: Staging,
  project: ProjectKey,
  { handle, parts }: OpenedCommit & { handle: Handle },
  packs: NonNullable<Staged>[],
): Promise<void> {
  let putting: Promise<void> = Promise.resolve();
  try {
    for (const [part, byteSize] of parts.entries()) {
      const packed = await faultsMapped(packPart(ctx, project.id, handle, { part, byteSize }));
      await putting;
      if (packed) {
        putting = stagePack(ctx, project, packed).then((staged) => void packs.push(staged));
        // It is awaited after the next part.
        putting.catch(() => undefined);
      }
    }
  } finally {
    await putting;
  }
}

async function packPart(
  ctx: Staging,
  projectId: string,
  commit: Handle,
  which: { part: number; byteSize: number },
): Promise<Packed | null> {
  const { handle, hashes } = await ctx.pool.readCommitPart(commit, which);
  try {
    const hex = hashes.toString('hex');
    const wanted = new Set(
      Array.from({ length: hashes.length / 32 }, (_, i) => hex.slice(i * 64, i * 64 + 64)),
    );
    const stored = await findStored(ctx.db, projectId, [...wanted]);
    return stored.size === wanted.size ? null : await ctx.pool.packBlobs(handle, [...stored]);
  } finally {
    ctx.pool.release(handle);
  }
}

const abandonPacks = (ctx: Pick<Context, 'db'>, project: ProjectKey, packs: readonly Staged[]) =>
  Promise.all(packs.map((pack) => abandon(ctx, project, pack).catch(() => null)));

/** Has what was staged removed, for a commit that is not stored; harmless when it was. */
export async function abandonCommit(
  ctx: Pick<Context, 'db'>,
  project: ProjectKey,
  { packs }: StagedCommit,
): Promise<void> {
  await abandonPacks(ctx, project, packs);
}

/**
 * Stores the source of a staged commit, which the project does not have; publishes as `insertSource`. The
 * caller has locked the project's row.
 */
export async function insertCommit(
  tx: Tx,
  project: ProjectRow,
  { commitSha, tree, packs, keptAside, keptAsideCount }: StagedCommit,
  { branch, message }: { branch: string | null; message: string },
): Promise<SourceRow> {
  const [last = null, ...others] = packs.toReversed();
  for (const staged of others) await commitStaged(tx, project, staged);
  return insertSource(tx, project, {
    tree,
    parents: [],
    origin: 'import',
    threadId: null,
    runId: null,
    message,
    staged: last,
    commit: { sha: commitSha, branch, keptAside, keptAsideCount },
  });
}
