/**
 * Extracts an archive into a folder: first into a temporary folder, where the files are checked, then by renaming.
 * A process that is killed leaves the folder as it was, or with some of its files replaced, each of them whole.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { installFiles } from './install.ts';
import type { Installed } from './install.ts';
import { codeOf, Pace } from './open-file.ts';
import { sha256Of } from './source-hash.ts';
import type { HashedFile } from './source-hash.ts';
import { readTarGz } from './tar-reader.ts';
import type { Archive, Limits } from './tar-reader.ts';

export interface ExtractOptions {
  /** Replaces files that differ, which otherwise end the extraction. A file never replaces a folder. */
  force?: boolean;
  signal?: AbortSignal;
}

export interface Extraction extends ExtractOptions {
  limits: Limits;
  /** Throws if something is wrong with the files. */
  check(files: readonly HashedFile[]): void;
  /** The files of the last write: those still unchanged are replaced, or deleted if the archive lacks them. */
  known?: ReadonlyMap<string, HashedFile>;
}

const LIMITS: Limits = { files: 100_000, bytes: 1024 ** 3 };

/**
 * Writes the files of a tar.gz into `folder`, which is created if it is missing; other files in it stay. Throws
 * ArchiveError for an archive that is damaged or has anything but regular files below the folder, and
 * ChangedFilesError; then nothing is written.
 */
export const extract = (archive: Archive, folder: string, options: ExtractOptions = {}): Promise<Installed> =>
  extractChecked(archive, folder, { ...options, limits: LIMITS, check: () => {} });

export async function extractChecked(
  archive: Archive,
  folder: string,
  { limits, check, force = false, signal, known = new Map() }: Extraction,
): Promise<Installed> {
  const place = await placeOf(resolve(folder));
  await removeLeftovers(place);
  const temporary = await mkdtemp(join(place.folder, place.prefix));
  try {
    // In an existing folder, neither git nor a push should see it.
    await writeFile(join(temporary, '.gitignore'), '*\n');
    const tree = join(temporary, 'files');
    await mkdir(tree);
    const files = await writeAll(archive, tree, { limits, signal });
    check(files);
    signal?.throwIfAborted();
    if (place.target !== null) return await installFiles(tree, place.target, { files, known, force });
    await rename(tree, resolve(folder));
    return { written: files.map(({ path }) => path), replaced: [], deleted: [], unchanged: 0 };
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

interface Place {
  /** The existing folder, or null. */
  target: string | null;
  /** For temporary folders. */
  folder: string;
  prefix: string;
}

/** Temporary files go into an existing folder: it may be a separate mount, and a rename cannot cross mounts. */
async function placeOf(folder: string): Promise<Place> {
  try {
    const target = await realpath(folder);
    return { target, folder: target, prefix: '.headrace-extract-' };
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    const parent = dirname(folder);
    await mkdir(parent, { recursive: true });
    return { target: null, folder: parent, prefix: `.${basename(folder)}.headrace-extract-` };
  }
}

const LEFTOVER_MS = 60 * 60_000;

/** The part of the name that `mkdtemp` adds. */
const RANDOM = /^[A-Za-z0-9]{6}$/;

/** Removes what killed processes left behind, and nothing with a similar name. No extraction takes an hour. */
async function removeLeftovers({ folder, prefix }: Place): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(prefix) || !RANDOM.test(name.slice(prefix.length))) continue;
    const path = join(folder, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > LEFTOVER_MS) await rm(path, { recursive: true, force: true });
  }
}

async function writeAll(
  archive: Archive,
  tree: string,
  { limits, signal }: Pick<Extraction, 'limits' | 'signal'>,
): Promise<HashedFile[]> {
  const files: HashedFile[] = [];
  const made = new Set([tree]);
  const pace = new Pace(signal);
  for await (const { path, content, executable } of readTarGz(archive, limits)) {
    const full = join(tree, path);
    const folder = dirname(full);
    if (!made.has(folder)) mkdirSync(folder, { recursive: true });
    made.add(folder);
    writeFileSync(full, content, { flag: 'wx', mode: executable ? 0o755 : 0o644 });
    files.push({ path, byteSize: content.length, sha256: sha256Of(content), executable });
    const waiting = pace.due();
    if (waiting) await waiting;
  }
  return files;
}
