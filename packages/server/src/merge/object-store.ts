import { createHash, randomUUID } from 'node:crypto';
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { encodePack } from './pack-file.ts';
import type { GitObject, PackPlace } from './pack-file.ts';

/**
 * A bare git repository that holds nothing but what a merge or diff needs, written by hand: no `git init`, no
 * spawn. It is dropped and remade when it has grown over its bounds. Synchronous on purpose: it lives on a
 * separate worker thread.
 */
export interface ObjectStore {
  dir: string;
  /** Git's id of a content that is stored here, by its SHA-256; undefined where it is not. */
  blob(sha256: string): StoredBlob | undefined;
  writeBlob(sha256: string, bytes: Buffer): StoredBlob;
  write(type: 'blob' | 'tree' | 'commit', body: Buffer): string;
  /** Makes what was written visible to git, as one pack: making a file can take a millisecond. */
  flush(): void;
  /**
   * Body of an object that we flushed or git wrote: git writes none that is here already. Throws when it is
   * not there.
   */
  read(oid: string): Buffer;
  isFull(): boolean;
  /** Empties the repository. No git process may be running on it. */
  reset(): void;
  remove(): void;
}

interface StoredBlob {
  oid: string;
  binary: boolean;
  lines: number;
}

const MAX_OBJECTS = 50_000;
const MAX_BYTES = 256 * 1024 * 1024;
/** A hundred more cost git a millisecond per merge, a new repository and git 50 ms. */
const MAX_PACKS = 100;
/** Git's own test for a binary file. */
const BINARY_PROBE = 8000;

/**
 * `fsync` is off because the repository is a scratch pad; `info/attributes` is empty, and without a work
 * tree git reads no other attributes, so that a user's `.gitattributes` is a file like any other.
 */
const CONFIG = `[core]
\trepositoryformatversion = 0
\tbare = true
\tfsync = none
\tlooseCompression = 0
\tattributesFile = /dev/null
\thooksPath = /dev/null
[merge]
\tdirectoryRenames = conflict
\tconflictStyle = merge
\trenormalize = false
[gc]
\tauto = 0
`;

export function createObjectStore(parent: string): ObjectStore {
  const dir = join(parent, 'repository.git');
  const blobs = new Map<string, StoredBlob>();
  const known = new Set<string>();
  const packed = new Map<string, PackPlace & { path: string }>();
  let bytes = 0;
  let packs = 0;
  let pending: GitObject[] = [];
  /** A write failed: `known` names objects that are not there. */
  let isBroken = false;

  const file = (oid: string): string => join(dir, 'objects', oid.slice(0, 2), oid.slice(2));
  const write: ObjectStore['write'] = (type, body) => {
    const oid = createHash('sha1').update(`${type} ${body.length}\0`).update(body).digest('hex');
    if (known.has(oid)) return oid;
    pending.push({ oid, type, body });
    known.add(oid);
    bytes += body.length;
    return oid;
  };
  const flush = (): void => {
    if (pending.length === 0) return;
    const objects = pending;
    pending = [];
    isBroken = true;
    const { name, pack, index, places } = encodePack(objects);
    const path = join(dir, 'objects', 'pack', `pack-${name}`);
    writeFileSync(`${path}.pack`, pack);
    writeFileSync(`${path}.idx`, index);
    packs++;
    for (const [oid, place] of places) packed.set(oid, { path: `${path}.pack`, ...place });
    isBroken = false;
  };
  const reset = (): void => {
    discard(dir);
    blobs.clear();
    known.clear();
    packed.clear();
    bytes = 0;
    packs = 0;
    pending = [];
    isBroken = false;
    mkdirSync(join(dir, 'refs'), { recursive: true });
    mkdirSync(join(dir, 'objects', 'pack'), { recursive: true });
    for (let i = 0; i < 256; i++)
      mkdirSync(join(dir, 'objects', i.toString(16).padStart(2, '0')), { recursive: true });
    writeFileSync(join(dir, 'HEAD'), 'ref: refs/heads/none\n');
    writeFileSync(join(dir, 'config'), CONFIG);
  };
  reset();

  return {
    dir,
    blob: (sha256) => blobs.get(sha256),
    writeBlob(sha256, content) {
      const stored = { oid: write('blob', content), binary: isBinary(content), lines: countLines(content) };
      blobs.set(sha256, stored);
      return stored;
    },
    write,
    flush,
    read(oid) {
      const place = packed.get(oid);
      if (place) return inflateSync(readRange(place));
      const object = inflateSync(readFileSync(file(oid)));
      return object.subarray(object.indexOf(0) + 1);
    },
    isFull: () => isBroken || known.size > MAX_OBJECTS || bytes > MAX_BYTES || packs > MAX_PACKS,
    reset,
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}

function readRange({ path, offset, length }: PackPlace & { path: string }): Buffer {
  const bytes = Buffer.alloc(length);
  const handle = openSync(path, 'r');
  try {
    readSync(handle, bytes, 0, length, offset);
  } finally {
    closeSync(handle);
  }
  return bytes;
}

const isBinary = (content: Buffer): boolean => content.subarray(0, BINARY_PROBE).includes(0);

export function countLines(content: Buffer): number {
  let n = 0;
  for (let at = content.indexOf(10); at !== -1; at = content.indexOf(10, at + 1)) n++;
  return content.length > 0 && content.at(-1) !== 10 ? n + 1 : n;
}

/**
 * Deleting thousands of files takes seconds on some file systems: they are moved aside at once, and deleted
 * while work goes on.
 */
function discard(dir: string): void {
  const aside = `${dir}.${randomUUID()}`;
  try {
    renameSync(dir, aside);
  } catch {
    return; // there is none yet
  }
  rm(aside, { recursive: true, force: true }).catch(() => undefined);
}
