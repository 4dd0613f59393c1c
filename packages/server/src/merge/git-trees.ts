import type { ObjectStore } from './object-store.ts';

/** A file as git's trees have it. */
export interface GitFile {
  oid: string;
  executable: boolean;
}

type Folder = Map<string, Folder | GitFile>;

export const EMPTY_BLOB = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391';

/**
 * Writes the tree of these files and gives its id. `written` remembers the tree objects, so that reading a
 * result need not read them again.
 */
export function writeTree(
  store: Pick<ObjectStore, 'write'>,
  files: Iterable<[path: string, file: GitFile]>,
  written: Map<string, Buffer>,
): string {
  const root: Folder = new Map();
  for (const [path, file] of files) {
    const parts = path.split('/');
    const name = parts.pop()!;
    let folder = root;
    for (const part of parts) {
      let next = folder.get(part);
      if (!(next instanceof Map)) folder.set(part, (next = new Map()));
      folder = next;
    }
    folder.set(name, file);
  }
  return writeFolder(store, root, written);
}

function writeFolder(
  store: Pick<ObjectStore, 'write'>,
  folder: Folder,
  written: Map<string, Buffer>,
): string {
  const rows: { key: Buffer; row: Buffer }[] = [];
  for (const [name, value] of folder) {
    const isFolder = value instanceof Map;
    const oid = isFolder ? writeFolder(store, value, written) : value.oid;
    const mode = isFolder ? '40000' : value.executable ? '100755' : '100644';
    rows.push({
      key: Buffer.from(isFolder ? `${name}/` : name),
      row: Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, 'hex')]),
    });
  }
  // Git sorts a folder as if its name ended in a slash.
  rows.sort((a, b) => Buffer.compare(a.key, b.key));
  const body = Buffer.concat(rows.map((r) => r.row));
  const oid = store.write('tree', body);
  written.set(oid, body);
  return oid;
}

/** All files below a tree. */
export function* readTree(
  store: ObjectStore,
  oid: string,
  written: Map<string, Buffer>,
  prefix = '',
): Generator<[path: string, file: GitFile]> {
  const body = written.get(oid) ?? store.read(oid);
  for (let at = 0; at < body.length;) {
    const space = body.indexOf(32, at);
    const end = body.indexOf(0, space);
    const mode = body.toString('latin1', at, space);
    const path = prefix + body.toString('utf8', space + 1, end);
    const child = body.toString('hex', end + 1, end + 21);
    at = end + 21;
    if (mode === '40000') yield* readTree(store, child, written, `${path}/`);
    else yield [path, { oid: child, executable: mode === '100755' }];
  }
}

/** A commit of `tree`. Merging wants commits: git finds the base of a merge by their parents. */
export function writeCommit(store: ObjectStore, tree: string, message: string, parent?: string): string {
  const who = 'headrace <headrace> 0 +0000';
  return store.write(
    'commit',
    Buffer.from(
      `tree ${tree}\n${parent ? `parent ${parent}\n` : ''}author ${who}\ncommitter ${who}\n\n${message}\n`,
    ),
  );
}
