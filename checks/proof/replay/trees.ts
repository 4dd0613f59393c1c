import { createHash } from 'node:crypto';
import { checkPath, findCollisions } from '../../../packages/server/src/trees/paths.ts';
import { foldersOf } from '../../../packages/server/src/merge/collisions.ts';
import type { ReplayGit } from './git.ts';
import type { ReadBlobs, Sides } from '../../../packages/server/src/merge/types.ts';
import type { Entry } from '../../../packages/server/src/trees/tree.ts';

/** What one tree of the repository holds. */
interface Listing {
  /** The files that a source may hold, by path in byte order. */
  files: Map<string, RepositoryFile>;
  /**
   * Everything else by path, in git's bytes as latin1: symlinks, submodules, names that no source may have.
   */
  leftOut: LeftOut;
}

export type LeftOut = Map<string, 'symlink' | 'submodule' | 'name'>;
export type Listings = [base: Listing, head: Listing, draft: Listing];

export interface RepositoryFile {
  oid: string;
  executable: boolean;
}

/** Reads trees and contents of a repository as the engine wants them. */
export interface ReplayTrees {
  /** Reads these trees with few questions, for those who will list them one by one. */
  prepare(trees: string[]): Promise<void>;
  list(tree: string): Promise<Listing>;
  /** Base, head and draft as sources' trees, without the paths of `leftOut` and what is below them. */
  sidesOf(listings: Listings, leftOut: LeftOut): Promise<Sides>;
  readBlobs: ReadBlobs;
  /** Git's id of a content that some tree has had, by its SHA-256. */
  oidOf(sha256: string): string | undefined;
}

interface Row {
  mode: number;
  /** Bytes as latin1. */
  name: string;
  oid: string;
}

const OID_BYTES = 20;
/** Folders that are remembered: commits share most of theirs with their neighbours. */
const MAX_FOLDERS = 50_000;
const FOLDER = 0o40000;
const SYMLINK = 0o120000;
const SUBMODULE = 0o160000;
const OWNER_MAY_EXECUTE = 0o100;

export function createReplayTrees(git: ReplayGit): ReplayTrees {
  const folders = new Map<string, Row[]>();
  const facts = new Map<string, { sha256: string; byteSize: number }>();
  const oids = new Map<string, string>();

  async function readFolders(trees: string[]): Promise<void> {
    let wanted = [...new Set(trees)].filter((oid) => !folders.has(oid));
    while (wanted.length > 0) {
      const bodies = await git.objects(wanted);
      wanted.forEach((oid, i) => folders.set(oid, parseFolder(bodies[i]!)));
      const below = wanted
        .flatMap((oid) => folders.get(oid)!)
        .filter((row) => row.mode === FOLDER)
        .map((row) => row.oid);
      wanted = [...new Set(below)].filter((oid) => !folders.has(oid));
    }
  }

  async function learn(blobs: Iterable<string>): Promise<void> {
    const unknown = [...new Set(blobs)].filter((oid) => !facts.has(oid));
    const bodies = await git.objects(unknown);
    unknown.forEach((oid, i) => {
      const sha256 = createHash('sha256').update(bodies[i]!).digest('hex');
      facts.set(oid, { sha256, byteSize: bodies[i]!.length });
      oids.set(sha256, oid);
    });
  }

  return {
    prepare: readFolders,
    async list(tree) {
      if (folders.size > MAX_FOLDERS) folders.clear();
      await readFolders([tree]);
      const listing: Listing = { files: new Map(), leftOut: new Map() };
      for (const [bytes, row] of walk(folders, tree, '')) {
        const path = Buffer.from(bytes, 'latin1').toString('utf8');
        if (row.mode === SYMLINK) listing.leftOut.set(bytes, 'symlink');
        else if (row.mode === SUBMODULE) listing.leftOut.set(bytes, 'submodule');
        else if (path.includes('\ufffd') || checkPath(path) !== null) listing.leftOut.set(bytes, 'name');
        else listing.files.set(path, { oid: row.oid, executable: (row.mode & OWNER_MAY_EXECUTE) !== 0 });
      }
      return listing;
    },
    async sidesOf(listings, leftOut) {
      for (const { files } of listings) await learn([...files.values()].map((file) => file.oid));
      const [base, head, draft] = listings.map(({ files }) => {
        const tree = new Map<string, Entry>();
        for (const [path, { oid, executable }] of files)
          if (!isLeftOut(asLatin1(path), leftOut)) tree.set(path, { ...facts.get(oid)!, executable });
        return tree;
      });
      return { base: base!, head: head!, draft: draft! };
    },
    async readBlobs(shas) {
      const bodies = await git.objects(shas.map((sha256) => oids.get(sha256)!));
      return new Map(shas.map((sha256, i) => [sha256, bodies[i]!]));
    },
    oidOf: (sha256) => oids.get(sha256),
  };
}

/**
 * What must be left out of all trees, so that each of them could be a source: also names that exclude each
 * other.
 */
export const leftOutOf = (listings: Listings): LeftOut =>
  new Map(listings.flatMap((listing) => [...listing.leftOut, ...collisionsIn(listing)]));

function collisionsIn({ files }: Listing): [string, 'name'][] {
  const paths = [...files.keys()];
  return findCollisions(paths).map(({ index }) => [asLatin1(paths[index]!), 'name']);
}

/** What is below a path goes with it: on another side a symlink may be a folder. */
const isLeftOut = (path: string, leftOut: LeftOut): boolean =>
  leftOut.size > 0 && (leftOut.has(path) || foldersOf(path).some((folder) => leftOut.has(folder)));

const asLatin1 = (path: string): string => Buffer.from(path).toString('latin1');

function* walk(
  folders: Map<string, Row[]>,
  tree: string,
  prefix: string,
): Generator<[path: string, row: Row]> {
  for (const row of folders.get(tree)!) {
    if (row.mode === FOLDER) yield* walk(folders, row.oid, `${prefix}${row.name}/`);
    else yield [prefix + row.name, row];
  }
}

function parseFolder(body: Buffer): Row[] {
  const rows: Row[] = [];
  for (let at = 0; at < body.length;) {
    const space = body.indexOf(32, at);
    const end = body.indexOf(0, space);
    rows.push({
      mode: Number.parseInt(body.toString('latin1', at, space), 8),
      name: body.toString('latin1', space + 1, end),
      oid: body.toString('hex', end + 1, end + 1 + OID_BYTES),
    });
    at = end + 1 + OID_BYTES;
  }
  return rows;
}
