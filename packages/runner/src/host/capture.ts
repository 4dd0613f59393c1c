import { createHash } from 'node:crypto';
import { constants, lstatSync, readdirSync, readFileSync, readlinkSync, type BigIntStats } from 'node:fs';
import { open, realpath, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { Gitignore, TooManySteps } from '../capture/gitignore.ts';
import { choose, DEPENDENCY_FOLDERS, RESERVED, SPECIAL } from '../capture/rules.ts';
import { RunnerError } from '../errors.ts';
import type { CaptureResult } from '../protocol.ts';
import { tarHeader, tarPadding, TAR_END, type TarEntry } from '../tar.ts';
import { isWithinReach, type Listed } from '../workspaces/listing.ts';
import { git, gitLine } from './git.ts';

const ENTRIES = 200_000;
/** As for a workspace of a runner. */
const CONTENT_BYTES = 1024 ** 3;
const GITIGNORE_BYTES = 256 * 1024;
const CHUNK_BYTES = 256 * 1024;
/** A file that was written within this time before it was hashed may be written again without looking different. */
const FRESH_NS = 2_000_000_000n;
const READS = 3;

/** What the last capture hashed: path → its content's identity. */
export type CapturedFiles = ReadonlyMap<string, Captured>;

/** The folder of a workspace, and what its last capture found. */
interface Capturable {
  folder: string;
  captured: CapturedFiles | null;
}
interface Captured extends TarEntry {
  sha256: string;
  identity: string;
  /** Whether it had long been as it was when it was hashed. */
  isSettled: boolean;
}

/**
 * Lists and hashes the source of a folder: what git, or .gitignore without a repository, does not ignore, but for dependency
 * and reserved folders and links. Throws `too_large` 413, and `changed` 409 while files are being written.
 */
export async function capture(workspace: Capturable, basePaths: string[]): Promise<CaptureResult> {
  const root = workspace.folder;
  const base = new Set(basePaths);
  const entries = (await isListedByGit(root)) ? await listByGit(root) : listByWalk(root, base);
  const { files, strays, warnings } = await choose(
    entries,
    { base, evidence: [], links: new Map() },
    (added) => Promise.resolve(new Uint8Array(added.length)),
  );
  if (files.reduce((sum, { byteSize }) => sum + byteSize, 0) > CONTENT_BYTES) throw tooLarge('files');
  const captured = new Map<string, Captured>();
  for (const { path } of files) {
    const file = await hashed(root, path, workspace.captured?.get(path));
    if (file) captured.set(path, file);
  }
  workspace.captured = captured;
  return {
    files: [...captured.values()].map(({ path, byteSize, sha256, executable }) => ({
      path,
      byteSize,
      sha256,
      executable,
    })),
    strays,
    warnings,
  };
}

/** The captured contents of these paths as a tar, in order. Throws `changed` 409 for what is not as it was captured. */
export async function blobs({ folder, captured }: Capturable, paths: string[]): Promise<Readable> {
  const wanted = paths.map((path) => captured?.get(path) ?? changed(path));
  for (const { path, identity } of wanted)
    if (!(await withFile(folder, path, async (_, stat) => identityOf(stat) === identity))) changed(path);
  return Readable.from(
    (async function* () {
      for (const file of wanted) {
        yield tarHeader(file);
        yield* contentOf(folder, file);
        yield tarPadding(file.byteSize);
      }
      yield TAR_END;
    })(),
    { objectMode: false },
  );
}

async function* contentOf(root: string, { path, byteSize, identity }: Captured): AsyncGenerator<Buffer> {
  const handle = await openInside(root, path);
  if (!handle) return changed(path);
  try {
    if (identityOf(await handle.stat({ bigint: true })) !== identity) changed(path);
    let left = byteSize;
    for await (const part of pieces(handle)) {
      left -= part.length;
      if (left < 0) changed(path);
      yield part;
    }
    if (left > 0) changed(path);
  } finally {
    await handle.close();
  }
}

/** Undefined when it is gone, or no regular file any more. Throws `changed` 409. */
async function hashed(
  root: string,
  path: string,
  before: Captured | undefined,
): Promise<Captured | undefined> {
  for (let tries = 0; tries < READS; tries++) {
    const file = await withFile(root, path, async (handle, stat) => {
      const identity = identityOf(stat);
      if (before?.isSettled && before.identity === identity) return before;
      const isSettled = BigInt(Date.now()) * 1_000_000n - stat.ctimeNs > FRESH_NS;
      const hash = createHash('sha256');
      for await (const part of pieces(handle)) hash.update(part);
      if (identityOf(await handle.stat({ bigint: true })) !== identity) return 'written';
      const executable = (stat.mode & 0o100n) !== 0n;
      return {
        path,
        byteSize: Number(stat.size),
        executable,
        sha256: hash.digest('hex'),
        identity,
        isSettled,
      };
    });
    if (file !== 'written') return file;
  }
  return changed(path);
}

async function* pieces(handle: FileHandle): AsyncGenerator<Buffer> {
  for (;;) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, null);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}

async function withFile<T>(
  root: string,
  path: string,
  body: (handle: FileHandle, stat: BigIntStats) => Promise<T>,
): Promise<T | undefined> {
  const handle = await openInside(root, path);
  if (!handle) return undefined;
  try {
    return await body(handle, await handle.stat({ bigint: true }));
  } finally {
    await handle.close();
  }
}

