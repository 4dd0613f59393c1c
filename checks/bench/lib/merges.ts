/**
 * Merges to measure with: heads that follow each other, and a draft for each, as sources in a local store and
 * as commits in one pack.
 */
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { writeTree } from '../../../packages/server/src/merge/git-trees.ts';
import type { ReadBlobs } from '../../../packages/server/src/merge/types.ts';
import type { Changes, Entry, Tree } from '../../../packages/server/src/trees/tree.ts';
import { createBlobReader } from '../../../packages/server/src/sources/blobs.ts';
import type { PlacedPack } from '../../../packages/server/src/sources/blobs.ts';
import { sha256Of } from '../../../packages/server/src/trees/manifest.ts';
import { buildPack } from '../../../packages/server/src/trees/pack.ts';
import { comparePaths } from '../../../packages/server/src/trees/paths.ts';
import { createLocalStore } from '../../../packages/server/src/storage/local-store.ts';
import type { ObjectStore } from '../../../packages/server/src/storage/object-store.ts';
import { makeFiles } from '../../harness/files.ts';
import type { AppFile } from '../../harness/files.ts';
import { timed } from '../../harness/git.ts';

/** Files that each side edits alone. */
const OWN = 5;
/** 10,000 of them stay below the 32 MiB of an app, also with what is added to them. */
const FILE_BYTES = 3200;

/** A version of the app, as what it changed of the one before. */
export interface Version {
  /** In git. */
  commit: string;
  changes: Changes;
}

/** Both sides began with the head of the round before. */
export interface Round {
  head: Version;
  draft: Version;
}

export interface Merges {
  repository: string;
  /** With which the first round begins. */
  base: { commit: string; tree: Tree };
  /** By the number of files that both sides edited, so that git can merge them. */
  rounds: Map<number, Round[]>;
  /** Out of the packs, of which nothing is kept from one call to the next. */
  readBlobs: ReadBlobs;
  /** Git's id of a tree of stored contents and `more`. */
  treeId(tree: Tree, more: Map<string, Buffer>): string;
}

export async function makeMerges(
  folder: string,
  { files: count, both, rounds }: { files: number; both: number[]; rounds: number },
): Promise<Merges> {
  const files = makeFiles(count, count * FILE_BYTES);
  const drawn = both.flatMap((shared) => draw(files, shared, rounds));
  const repository = await gitHistory(folder, files, drawn);
  const commits = await commitsOf(repository);
  const stored = storeAt(await createLocalStore(join(folder, 'store')));
  const tree = new Map(await stored.keep('base', files));
  const version = async (name: string, edits: AppFile[]): Promise<Version> => ({
    commit: commits.get(name)!,
    changes: await stored.keep(name, edits),
  });
  const made = await Promise.all(
    drawn.map(async ({ shared, name, head, draft }) => ({
      shared,
      head: await version(`head-${name}`, head),
      draft: await version(`draft-${name}`, draft),
    })),
  );
  return {
    repository,
    base: { commit: commits.get('base')!, tree },
    rounds: Map.groupBy(made, (round) => round.shared),
    readBlobs: stored.readBlobs,
    treeId: stored.treeId,
  };
}

interface Drawn {
  shared: number;
  name: string;
  /** The branch with which both sides begin. */
  from: string;
  head: AppFile[];
  draft: AppFile[];
}

/**
 * Each round edits other files: both sides `OWN` each, and of the shared ones the head the first line and
 * the draft the last.
 */
function draw(files: AppFile[], shared: number, rounds: number): Drawn[] {
  const now = files.map((file) => file.content);
  const step = Math.floor(files.length / (2 * OWN + shared));
  return Array.from({ length: rounds }, (_, round) => {
    const edits = (ns: number[], edit: (content: string) => string) =>
      ns
        .map((n) => (round * 331 + n * step) % files.length)
        .map((i) => ({ i, path: files[i]!.path, content: edit(now[i]!) }));
    const numbers = (from: number, length: number) => Array.from({ length }, (_n, i) => from + i);
    const both = numbers(2 * OWN, shared);
    const head = edits([...numbers(0, OWN), ...both], (content) => `// head ${round};\n${content}`);
    const draft = edits([...numbers(OWN, OWN), ...both], (content) => `${content}// draft ${round};\n`);
    for (const { i, content } of head) now[i] = content;
    return {
      shared,
      name: `${shared}-${round}`,
      from: round === 0 ? 'base' : `head-${shared}-${round - 1}`,
      head,
      draft,
    };
  });
}

