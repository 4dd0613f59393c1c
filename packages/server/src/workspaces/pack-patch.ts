import { tarOf } from '@headrace/runner/tar';
import type { Context } from '../context.ts';
import { readBlobs } from '../sources/index.ts';
import { sameEntry } from '../trees/tree.ts';
import type { Tree } from '../trees/tree.ts';
import type { Links } from './history/inner-links.ts';

interface Patch {
  /** Where links may differ: those that there are, and those that there are to be. */
  links?: { from: Links; to: Links };
  /** Paths of `to` that are written even where `from` has the same there. */
  rewrite?: ReadonlySet<string>;
  projectId: string;
  from: Tree;
  to: Tree;
  /** Contents that the project does not have (yet), by SHA-256. */
  made?: ReadonlyMap<string, Buffer>;
  /** Paths that are in neither tree: folders are removed with all that is in them. */
  remove?: string[];
  /** Such paths with one character per byte. */
  removeBytes?: string[];
}

/**
 * Packs the runner's patch of a workspace that holds `from` into `to`: a list of deletions, then the files
 * that differ.
 */
export async function packPatch(
  ctx: Context,
  { projectId, from, to, links, rewrite, made = new Map(), remove = [], removeBytes = [] }: Patch,
): Promise<Buffer> {
  const goneLinks = [...(links?.from.keys() ?? [])].filter((path) => !links!.to.has(path) && !to.has(path));
  const gone = [...remove, ...goneLinks, ...[...from.keys()].filter((path) => !to.has(path))];
  const written = [...to].filter(([path, entry]) => rewrite?.has(path) || !sameEntry(entry, from.get(path)));
  const blobs = new Map([
    ...made,
    ...(await readBlobs(
      ctx,
      projectId,
      [...new Set(written.map(([, entry]) => entry.sha256))].filter((sha256) => !made.has(sha256)),
    )),
  ]);
  // Tools that compare times must see that these files are newer than those of `from`.
  const mtime = new Date();
  return tarOf([
    {
      path: '.headrace-patch.json',
      content: JSON.stringify({
        delete: gone,
        deleteBytes: removeBytes,
        ...(links ? { links: Object.fromEntries(links.to) } : {}),
      }),
    },
    ...written.map(([path, { sha256, executable }]) => ({
      path,
      content: blobs.get(sha256)!,
      executable,
      mtime,
    })),
    ...[...(links?.to ?? [])].map(([path, target]) => ({ path, content: '', target })),
  ]);
}
