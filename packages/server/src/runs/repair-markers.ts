import type { Context } from '../context.ts';
import type { Entry, Tree } from '../sources/index.ts';
import { readCaptured } from '../workspaces/index.ts';

/** A line that begins with seven of them, and then a space or nothing: what merges leave and agents forget. */
const MARKER = /^(?:<{7}|>{7})(?: |\r?$)/m;

export const hasMarkers = (content: Buffer): boolean => MARKER.test(content.toString('latin1'));

/** Those of `paths` whose captured contents still have conflict markers. */
export async function pathsWithMarkers(ctx: Context, threadId: string, tree: Tree, paths: string[]): Promise<string[]> {
  const present = paths.flatMap((path): [string, Entry][] => { const entry = tree.get(path); return entry ? [[path, entry]] : []; });
  const contents = await readCaptured(ctx, threadId, new Map(present.map(([path, { sha256, byteSize }]) => [sha256, { path, byteSize }])));
  return present.filter(([, { sha256 }]) => hasMarkers(contents.get(sha256)!)).map(([path]) => path);
}
