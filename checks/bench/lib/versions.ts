/**
 * The versions of a real history, in an order in which parents come first, and a git repository that holds
 * just them.
 */
import { mkdirSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { openReplayGit } from '../../proof/replay/git.ts';
import { createReplayTrees } from '../../proof/replay/trees.ts';
import type { ReplayTrees } from '../../proof/replay/trees.ts';
import { timed } from '../../harness/git.ts';

const HISTORIES = join(import.meta.dirname, '../../harness/histories');

export interface FileOfVersion {
  path: string;
  content: Buffer;
  executable: boolean;
}

export interface Versions {
  commits: {
    oid: string;
    tree: string;
    /** The place of the first parent; null where there is none. */ parent: number | null;
  }[];
  filesOf(tree: string): Promise<FileOfVersion[]>;
  close(): void;
}

/** The first `count` commits of a bundle in `checks/harness/histories`. */
export async function readVersions(bundle: string, count: number, scratch: string): Promise<Versions> {
  const git = await openReplayGit(join(HISTORIES, bundle), join(scratch, 'history.git'));
  const rows = (await git.run(['log', '--topo-order', '--reverse', '--format=%H %T %P', 'main']))
    .toString()
    .split('\n')
    .slice(0, count)
    .map((row) => row.split(' '));
  const places = new Map(rows.map(([oid], place) => [oid!, place]));
  const trees = createReplayTrees(git);
  const contents = new Map<string, Buffer>();
  return {
    commits: rows.map(([oid, tree, parent]) => ({
      oid: oid!,
      tree: tree!,
      parent: places.get(parent ?? '') ?? null,
    })),
    async filesOf(tree) {
      const files = await listed(trees, tree);
      const fresh = [...new Set(files.map((f) => f.oid))].filter((oid) => !contents.has(oid));
      for (const [i, content] of (await git.objects(fresh)).entries()) contents.set(fresh[i]!, content);
      return files.map(({ path, oid, executable }) => ({ path, content: contents.get(oid)!, executable }));
    },
    close: () => git.close(),
  };
}

async function listed(
  trees: ReplayTrees,
  tree: string,
): Promise<{ path: string; oid: string; executable: boolean }[]> {
  const { files, leftOut } = await trees.list(tree);
  if (leftOut.size > 0)
    throw new Error(`A version has what no source may hold: ${[...leftOut.keys()].join(', ')}`);
  return [...files].map(([path, file]) => ({ path, ...file }));
}

/** Bytes of pack and index of a repository with these commits alone, by how it was packed. */
export async function packedByGit(
  bundle: string,
  { commits }: Versions,
  scratch: string,
): Promise<{ repack: number; aggressive: number }> {
  const cwd = join(scratch, 'packed.git');
  mkdirSync(cwd);
  await timed(
    `git init -q --bare . && git fetch -q '${join(HISTORIES, bundle)}' main && rm FETCH_HEAD && git update-ref --stdin`,
    { cwd, input: commits.map(({ oid }, i) => `create refs/heads/version-${i} ${oid}\n`).join('') },
  );
  const packed = async (command: string) => {
    const { output } = await timed(`${command} && ls objects/pack/*.pack objects/pack/*.idx`, { cwd });
    const sizes = await Promise.all(output.split('\n').map((file) => stat(join(cwd, file))));
    if (sizes.length !== 2) throw new Error('git has not one pack');
    return sizes[0]!.size + sizes[1]!.size;
  };
  return {
    repack: await packed('git repack -a -d -q && git prune-packed'),
    aggressive: await packed('git gc -q --aggressive --prune=now'),
  };
}