/** Opens a regular file below the root. A folder above it may have become a link since it was listed: then undefined. */
async function openInside(root: string, path: string): Promise<FileHandle | undefined> {
  const file = join(root, path);
  let handle: FileHandle;
  try {
    handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes((error as NodeJS.ErrnoException).code!)) return undefined;
    throw error;
  }
  const real = await realpath(process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : file).catch(
    () => '',
  );
  if (real === file && (await handle.stat()).isFile()) return handle;
  await handle.close();
  return undefined;
}

const identityOf = ({ dev, ino, size, mode, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, size, mode, mtimeNs, ctimeNs].join(' ');

/** In a repository, or a folder of one that it does not ignore as a whole. */
async function isListedByGit(root: string): Promise<boolean> {
  if ((await gitLine(root, ['rev-parse', '--is-inside-work-tree'])) !== 'true') return false;
  return (await gitLine(root, ['check-ignore', '--quiet', '.'])) === undefined;
}

async function listByGit(root: string): Promise<Listed[]> {
  const text = await git(root, ['ls-files', '-z', '--cached', '--others', '--exclude-standard']);
  // A path in conflict is listed for each of its sides.
  const names = [...new Set(text.split('\0').slice(0, -1))].sort();
  if (names.length > ENTRIES) throw tooLarge('number of files');
  return names.flatMap((name) => listed(root, name.replace(/\/$/, '')) ?? []);
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The entry of a name with one character per byte; undefined when there is nothing. */
function listed(root: string, name: string): Listed | undefined {
  const raw = Buffer.from(name, 'latin1');
  const file = Buffer.concat([Buffer.from(`${root}/`), raw]);
  let stat: BigIntStats | undefined;
  try {
    stat = lstatSync(file, { bigint: true, throwIfNoEntry: false });
  } catch {
    /* its path is too long, or leads through a file */
  }
  if (!stat) return undefined;
  const kind = stat.isFile()
    ? 'file'
    : stat.isDirectory()
      ? 'folder'
      : stat.isSymbolicLink()
        ? 'link'
        : 'other';
  const entry = {
    kind,
    mode: Number(stat.mode) & 0o7777,
    links: Number(stat.nlink),
    byteSize: Number(stat.size),
    inode: String(stat.ino),
    changedAt: String(stat.ctimeNs),
    ...(kind === 'link' ? { target: readlinkSync(file, 'latin1') } : {}),
  } as const;
  try {
    return { path: utf8.decode(raw), ...entry, bytes: undefined };
  } catch {
    return { path: raw.toString(), ...entry, bytes: name };
  }
}

/** A folder without git: never looks into what is left out as a whole. */
function listByWalk(root: string, base: ReadonlySet<string>): Listed[] {
  const baseFolders = new Set([...base].flatMap(foldersAbove));
  const ignore = new Gitignore();
  const entries: Listed[] = [];
  const folders = [''];
  try {
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      const names = namesIn(root, folder);
      if (names.includes('.gitignore')) ignore.add(folder, gitignoreIn(root, folder));
      for (const name of names) {
        const path = folder === '' ? name : `${folder}/${name}`;
        const entry = listed(root, path);
        if (!entry) continue;
        const isOfBase = base.has(entry.path) || baseFolders.has(entry.path);
        const isFolder = entry.kind === 'folder';
        if (!isOfBase && (isFolder ? ignore.ignoresFolder(path) : ignore.ignores(path))) continue;
        entries.push(entry);
        if (entries.length > ENTRIES) throw tooLarge('number of files');
        if (isFolder && isWithinReach(entry) && (isOfBase || !isLeftOut(name))) folders.push(path);
      }
    }
  } catch (error) {
    if (error instanceof TooManySteps) throw new RunnerError(413, 'too_large', error.message);
    throw error;
  }
  return entries;
}

const isLeftOut = (name: string): boolean =>
  SPECIAL.test(name) && (DEPENDENCY_FOLDERS.has(name) || RESERVED.has(name.toLowerCase()));

/** With one character per byte, sorted, so that two captures of the same files are the same. */
function namesIn(root: string, folder: string): string[] {
  const path = Buffer.concat([Buffer.from(`${root}/`), Buffer.from(folder, 'latin1')]);
  try {
    return readdirSync(path, 'latin1').sort();
  } catch {
    return []; // it is gone, or closed to us
  }
}

function gitignoreIn(root: string, folder: string): string {
  const file = listed(root, folder === '' ? '.gitignore' : `${folder}/.gitignore`);
  if (file?.kind !== 'file' || file.byteSize > GITIGNORE_BYTES || file.bytes !== undefined) return '';
  return readFileSync(join(root, file.path), 'latin1');
}

function foldersAbove(path: string): string[] {
  const segments = path.split('/');
  return segments.slice(1).map((_, i) => segments.slice(0, i + 1).join('/'));
}

function changed(path: string): never {
  throw new RunnerError(409, 'changed', `${path} is not as it was captured.`);
}

const tooLarge = (what: string): RunnerError =>
  new RunnerError(413, 'too_large', `The ${what} of the folder is too large to be captured.`);
