/**
 * The content of a source: path → hash, size and mode. Where the bytes lie is not in it (that is a pack's
 * index), so that repacking rewrites no history.
 *
 * Binary form, for `bytea`: version byte, varint lengths of the two parts, a zstd frame with the columns
 * (paths joined by NUL, sizes, modes, removed paths) and the hashes raw, because they do not compress.
 * Columns instead of rows: 10,000 entries decode in 3 ms.
 */
import { createHash, hash } from 'node:crypto';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { comparePaths, sortByPath } from './paths.ts';
import { sameEntry } from './tree.ts';
import type { Entry, Tree } from './tree.ts';
import { VarintReader, VarintWriter } from './varint.ts';

export interface ManifestFile extends Entry {
  path: string;
}

const VERSION = 1;
const SHA_BYTES = 32;
/** 50,000 paths of 1,024 characters in UTF-8, and the numbers. */
const MAX_COLUMN_BYTES = 256 * 1024 * 1024;

export function sha256Of(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}

/** A manifest of files in any order. Sorts the list in place. */
export function manifestOf(files: ManifestFile[]): Tree {
  return new Map(
    sortByPath(files).map(({ path, sha256, byteSize, executable }) => [
      path,
      { sha256, byteSize, executable },
    ]),
  );
}

/**
 * The hash that a client can compute: over `<0644|0755> <sha256> <size> <path>\n` of every file in order of
 * the path bytes.
 */
export function sourceSha256(manifest: Tree): string {
  const digest = createHash('sha256');
  const lines: string[] = [];
  for (const [path, { sha256, byteSize, executable }] of manifest)
    lines.push(`${executable ? '0755' : '0644'} ${sha256} ${byteSize} ${path}\n`);
  return digest.update(lines.join('')).digest('hex');
}

export function totalBytes(manifest: Tree): number {
  let sum = 0;
  for (const { byteSize } of manifest.values()) sum += byteSize;
  return sum;
}

export function encodeManifest(manifest: Tree): Buffer {
  return encode([...manifest], []);
}

/** Throws when the bytes are damaged or of a newer version. */
export function decodeManifest(bytes: Uint8Array): Tree {
  return new Map(decode(bytes).entries);
}

/**
 * What turns `parent` into `child`: for a version that touches few files it is a small part of a full
 * manifest.
 */
export function encodeDelta(parent: Tree, child: Tree): Buffer {
  const removed: string[] = [];
  for (const path of parent.keys()) if (!child.has(path)) removed.push(path);
  return encode(
    [...child].filter(([path, entry]) => !sameEntry(parent.get(path), entry)),
    removed,
  );
}

/** The manifest whose delta to `parent` this is. Throws as `decodeManifest`. */
export function applyDelta(parent: Tree, delta: Uint8Array): Tree {
  const { entries, removed } = decode(delta);
  const changed = new Map<string, Entry | null>(entries);
  for (const path of removed) changed.set(path, null);
  const result = new Map<string, Entry>();
  let next = 0;
  for (const [path, entry] of parent) {
    while (next < entries.length && comparePaths(entries[next]![0], path) < 0)
      result.set(...entries[next++]!);
    const change = changed.get(path);
    if (change === undefined) result.set(path, entry);
    else if (change !== null) {
      result.set(path, change);
      next++;
    }
  }
  while (next < entries.length) result.set(...entries[next++]!);
  return result;
}

function encode(entries: [string, Entry][], removed: string[]): Buffer {
  const numbers = new VarintWriter();
  for (const [, { byteSize, executable }] of entries) numbers.write(byteSize * 2 + (executable ? 1 : 0));
  const paths = Buffer.from([...entries.map(([path]) => path), ...removed].join('\0'));
  const columns = Buffer.concat([numbers.finish(), paths]);
  const compressed = zstdCompressSync(columns, { params: { [constants.ZSTD_c_compressionLevel]: 3 } });
  const hashes = Buffer.from(entries.map(([, e]) => e.sha256).join(''), 'hex');
  const header = new VarintWriter()
    .write(VERSION)
    .write(entries.length)
    .write(removed.length)
    .write(columns.length)
    .write(compressed.length)
    .finish();
  return Buffer.concat([header, compressed, hashes]);
}

function decode(bytes: Uint8Array): { entries: [string, Entry][]; removed: string[] } {
  const header = new VarintReader(bytes);
  const version = header.read();
  if (version !== VERSION) throw new Error(`manifest of version ${version}`);
  const [count, removedCount, columnBytes, compressedBytes] = [
    header.read(),
    header.read(),
    header.read(),
    header.read(),
  ];
  const hashesAt = header.offset + compressedBytes;
  if (columnBytes > MAX_COLUMN_BYTES || bytes.length !== hashesAt + count * SHA_BYTES)
    throw new Error('damaged manifest');
  const columns = zstdDecompressSync(bytes.subarray(header.offset, hashesAt), {
    maxOutputLength: Math.max(columnBytes, 1),
  });
  const hashes = Buffer.from(bytes.buffer, bytes.byteOffset + hashesAt, count * SHA_BYTES).toString('hex');
  const numbers = new VarintReader(columns);
  const sizes = Array.from({ length: count }, () => numbers.read());
  const names = count + removedCount === 0 ? [] : columns.toString('utf8', numbers.offset).split('\0');
  if (names.length !== count + removedCount) throw new Error('damaged manifest');
  const entries = sizes.map((n, i): [string, Entry] => [
    names[i]!,
    { sha256: hashes.slice(i * 64, i * 64 + 64), byteSize: n >>> 1, executable: (n & 1) === 1 },
  ]);
  return { entries, removed: names.slice(count) };
}
