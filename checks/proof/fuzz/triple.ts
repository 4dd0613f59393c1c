import { createHash } from 'node:crypto';
import { comparePaths, checkPath, findCollisions } from '../../../packages/server/src/trees/paths.ts';
import type { ReadBlobs, Sides } from '../../../packages/server/src/merge/types.ts';
import type { Entry, Tree } from '../../../packages/server/src/trees/tree.ts';

export interface File {
  content: Buffer;
  executable: boolean;
}

export type Files = Map<string, File>;

export const SIDES = ['base', 'head', 'draft'] as const;

/** A generated merge: three trees that could be sources. */
export interface Triple {
  generator: string;
  base: Files;
  head: Files;
  draft: Files;
}

/** Text is held with a character for each byte, so that any bytes can be generated and edited by lines. */
export const fileOf = (text: string, executable = false): File => ({
  content: Buffer.from(text, 'latin1'),
  executable,
});
export const textOf = (file: File): string => file.content.toString('latin1');

/** Without what no source may hold: bad names, and names that exclude each other. */
export function asSource(files: Files): Files {
  const paths = [...files.keys()].filter((path) => checkPath(path) === null);
  const bad = new Set(findCollisions(paths).map(({ index }) => index));
  return new Map(paths.filter((_, i) => !bad.has(i)).map((path) => [path, files.get(path)!]));
}

/** What the engine is given of triples, and git's ids of the same contents. */
export class Contents {
  readonly #known = new Map<Buffer, { sha256: string; oid: string }>();
  readonly #bytes = new Map<string, { bytes: Buffer; oid: string }>();

  sidesOf({ base, head, draft }: Triple): Sides {
    return { base: this.#tree(base), head: this.#tree(head), draft: this.#tree(draft) };
  }

  oidOf(sha256: string): string | undefined {
    return this.#bytes.get(sha256)?.oid;
  }

  readonly readBlobs: ReadBlobs = async (shas) =>
    new Map(shas.map((sha256) => [sha256, this.#bytes.get(sha256)!.bytes]));

  #tree(files: Files): Tree {
    return new Map(
      [...files]
        .sort(([a], [b]) => comparePaths(a, b))
        .map(([path, { content, executable }]): [string, Entry] => [
          path,
          { sha256: this.#learn(content), byteSize: content.length, executable },
        ]),
    );
  }

  #learn(content: Buffer): string {
    const known = this.#known.get(content);
    if (known) return known.sha256;
    const sha256 = createHash('sha256').update(content).digest('hex');
    const oid = createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
    this.#known.set(content, { sha256, oid });
    this.#bytes.set(sha256, { bytes: content, oid });
    return sha256;
  }
}
