/** For tests and benchmarks: the real repositories of fixtures/histories, cloned into a temporary folder and read whole by one git process. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { comparePaths } from '../sources/paths.ts';
import type { Entry, ReadBlobs, Tree } from './types.ts';

export const HISTORIES = ['spinnaker', 'desk', 'storable'] as const;

const BUNDLES = fileURLToPath(new URL('../../../../fixtures/histories/', import.meta.url));
const ENVIRONMENT = { HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', LC_ALL: 'C' };

export interface Commit {
  oid: string;
  tree: string;
  /** The first is the branch that was merged into. */
  parents: string[];
}

interface Content {
  sha256: string;
  bytes: Buffer;
}

export class History {
  /** The bare repository. */
  readonly dir: string;
  /** Newest first, by git's order. */
  readonly commits: Commit[];
  readonly byHash = new Map<string, Buffer>();
  readonly #blobs = new Map<string, Content>();
  readonly #folders = new Map<string, Buffer>();
  readonly #trees = new Map<string, Tree>();

  constructor(name: (typeof HISTORIES)[number]) {
    this.dir = mkdtempSync(join(tmpdir(), `headrace-${name}-`));
    this.git(['clone', '-q', '--bare', join(BUNDLES, `${name}.bundle`), '.']);
    const commits = new Map<string, Commit>();
    for (const { oid, type, body } of objectsOf(this.git(['cat-file', '--batch-all-objects', '--batch']))) {
      if (type === 'tree') this.#folders.set(oid, body);
      else if (type === 'commit') commits.set(oid, commitOf(oid, body));
      else if (type === 'blob') this.#keep(oid, body);
    }
    this.commits = this.git(['rev-list', 'main']).toString('latin1').trim().split('\n').map((oid) => commits.get(oid)!);
  }

  /** What git answers; its exit codes in `accept` are no failure. */
  git(args: string[], { input, env = {}, accept = [0] }: { input?: string | Buffer; env?: Record<string, string>; accept?: number[] } = {}): Buffer {
    try {
      return execFileSync('git', args, { cwd: this.dir, input, env: { ...ENVIRONMENT, PATH: process.env['PATH'], ...env }, stdio: ['pipe', 'pipe', 'pipe'], maxBuffer: 512 * 1024 * 1024 });
    } catch (error) {
      const { status, stdout } = error as { status: number | null; stdout: Buffer };
      if (status === null || !accept.includes(status)) throw error;
      return stdout;
    }
  }

  /** The files of a tree, by the id of the tree. */
  tree(oid: string): Tree {
    const known = this.#trees.get(oid);
    if (known) return known;
    const tree: Tree = new Map([...this.#files(oid, '')].sort(([p], [q]) => comparePaths(p, q)));
    this.#trees.set(oid, tree);
    return tree;
  }

  readonly read: ReadBlobs = async (shas) => new Map(shas.map((sha) => {
    const bytes = this.byHash.get(sha);
    if (!bytes) throw new Error(`no content ${sha}`);
    return [sha, bytes];
  }));

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }

  #keep(oid: string, bytes: Buffer): void {
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    this.#blobs.set(oid, { sha256, bytes });
    this.byHash.set(sha256, bytes);
  }

  * #files(oid: string, prefix: string): Generator<[path: string, entry: Entry]> {
    const body = this.#folders.get(oid)!;
    for (let at = 0; at < body.length;) {
      const space = body.indexOf(32, at);
      const end = body.indexOf(0, space);
      const mode = body.toString('latin1', at, space);
      const path = prefix + body.toString('utf8', space + 1, end);
      const child = body.toString('hex', end + 1, end + 21);
      at = end + 21;
      if (mode === '40000') yield* this.#files(child, `${path}/`);
      else if (mode === '100644' || mode === '100755') yield [path, entryOf(this.#blobs.get(child)!, mode === '100755')];
      else throw new Error(`${path} is no file: these histories have neither links nor submodules`);
    }
  }
}

const entryOf = ({ sha256, bytes }: Content, executable: boolean): Entry => ({ sha256, byteSize: bytes.length, executable });

function* objectsOf(batch: Buffer): Generator<{ oid: string; type: string; body: Buffer }> {
  for (let at = 0; at < batch.length;) {
    const end = batch.indexOf(10, at);
    const [oid = '', type = '', size = ''] = batch.toString('latin1', at, end).split(' ');
    yield { oid, type, body: batch.subarray(end + 1, end + 1 + Number(size)) };
    at = end + Number(size) + 2;
  }
}

function commitOf(oid: string, body: Buffer): Commit {
  const head = body.subarray(0, body.indexOf('\n\n')).toString('latin1').split('\n');
  const values = (name: string): string[] => head.flatMap((line) => (line.startsWith(`${name} `) ? [line.slice(name.length + 1)] : []));
  return { oid, tree: values('tree')[0]!, parents: values('parent') };
}
