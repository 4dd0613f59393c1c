/** The files of a source. */
import { sha256 } from './sha256.ts';
import type { Entry, Files } from './world.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export const entryOf = (bytes: Uint8Array, executable = false): Entry => ({
  bytes,
  sha256: sha256(bytes),
  executable,
});
export const textEntry = (text: string, executable = false): Entry =>
  entryOf(encoder.encode(text), executable);

/** The text of a file; null if it is not text. */
export function textOf({ bytes }: Entry): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}

/** The file as answers show it. */
export function contentOf(entry: Entry): { encoding: 'utf8' | 'base64'; content: string } {
  const text = textOf(entry);
  if (text !== null) return { encoding: 'utf8', content: text };
  return { encoding: 'base64', content: btoa(String.fromCharCode(...entry.bytes)) };
}

export const isSame = (a: Entry | undefined, b: Entry | undefined): boolean =>
  a?.sha256 === b?.sha256 && a?.executable === b?.executable;

export const sorted = (files: Iterable<[string, Entry]>): Files =>
  new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)));

export const treeHash = (files: Files): string =>
  sha256(
    encoder.encode(
      [...files]
        .map(
          ([path, { sha256: hash, bytes, executable }]) =>
            `${executable ? '0755' : '0644'} ${hash} ${bytes.length} ${path}\n`,
        )
        .join(''),
    ),
  );
