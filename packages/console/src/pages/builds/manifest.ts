/** The files of an artifact as a tree, and the difference of two artifacts. */
import type { Manifest } from '@headrace/client';

export type ManifestFile = Manifest['files'][number];

export interface TreeRow {
  path: string;
  name: string;
  depth: number;
  /** Null for a folder. */
  file: ManifestFile | null;
  /** Of all files below. */
  byteSize: number;
  fileCount: number;
}

interface Folder {
  path: string;
  folders: Map<string, Folder>;
  files: ManifestFile[];
  byteSize: number;
  fileCount: number;
}

const newFolder = (path: string): Folder => ({
  path,
  folders: new Map(),
  files: [],
  byteSize: 0,
  fileCount: 0,
});

/** Rows in the order of reading: folders first; below `closed` folders nothing. */
export function treeRows(files: readonly ManifestFile[], closed: ReadonlySet<string>): TreeRow[] {
  const root = newFolder('');
  for (const file of files) {
    let folder = root;
    const parts = file.path.split('/');
    for (const part of parts.slice(0, -1)) {
      const path = folder.path ? `${folder.path}/${part}` : part;
      let next = folder.folders.get(part);
      if (!next) folder.folders.set(part, (next = newFolder(path)));
      folder = next;
      folder.byteSize += file.byteSize;
      folder.fileCount++;
    }
    folder.files.push(file);
  }
  const rows: TreeRow[] = [];
  addRows(root, 0, { rows, closed });
  return rows;
}

function addRows(
  folder: Folder,
  depth: number,
  into: { rows: TreeRow[]; closed: ReadonlySet<string> },
): void {
  const { rows, closed } = into;
  for (const [name, inner] of [...folder.folders].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const { path, byteSize, fileCount } = inner;
    rows.push({ path, name, depth, file: null, byteSize, fileCount });
    if (!closed.has(path)) addRows(inner, depth + 1, into);
  }
  for (const file of folder.files) {
    const name = file.path.slice(file.path.lastIndexOf('/') + 1);
    rows.push({ path: file.path, name, depth, file, byteSize: file.byteSize, fileCount: 1 });
  }
}

/** Folders to begin with closed, so that many files are a short list. */
export function bigFolders(files: readonly ManifestFile[], most: number): Set<string> {
  if (files.length <= most) return new Set();
  return new Set(
    treeRows(files, new Set())
      .filter(({ file, fileCount }) => !file && fileCount > most / 4)
      .map(({ path }) => path),
  );
}

export interface Change {
  path: string;
  kind: 'added' | 'removed' | 'changed' | 'mode';
  /** Bytes before and after; null where the file is not there. */
  before: number | null;
  after: number | null;
}

export interface Comparison {
  changes: Change[];
  same: number;
  /** Of all files. */
  before: number;
  after: number;
}

/** What differs from `old` to `now`, by content and mode, sorted by path. */
export function compareManifests(
  old: Pick<Manifest, 'files' | 'byteSize'>,
  now: Pick<Manifest, 'files' | 'byteSize'>,
): Comparison {
  const olds = new Map(old.files.map((file) => [file.path, file]));
  const changes: Change[] = [];
  let same = 0;
  for (const { path, byteSize, sha256, mode } of now.files) {
    const was = olds.get(path);
    olds.delete(path);
    if (!was) changes.push({ path, kind: 'added', before: null, after: byteSize });
    else if (was.sha256 !== sha256)
      changes.push({ path, kind: 'changed', before: was.byteSize, after: byteSize });
    else if (was.mode !== mode) changes.push({ path, kind: 'mode', before: was.byteSize, after: byteSize });
    else same++;
  }
  for (const { path, byteSize } of olds.values())
    changes.push({ path, kind: 'removed', before: byteSize, after: null });
  changes.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  return { changes, same, before: old.byteSize, after: now.byteSize };
}
