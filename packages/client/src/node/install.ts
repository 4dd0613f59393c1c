/** Moves checked files into an existing folder, and overwrites nothing that would be lost. */
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Pace, withFile } from './open-file.ts';
import type { HashedFile } from './source-hash.ts';

export interface Installed {
  written: string[];
  /** Those of `written` that were there, with other content or another mode. */
  replaced: string[];
  deleted: string[];
  /** Files that were there already. */
  unchanged: number;
}

/** The folder has content that would be lost. Nothing was written. */
export class ChangedFilesError extends Error {
  override readonly name = 'ChangedFilesError';
  /** Relative to the folder. */
  readonly paths: readonly string[];

  constructor(paths: readonly string[]) {
    const more = paths.length === 1 ? '' : ` and ${paths.length - 1} more`;
    super(`The folder has different content at ${JSON.stringify(paths[0])}${more}. Nothing was written.`);
    this.paths = paths;
  }
}

interface Installation {
  files: readonly HashedFile[];
  known: ReadonlyMap<string, HashedFile>;
  /** Replaces files and links; never folders. */
  force: boolean;
}

export async function installFiles(
  tree: string,
  target: string,
  { files, known, force }: Installation,
): Promise<Installed> {
  const present = new Present(target);
  const pace = new Pace(undefined);
  const toWrite: string[] = [];
  const replaced: string[] = [];
  const lost = new Set<string>();
  const inTheWay = new Set<string>();
  for (const file of files) {
    await pace.due();
    const found = present.at(file.path);
    if (found.kind === 'file' && isSame(found.file, file)) continue;
    toWrite.push(file.path);
    if (found.kind === 'file') replaced.push(file.path);
    if (found.kind === 'folder') inTheWay.add(file.path);
    else if (found.kind === 'other') lost.add(found.path);
    else if (found.kind === 'file' && !isReplaceable(found.file, file, known.get(file.path)))
      lost.add(file.path);
  }
  const kept = force ? [...inTheWay] : [...inTheWay, ...lost];
  if (kept.length > 0) throw new ChangedFilesError(kept);
  const paths = new Set(toWrite);
  // Only what is above a file: at the path of a file, renaming replaces it, so the file is never missing.
  for (const path of lost) if (!paths.has(path)) rmSync(join(target, path));
  for (const path of toWrite) {
    mkdirSync(dirname(join(target, path)), { recursive: true });
    renameSync(join(tree, path), join(target, path));
  }
  const deleted = deleteKnown(target, files, known);
  return { written: toWrite, replaced, deleted, unchanged: files.length - toWrite.length };
}

/** Deletes files that were written to the folder earlier and have not changed since. */
function deleteKnown(
  target: string,
  files: readonly HashedFile[],
  known: ReadonlyMap<string, HashedFile>,
): string[] {
  const paths = new Set(files.map(({ path }) => path));
  const present = new Present(target);
  const deleted = [...known.values()].filter((before) => {
    const found = paths.has(before.path) ? null : present.at(before.path);
    return found?.kind === 'file' && isSame(found.file, before);
  });
  for (const { path } of deleted) {
    rmSync(join(target, path));
    removeEmpty(target, path);
  }
  return deleted.map(({ path }) => path);
}

function removeEmpty(target: string, path: string): void {
  for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) {
    try {
      rmdirSync(join(target, folder));
    } catch {
      return;
    }
  }
}

type Content = Pick<HashedFile, 'sha256' | 'executable'>;
type Found =
  | { kind: 'missing' | 'folder' }
  | { kind: 'file'; file: Content }
  /** A link or special file at the path or at a folder above it, or a file in place of a folder above it. */
  | { kind: 'other'; path: string };

/** The content of a folder, without following links. */
class Present {
  readonly #target: string;
  /** What is in place of folders. */
  readonly #folders = new Map<string, Found>();

  constructor(target: string) {
    this.#target = target;
  }

  at(path: string): Found {
    const above = this.#above(path);
    if (above !== null) return above;
    const found = this.#entry(path);
    if (found !== 'file') return found;
    const file = withFile(join(this.#target, path), ({ executable, read }) => {
      const hash = createHash('sha256');
      read((piece) => hash.update(piece));
      return { executable, sha256: hash.digest('hex') };
    });
    return file ? { kind: 'file', file } : { kind: 'other', path };
  }

  /** Null if all folders above the path exist and are folders. */
  #above(path: string): Found | null {
    const slash = path.lastIndexOf('/');
    if (slash < 0) return null;
    const folder = path.slice(0, slash);
    let found = this.#folders.get(folder);
    if (found === undefined) {
      const entry = this.#above(folder) ?? this.#entry(folder);
      found = entry === 'file' ? { kind: 'other', path: folder } : entry;
      this.#folders.set(folder, found);
    }
    return found.kind === 'folder' ? null : found;
  }

  #entry(path: string): Found | 'file' {
    const stat = lstatSync(join(this.#target, path), { throwIfNoEntry: false });
    if (stat === undefined) return { kind: 'missing' };
    if (stat.isDirectory()) return { kind: 'folder' };
    return stat.isFile() ? 'file' : { kind: 'other', path };
  }
}

const isSame = (a: Content, b: Content): boolean => a.sha256 === b.sha256 && a.executable === b.executable;

/** Nothing is lost if only the mode differs, or if the file is as it was written earlier. */
const isReplaceable = (found: Content, file: Content, before: Content | undefined): boolean =>
  found.sha256 === file.sha256 || (before !== undefined && isSame(found, before));