interface Stored {
  /** As an import or an edit does it: one pack. Returns the entries in order of their paths. */
  keep(name: string, files: AppFile[]): Promise<[path: string, entry: Entry][]>;
  readBlobs: ReadBlobs;
  treeId: Merges['treeId'];
}

function storeAt(store: ObjectStore): Stored {
  const packs = new Map<string, PlacedPack>();
  const oids = new Map<string, string>();
  return {
    async keep(name, files) {
      const blobs = files
        .map(({ path, content }) => ({
          path,
          bytes: Buffer.from(content),
          sha256: sha256Of(Buffer.from(content)),
        }))
        .sort((a, b) => comparePaths(a.path, b.path));
      const { bytes, index } = buildPack(blobs);
      const packKey = `projects/bench/${name}`;
      await store.put(packKey, bytes);
      for (const { sha256, bytes: content } of blobs) {
        packs.set(sha256, { packKey, index });
        oids.set(sha256, gitBlobId(content));
      }
      return blobs.map(({ path, sha256, bytes: { length } }) => [
        path,
        { sha256, byteSize: length, executable: false },
      ]);
    },
    async readBlobs(shas) {
      const byPack = Map.groupBy(shas, (sha) => packs.get(sha)!.packKey);
      const found = await Promise.all(
        [...byPack.values()].map((held) => readPack(store, packs.get(held[0]!)!, held)),
      );
      return new Map(found.flat().map(({ sha256, bytes }) => [sha256, bytes]));
    },
    treeId: (tree, more) => treeId(tree, (sha256) => oids.get(sha256) ?? gitBlobId(more.get(sha256)!)),
  };
}

/** As the service does it: in the pack's order each frame is fetched once. */
function readPack(
  store: ObjectStore,
  pack: PlacedPack,
  held: string[],
): Promise<{ sha256: string; bytes: Buffer }[]> {
  const frame = (sha: string) => pack.index.blobs.get(sha)!.frame;
  return Array.fromAsync(createBlobReader(store, [pack]).readBlobs(held.sort((a, b) => frame(a) - frame(b))));
}

const sha1 = (type: string, body: Buffer): string =>
  createHash('sha1').update(`${type} ${body.length}\0`).update(body).digest('hex');
const gitBlobId = (content: Buffer): string => sha1('blob', content);

function treeId(tree: Tree, oidOf: (sha256: string) => string): string {
  const files = [...tree].map(
    ([path, { sha256, executable }]): [string, { oid: string; executable: boolean }] => [
      path,
      { oid: oidOf(sha256), executable },
    ],
  );
  return writeTree({ write: sha1 }, files, new Map());
}

/** Every version as a branch; packed as git does it by itself in a repository that is in use. */
async function gitHistory(folder: string, files: AppFile[], drawn: Drawn[]): Promise<string> {
  const repository = join(folder, 'repository');
  mkdirSync(repository, { recursive: true });
  await timed('git init -q --bare', { cwd: repository });
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const commit = (name: string, from: string | null, changed: AppFile[]) => [
    `commit refs/heads/${name}\ncommitter b <b@example.test> 0 +0000\n${data(name)}${from === null ? '' : `from refs/heads/${from}\n`}`,
    ...changed.map(({ path, content }) => `M 100644 inline ${path}\n${data(content)}`),
    '\n',
  ];
  const commits = [
    commit('base', null, files),
    ...drawn.flatMap(({ name, from, head, draft }) => [
      commit(`head-${name}`, from, head),
      commit(`draft-${name}`, from, draft),
    ]),
  ];
  await timed('git fast-import --quiet && git gc --quiet', {
    cwd: repository,
    input: commits.flat().join(''),
  });
  return repository;
}

async function commitsOf(repository: string): Promise<Map<string, string>> {
  const { output } = await timed("git for-each-ref --format='%(refname:short) %(objectname)'", {
    cwd: repository,
  });
  return new Map(output.split('\n').map((line) => line.split(' ') as [string, string]));
}
