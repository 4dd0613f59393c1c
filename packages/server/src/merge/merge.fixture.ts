/** For tests: trees from literals, and a real git's answer to the same merge in a real repository. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { comparePaths } from '../trees/paths.ts';
import type { ReadBlobs } from './types.ts';
import type { Entry, Tree } from '../trees/tree.ts';

export type Literal = Record<string, string | Buffer | { content: string | Buffer; executable: boolean }>;

export const sha256 = (content: string | Buffer): string =>
  createHash('sha256').update(content).digest('hex');
export const x = (content: string | Buffer): { content: string | Buffer; executable: boolean } => ({
  content,
  executable: true,
});
export const lines = (n: number, changed: Record<number, string> = {}): string =>
  Array.from({ length: n }, (_, i) => `${changed[i + 1] ?? `line ${i + 1}`}\n`).join('');

/** Every content that the literals of a test have, by SHA-256, and a count of what was read. */
export class Blobs {
  readonly byHash = new Map<string, Buffer>();
  readonly asked = new Set<string>();

  tree(literal: Literal): Tree {
    return new Map(
      Object.entries(literal)
        .sort(([p], [q]) => comparePaths(p, q))
        .map(([path, value]): [string, Entry] => {
          const { content, executable } =
            typeof value === 'string' || Buffer.isBuffer(value)
              ? { content: value, executable: false }
              : value;
          const bytes = Buffer.from(content);
          const hash = sha256(bytes);
          this.byHash.set(hash, bytes);
          return [path, { sha256: hash, byteSize: bytes.length, executable }];
        }),
    );
  }

  readonly read: ReadBlobs = async (shas) =>
    new Map(
      shas.map((sha) => {
        this.asked.add(sha);
        const bytes = this.byHash.get(sha);
        if (!bytes) throw new Error(`no content ${sha}`);
        return [sha, bytes];
      }),
    );

  /** `path` → `<mode> <content as latin1>`, with contents that a merge made. */
  show(tree: Tree, more = new Map<string, Buffer>()): Record<string, string> {
    return Object.fromEntries(
      [...tree]
        .map(([path, e]) => [
          path,
          `${e.executable ? '755' : '644'} ${(more.get(e.sha256) ?? this.byHash.get(e.sha256))!.toString('latin1')}`,
        ])
        .sort(),
    );
  }
}

export interface RealMerge {
  clean: boolean;
  files: Record<string, string>;
  names: string[];
}

/** A real repository, made by git's own commands. */
export class RealGit {
  readonly dir = mkdtempSync(join(tmpdir(), 'headrace-git-'));
  #n = 0;

  constructor() {
    this.run(['init', '-q', '--bare', '.']);
  }

  run(args: string[], input?: string | Buffer): Buffer {
    return execFileSync('git', args, {
      cwd: this.dir,
      input,
      env: { PATH: process.env['PATH'], HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' },
      stdio: ['pipe', 'pipe', 'pipe'],
      maxBuffer: 256 * 1024 * 1024,
    });
  }

  merge(blobs: Blobs, base: Tree, head: Tree, draft: Tree): RealMerge {
    const n = ++this.#n;
    const parts: Buffer[] = [];
    const commit = (name: string, tree: Tree, from?: string): void => {
      parts.push(
        Buffer.from(
          `commit refs/heads/${name}${n}\ncommitter a <a> 0 +0000\ndata 0\n${from ? `from refs/heads/${from}${n}\ndeleteall\n` : ''}`,
        ),
      );
      for (const [path, e] of tree) {
        const content = blobs.byHash.get(e.sha256)!;
        parts.push(
          Buffer.from(
            `M ${e.executable ? '100755' : '100644'} inline "${path.replaceAll('"', '\\"')}"\ndata ${content.length}\n`,
          ),
          content,
          Buffer.from('\n'),
        );
      }
    };
    commit('base', base);
    commit('head', head, 'base');
    commit('draft', draft, 'base');
    this.run(['fast-import', '--quiet'], Buffer.concat(parts));
    const out = this.#mergeTree(`head${n}`, `draft${n}`).toString('utf8').split('\0');
    const tree = out[0]!;
    const names = out.slice(1, out.indexOf('', 1)).filter((name) => !/~(head|draft)\d+(_\d+)?$/.test(name));
    const rows = this.run(['ls-tree', '-r', '-z', tree])
      .toString('utf8')
      .split('\0')
      .filter(Boolean)
      .map((row) => /^100(\d+) blob (\w+)\t(.*)$/s.exec(row)!);
    const contents = this.#contents(rows.map(([, , oid]) => oid!));
    const files = Object.fromEntries(
      rows.map(([, mode, , path], i): [string, string] => [path!, `${mode} ${contents[i]!}`]),
    );
    return {
      clean: names.length === 0 && out.length <= 2,
      files: Object.fromEntries(Object.entries(files).sort()),
      names,
    };
  }

  #contents(oids: string[]): string[] {
    const out = this.run(['cat-file', '--batch'], oids.map((oid) => `${oid}\n`).join(''));
    let at = 0;
    return oids.map(() => {
      const end = out.indexOf(10, at);
      const size = Number(out.toString('latin1', at, end).split(' ')[2]);
      at = end + size + 2;
      return out.toString('latin1', end + 1, end + 1 + size);
    });
  }

  #mergeTree(head: string, draft: string): Buffer {
    try {
      return this.run(['merge-tree', '--write-tree', '-z', '--name-only', head, draft]);
    } catch (error) {
      const { status, stdout } = error as { status: number; stdout: Buffer };
      if (status !== 1) throw error;
      return stdout;
    }
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }
}
