import { pack } from 'tar-stream';
import type { Context } from '../context.ts';
import { readBlobs } from '../sources/index.ts';
import type { Tree } from '../trees/tree.ts';

export interface PatchOptions {
  /** Contents that the project does not have (yet), by SHA-256. */
  made?: ReadonlyMap<string, Buffer>;
  /** Paths that are in neither tree: folders go with all that is in them. */
  remove?: string[];
}

/**
 * The runner's patch of a workspace that holds `from` into `to`: a list of deletions, then the files that
 * differ.
 */
export async function patchTar(
  ctx: Context,
  projectId: string,
  from: Tree,
  to: Tree,
  { made = new Map(), remove = [] }: PatchOptions = {},
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
  const tar = pack();
  tar.entry({ name: '.headrace-patch.json' }, JSON.stringify({ delete: gone }));
  for (const [path, entry] of written)
    tar.entry({ name: path, mode: entry.executable ? 0o755 : 0o644 }, blobs.get(entry.sha256)!);
  tar.finalize();
  const parts: Buffer[] = [];
  for await (const part of tar) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
