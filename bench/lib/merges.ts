/** Merges to measure with: a base, and heads and drafts that edited some of its files, as sources in a local store and as commits in one pack. */
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { writeTree } from '../../packages/server/src/merge/git-trees.ts';
import type { Changes, Entry, ReadBlobs, Tree } from '../../packages/server/src/merge/types.ts';
import { withChanges } from '../../packages/server/src/merge/with-changes.ts';
import { createBlobReader } from '../../packages/server/src/sources/blobs.ts';
import type { PlacedPack } from '../../packages/server/src/sources/blobs.ts';
import { manifestOf, sha256Of } from '../../packages/server/src/sources/manifest.ts';
import { buildPack } from '../../packages/server/src/sources/pack.ts';
import { comparePaths } from '../../packages/server/src/sources/paths.ts';
import { createLocalStore } from '../../packages/server/src/storage/local-store.ts';
import type { ObjectStore } from '../../packages/server/src/storage/object-store.ts';
import { makeFiles } from './files.ts';
import type { AppFile } from './files.ts';
import { timed } from './git.ts';

/** Files that each side edits alone. */
const OWN = 5;
/** As much in a file as where an app of 10,000 has 32 MiB. */
const FILE_BYTES = 3355;

/** A version of the app. The tree is made when it is asked for, as a new one. */
export interface Version {
  /** Of the commit, in git. */
  commit: string;
  tree(): Tree;
}

export interface Round {
  head: Version;
  draft: Version;
  /** The contents of the three sides. Out of their packs, of which nothing is kept from one call to the next. */
  readBlobs: ReadBlobs;
}

export interface Merges {
  repository: string;
  base: Version;
  /** By the number of files that both sides edited, so that git can merge them. */
  rounds: Map<number, Round[]>;
  /** Git's id of a tree, by contents that a version has or `more`. */
  treeId(tree: Tree, more: Map<string, Buffer>): string;
}

export async function makeMerges(folder: string, { files: count, both, rounds }: { files: number; both: number[]; rounds: number }): Promise<Merges> {
  const files = makeFiles(count, count * FILE_BYTES);
  const store = await createLocalStore(join(folder, 'store'));
  const oids = new Map<string, string>();
  const base = await stored(store, 'base', files, oids);
  const baseTree = manifestOf(base.entries.map(([path, entry]) => ({ path, ...entry })));
  const drawn = both.flatMap((shared) => Array.from({ length: rounds }, (_, round) => ({ shared, name: `${shared}-${round}`, ...edits(files, shared, round) })));
  const repository = await gitHistory(folder, files, drawn);
  const commits = await commitsOf(repository);
  const made = await Promise.all(drawn.map(async ({ shared, name, head, draft }): Promise<[number, Round]> => {
    const [ours, theirs] = await Promise.all([stored(store, `head-${name}`, head, oids), stored(store, `draft-${name}`, draft, oids)]);
    const packs = [base.pack, ours.pack, theirs.pack];
    const version = (side: string, entries: Changes): Version => ({ commit: commits.get(`${side}-${name}`)!, tree: () => withChanges(baseTree, entries) });
    return [shared, { head: version('head', ours.entries), draft: version('draft', theirs.entries), readBlobs: (shas) => read(store, packs, shas) }];
  }));
  return {
    repository,
    base: { commit: commits.get('base')!, tree: () => baseTree },
    rounds: new Map(both.map((shared) => [shared, made.filter(([n]) => n === shared).map(([, round]) => round)])),
    treeId: (tree, more) => treeId(tree, (sha256) => oids.get(sha256) ?? gitBlobId(more.get(sha256)!)),
  };
}

