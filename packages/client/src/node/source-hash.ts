import { createHash } from 'node:crypto';

export interface HashedFile {
  path: string;
  byteSize: number;
  sha256: string;
  executable: boolean;
}

/** The `source.sha256` of these files. */
export function sourceSha256(files: readonly HashedFile[]): string {
  const hash = createHash('sha256');
  for (const { path, byteSize, sha256, executable } of sortByPath([...files]))
    hash.update(`${executable ? '0755' : '0644'} ${sha256} ${byteSize} ${path}\n`);
  return hash.digest('hex');
}

/** Sorts in place by the bytes of the paths, which differs from UTF-16 order when there are surrogates. */
export function sortByPath<T extends { path: string }>(files: T[]): T[] {
  if (files.some(({ path }) => SURROGATE.test(path)))
    return files.sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
  return files.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}
const SURROGATE = /[\ud800-\udfff]/;

export const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
