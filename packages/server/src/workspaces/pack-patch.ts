import { tarOf } from '@headrace/runner/tar';
import type { Context } from '../context.ts';
import { readBlobs } from '../sources/index.ts';
import type { Tree } from '../trees/tree.ts';

interface Patch {
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
  { projectId, from, to, made = new Map(), remove = [], removeBytes = [] }: Patch,
): Promise<Buffer> {
  const gone = [...remove, ...[...from.keys()].filter((path) => !to.has(path))];
  const written = [...to].filter(([path, entry]) => {
    const was = from.get(path);
    return !was || was.sha256 !== entry.sha256 || was.executable !== entry.executable;
  });
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
    { path: '.headrace-patch.json', content: JSON.stringify({ delete: gone, deleteBytes: removeBytes }) },
    ...written.map(([path, { sha256, executable }]) => ({
      path,
      content: blobs.get(sha256)!,
      executable,
      mtime,
    })),
  ]);
}