/** Each round edits other files: both sides `OWN` each, and of the shared ones the head the first line and the draft the last. */
function edits(files: AppFile[], shared: number, round: number): { head: AppFile[]; draft: AppFile[] } {
  const step = Math.floor(files.length / (2 * OWN + shared));
  const file = (n: number) => files[(round * 331 + n * step) % files.length]!;
  const edited = (n: number, side: string) => ({ path: file(n).path, content: side === 'head' ? `// head ${round}\n${file(n).content}` : `${file(n).content}// draft ${round}\n` });
  const range = (from: number, length: number, side: string) => Array.from({ length }, (_, i) => edited(from + i, side));
  return { head: [...range(0, OWN, 'head'), ...range(2 * OWN, shared, 'head')], draft: [...range(OWN, OWN, 'draft'), ...range(2 * OWN, shared, 'draft')] };
}

/** As an import or edit stores them: one pack. Notes git's ids of the contents. */
async function stored(store: ObjectStore, name: string, files: AppFile[], oids: Map<string, string>): Promise<{ entries: [string, Entry][]; pack: PlacedPack }> {
  const blobs = files.map(({ path, content }) => ({ path, bytes: Buffer.from(content), sha256: sha256Of(Buffer.from(content)) })).sort((a, b) => comparePaths(a.path, b.path));
  const { bytes, index } = buildPack(blobs);
  const packKey = `projects/bench/${name}`;
  await store.put(packKey, bytes);
  for (const { sha256, bytes: content } of blobs) oids.set(sha256, gitBlobId(content));
  return { entries: blobs.map(({ path, sha256, bytes: { length } }) => [path, { sha256, byteSize: length, executable: false }]), pack: { packKey, index } };
}

async function read(store: ObjectStore, packs: PlacedPack[], shas: string[]): Promise<Map<string, Buffer>> {
  const frame = (sha: string) => packs.find((p) => p.index.blobs.has(sha))!.index.blobs.get(sha)!.frame;
  const found = await Promise.all(packs.map(async (pack) => {
    const held = shas.filter((sha) => pack.index.blobs.has(sha)).sort((a, b) => frame(a) - frame(b));
    return Array.fromAsync(createBlobReader(store, [pack]).readBlobs(held));
  }));
  return new Map(found.flat().map(({ sha256, bytes }) => [sha256, bytes]));
}

const sha1 = (type: string, body: Buffer): string => createHash('sha1').update(`${type} ${body.length}\0`).update(body).digest('hex');
const gitBlobId = (content: Buffer): string => sha1('blob', content);

function treeId(tree: Tree, oidOf: (sha256: string) => string): string {
  const files = [...tree].map(([path, { sha256, executable }]): [string, { oid: string; executable: boolean }] => [path, { oid: oidOf(sha256), executable }]);
  return writeTree({ write: sha1 }, files, new Map());
}

/** Every version as a branch; packed as git does it by itself in a repository that is in use. */
async function gitHistory(folder: string, files: AppFile[], drawn: { name: string; head: AppFile[]; draft: AppFile[] }[]): Promise<string> {
  const repository = join(folder, 'repository');
  mkdirSync(repository);
  await timed('git init -q --bare', { cwd: repository });
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const commit = (name: string, from: string | null, changed: AppFile[]) => [`commit refs/heads/${name}\ncommitter b <b@example.test> 0 +0000\n${data(name)}${from === null ? '' : `from refs/heads/${from}\n`}`, ...changed.map(({ path, content }) => `M 100644 inline ${path}\n${data(content)}`), '\n'];
  const commits = [commit('base', null, files), ...drawn.flatMap(({ name, head, draft }) => [commit(`head-${name}`, 'base', head), commit(`draft-${name}`, 'base', draft)])];
  await timed('git fast-import --quiet && git gc --quiet', { cwd: repository, input: commits.flat().join('') });
  return repository;
}

async function commitsOf(repository: string): Promise<Map<string, string>> {
  const { output } = await timed("git for-each-ref --format='%(refname:short) %(objectname)'", { cwd: repository });
  return new Map(output.split('\n').map((line) => line.split(' ') as [string, string]));
}
