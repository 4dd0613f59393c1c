import type { Context } from '../../context.ts';
import type { MergePreview } from '../../merge/pool.ts';
import { loadTree, mergeRequest, readBlobs } from '../../sources/index.ts';
import type { MergeSides } from '../../sources/index.ts';
import type { Tree } from '../../trees/tree.ts';
import { FOLDER } from './attempt.ts';
import type { Attempt } from './attempt.ts';
import { hasMarkers } from './markers.ts';

/** The runner takes 128 MiB in base64. */
const MAX_EVIDENCE_BYTES = 64 * 1024 * 1024;

type Side = 'base' | 'head' | 'draft' | 'merge';

interface Piece {
  side: Side;
  path: string;
  sha256: string;
  byteSize: number;
}

/**
 * Computes the merge that a repair run is to finish, with its evidence: the files of each side at the paths
 * in conflict, then at all other paths where the sides differ, up to a limit; the conflicts with their
 * regions; `failures`: why earlier candidates were refused.
 */
export async function attemptOf(ctx: Context, sides: MergeSides, failures: string[]): Promise<Attempt> {
  const merge = await ctx.merger.preview(mergeRequest(ctx, sides));
  const trees: Record<Side, Tree> = {
    base: sides.base === null ? new Map() : await loadTree(ctx, sides.base),
    head: await loadTree(ctx, sides.head),
    draft: await loadTree(ctx, sides.draft),
    merge: merge.tree,
  };
  const conflicts = merge.conflicts.map((c) => c.path);
  const pieces = piecesOf(trees, conflicts);
  const contents = await contentsOf(ctx, sides.projectId, merge, pieces);
  const marked = new Set(
    pieces.filter((piece) => hasMarkers(contents.get(piece.sha256)!)).map((piece) => piece.path),
  );
  return {
    files: merge.tree,
    made: merge.newBlobs,
    conflicts,
    unmarked: conflicts.filter((path) => !marked.has(path)),
    evidence: [
      ...pieces.map(({ side, path, sha256 }) => ({
        path: `${FOLDER}/${side}/${path}`,
        content: contents.get(sha256)!.toString('base64'),
        encoding: 'base64' as const,
      })),
      asJson('conflicts', merge.conflicts),
      asJson('failures', failures),
    ],
  };
}

const asJson = (name: string, value: unknown) => ({
  path: `${FOLDER}/${name}.json`,
  content: `${JSON.stringify(value, null, 2)}\n`,
  encoding: 'utf8' as const,
});

function piecesOf(trees: Record<Side, Tree>, conflicts: string[]): Piece[] {
  const pieces: Piece[] = [];
  let bytes = 0;
  for (const path of new Set([...conflicts, ...differing(trees)])) {
    const found = Object.entries(trees).flatMap(([side, tree]): Piece[] => {
      const entry = tree.get(path);
      return entry ? [{ side: side as Side, path, sha256: entry.sha256, byteSize: entry.byteSize }] : [];
    });
    bytes += found.reduce((sum, piece) => sum + piece.byteSize, 0);
    if (bytes > MAX_EVIDENCE_BYTES) break;
    pieces.push(...found);
  }
  return pieces;
}

function differing({ base, head, draft }: Record<Side, Tree>): string[] {
  return [...new Set([...base.keys(), ...head.keys(), ...draft.keys()])].filter(
    (path) =>
      new Set(
        [base, head, draft].map((tree) => {
          const entry = tree.get(path);
          return entry && `${entry.sha256} ${entry.executable}`;
        }),
      ).size > 1,
  );
}

async function contentsOf(
  ctx: Context,
  projectId: string,
  merge: MergePreview,
  pieces: Piece[],
): Promise<Map<string, Buffer>> {
  const stored = [...new Set(pieces.map((piece) => piece.sha256))].filter(
    (sha256) => !merge.newBlobs.has(sha256),
  );
  return new Map([...merge.newBlobs, ...(await readBlobs(ctx, projectId, stored))]);
}
