/**
 * Checks a downloaded artifact against its manifest: nothing of it is trusted or written before all of it is
 * checked.
 */
import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import type { Manifest } from './generated/types.ts';

export interface ArtifactFile {
  path: string;
  content: Uint8Array;
  mode: '0644' | '0755';
}

const BLOCK = 512;
/** 64 MiB of output and the blocks of 10,000 entries, each with a longer name. */
const INFLATED_LIMIT = 96 * 1024 * 1024;

/**
 * The files of a build. Throws Error when the artifact does not match its manifest, or a path would leave the
 * folder that it is unpacked to.
 */
export function readArtifact(artifact: Uint8Array, manifest: Manifest): ArtifactFile[] {
  if (sha256(artifact) !== manifest.artifactSha256)
    throw new Error('The artifact is not the one that its manifest tells of: its SHA-256 differs.');
  const expected = new Map(manifest.files.map((file) => [file.path, file]));
  const files = entriesOf(gunzipSync(artifact, { maxOutputLength: INFLATED_LIMIT }));
  for (const { path, content, mode } of files) {
    const file = expected.get(path);
    if (!file || !isInside(path))
      throw new Error(`The artifact has a file that may not be there: ${JSON.stringify(path)}`);
    if (content.length !== file.byteSize || sha256(content) !== file.sha256 || mode !== file.mode)
      throw new Error(`The artifact's file ${JSON.stringify(path)} is not as the manifest says.`);
    expected.delete(path);
  }
  if (expected.size > 0)
    throw new Error(
      `The artifact lacks ${expected.size} of the manifest's files, for example ${JSON.stringify([...expected.keys()][0])}`,
    );
  return files;
}

/** Regular files only; a POSIX extended header gives the name of the next entry. */
function entriesOf(tar: Buffer): ArtifactFile[] {
  const files: ArtifactFile[] = [];
  let longName: string | null = null;
  for (let at = 0; at + BLOCK <= tar.length && tar[at] !== 0;) {
    const header = tar.subarray(at, at + BLOCK);
    const size = octal(header, 124, 12);
    const content = tar.subarray(at + BLOCK, at + BLOCK + size);
    if (content.length !== size) throw new Error('The artifact ends amid a file.');
    const type = String.fromCharCode(header[156]!);
    if (type === 'x') longName = paxPath(content);
    else if (type === '0') {
      files.push({
        path: longName ?? text(header, 0, 100),
        content,
        mode: octal(header, 100, 8) & 0o100 ? '0755' : '0644',
      });
      longName = null;
    } else throw new Error('The artifact has an entry that is no regular file.');
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return files;
}

/** The `path` among records of the form `<length> <key>=<value>\n`. */
function paxPath(records: Buffer): string | null {
  let path: string | null = null;
  for (let at = 0; at < records.length;) {
    const length = Number.parseInt(records.subarray(at, at + 20).toString('latin1'), 10);
    if (!(length > 0)) throw new Error('The artifact has an extended header that cannot be read.');
    const record = records.subarray(at, at + length).toString();
    const start = record.indexOf(' ') + 1;
    if (record.startsWith('path=', start)) path = record.slice(start + 'path='.length, -1);
    at += length;
  }
  return path;
}

const text = (block: Buffer, start: number, length: number) =>
  block
    .subarray(start, start + length)
    .toString()
    .split('\0', 1)[0]!;
const octal = (block: Buffer, start: number, length: number) =>
  Number.parseInt(text(block, start, length).trim() || '0', 8);
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const isInside = (path: string) =>
  path !== '' &&
  !path.includes('\\') &&
  path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
