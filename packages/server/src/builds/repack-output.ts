/**
 * Turns the output directory, as the runner packed it, into the artifact's tar. Each entry is checked as it
 * comes, since untrusted code wrote it. The runner packs sorted by name, and the headers hold neither times
 * nor owners: equal files give equal bytes.
 */
import { createHash } from 'node:crypto';
import { TAR_END, tarHeader, tarPadding } from '@headrace/runner/tar';
import type { ManifestFile } from '../db/schema.ts';
import { escapeControls } from '../db/clean-text.ts';
import { checkPath, findCollisions } from '../trees/paths.ts';
import { readTar, type TarEntry } from '../trees/tar-reader.ts';
import type { BuildError } from './schemas.ts';

const MAX_FILES = 10_000;
const MAX_BYTES = 64 * 1024 * 1024;
/** Folders are in no artifact, but reading their names takes time. */
const MAX_FOLDERS = 100_000;
/**
 * Small files are passed on together; a longer one is hashed and compressed in slices, so that it does not
 * block the event loop.
 */
const CHUNK_BYTES = 256 * 1024;
const SHOWN = 500;

/** A rule for outputs that a build's output breaks. */
export class OutputFault extends Error {
  readonly code: Extract<BuildError, 'output_missing' | 'output_invalid' | 'output_too_large'>;
  constructor(code: OutputFault['code'], message: string) {
    super(message);
    this.name = 'OutputFault';
    this.code = code;
  }
}

const invalidPath = (path: string, fault: string) =>
  new OutputFault('output_invalid', `The output "${escapeControls(path.slice(0, SHOWN))}" ${fault}.`);

/**
 * Yields chunks of a tar of the regular files, each of which is added to `files`. Throws OutputFault, or what
 * reading `tar` throws.
 */
export async function* repackOutput(
  tar: AsyncIterable<Uint8Array>,
  files: ManifestFile[],
): AsyncGenerator<Buffer> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  for await (const part of parts(tar, files)) {
    pending.push(part);
    pendingBytes += part.length;
    if (pendingBytes < CHUNK_BYTES) continue;
    yield Buffer.concat(pending);
    pending = [];
    pendingBytes = 0;
  }
  yield Buffer.concat(pending);
}

async function* parts(tar: AsyncIterable<Uint8Array>, files: ManifestFile[]): AsyncGenerator<Buffer> {
  let [bytes, folders] = [0, 0];
  for await (const entry of readTar(tar)) {
    if (entry.kind === 'folder') {
      if (++folders > MAX_FOLDERS)
        throw new OutputFault(
          'output_too_large',
          `The output has more than ${MAX_FOLDERS.toLocaleString('en')} folders.`,
        );
      continue;
    }
    const path = pathOf(entry.path, entry.kind);
    if (files.length === MAX_FILES)
      throw new OutputFault(
        'output_too_large',
        `The output has more than ${MAX_FILES.toLocaleString('en')} files.`,
      );
    bytes += entry.byteSize;
    if (bytes > MAX_BYTES) throw new OutputFault('output_too_large', 'The output has more than 64 MiB.');
    const content = await entry.read();
    const hash = createHash('sha256');
    yield tarHeader({ path, byteSize: content.length, executable: entry.executable });
    for (let at = 0; at < content.length; at += CHUNK_BYTES) {
      const slice = content.subarray(at, at + CHUNK_BYTES);
      hash.update(slice);
      yield slice;
    }
    yield tarPadding(content.length);
    files.push({
      path,
      byteSize: content.length,
      sha256: hash.digest('hex'),
      mode: entry.executable ? '0755' : '0644',
    });
  }
  const [collision] = findCollisions(files.map((file) => file.path));
  if (collision) throw invalidPath(files[collision.index]!.path, collision.message);
  yield TAR_END;
}

/** A file's path below the output directory. */
function pathOf(name: string | null, kind: Exclude<TarEntry['kind'], 'folder'>): string {
  if (name === null)
    throw new OutputFault('output_invalid', 'The output has a file whose name is not UTF-8.');
  const path = name.replace(/^\.\//, '');
  if (kind !== 'file') throw invalidPath(path, 'is a link or a special file');
  const fault = checkPath(path);
  if (fault !== null) throw invalidPath(path, fault);
  return path;
}
