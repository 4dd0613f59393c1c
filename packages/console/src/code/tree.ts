/** Paths as a tree of folders; folders with one folder in them are one row. */
export interface TreeRow {
  /** Of a folder: its path. */
  path: string;
  name: string;
  depth: number;
  isFolder: boolean;
  /** Files below it, of a folder. */
  count: number;
  /** Index of the file in the list that was given; -1 of a folder. */
  index: number;
}

interface Folder {
  path: string;
  folders: Map<string, Folder>;
  files: { name: string; index: number }[];
  count: number;
}

/** Rows of a tree in reading order: folders first, by name. What is below a folder in `closed` is left out. */
export function treeRows(paths: readonly string[], closed: ReadonlySet<string>): TreeRow[] {
  const rows: TreeRow[] = [];
  addRows(rows, folderOf(paths), 0, closed);
  return rows;
}

/** Indices of the paths in the tree's order. */
export function treeOrder(paths: readonly string[]): number[] {
  return treeRows(paths, new Set()).flatMap(({ isFolder, index }) => (isFolder ? [] : [index]));
}

function folderOf(paths: readonly string[]): Folder {
  const root: Folder = { path: '', folders: new Map(), files: [], count: 0 };
  for (const [index, path] of paths.entries()) {
    const names = path.split('/');
    const name = names.pop()!;
    let folder = root;
    folder.count++;
    for (const part of names) {
      let next = folder.folders.get(part);
      if (next === undefined) {
        next = {
          path: folder.path === '' ? part : `${folder.path}/${part}`,
          folders: new Map(),
          files: [],
          count: 0,
        };
        folder.folders.set(part, next);
      }
      folder = next;
      folder.count++;
    }
    folder.files.push({ name, index });
  }
  return root;
}

function addRows(rows: TreeRow[], folder: Folder, depth: number, closed: ReadonlySet<string>): void {
  for (const [name, child] of [...folder.folders].toSorted(byName)) {
    let [inner, said] = [child, name];
    while (inner.files.length === 0 && inner.folders.size === 1) {
      const [[nextName, next]] = [...inner.folders] as [[string, Folder]];
      [inner, said] = [next, `${said}/${nextName}`];
    }
    rows.push({ path: inner.path, name: said, depth, isFolder: true, count: inner.count, index: -1 });
    if (!closed.has(inner.path)) addRows(rows, inner, depth + 1, closed);
  }
  for (const { name, index } of folder.files.toSorted((a, b) => compare(a.name, b.name)))
    rows.push({ path: join(folder.path, name), name, depth, isFolder: false, count: 0, index });
}

const byName = ([left]: [string, Folder], [right]: [string, Folder]) => compare(left, right);
const compare = (left: string, right: string) => (left < right ? -1 : left > right ? 1 : 0);
const join = (folder: string, name: string) => (folder === '' ? name : `${folder}/${name}`);
