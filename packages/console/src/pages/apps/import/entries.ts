/** What a person drops or chooses, as a tree that is read only as far as it is wanted. */
export type Entry =
  | { kind: 'file'; name: string; file(): Promise<File> }
  | { kind: 'folder'; name: string; entries(): Promise<Entry[]> };

/** Has to be called while the drop is handled: its items are gone afterwards. */
export function droppedEntries(transfer: DataTransfer): Entry[] {
  return [...transfer.items].flatMap((item) => {
    const entry = item.kind === 'file' ? item.webkitGetAsEntry() : null;
    if (entry) return [entryOf(entry)];
    const file = item.getAsFile();
    return file ? [fileEntry(file, file.name)] : [];
  });
}

function entryOf(entry: FileSystemEntry): Entry {
  const { name } = entry;
  if (entry.isDirectory)
    return { kind: 'folder', name, entries: () => childrenOf(entry as FileSystemDirectoryEntry) };
  return {
    kind: 'file',
    name,
    file: () => new Promise((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject)),
  };
}

/** A reader gives some entries at a time, and none at the end. */
async function childrenOf(folder: FileSystemDirectoryEntry): Promise<Entry[]> {
  const reader = folder.createReader();
  const all: Entry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (some.length === 0) return all;
    all.push(...some.map(entryOf));
  }
}

const fileEntry = (file: File, name: string): Entry => ({
  kind: 'file',
  name,
  file: () => Promise.resolve(file),
});

interface Node {
  folders: Map<string, Node>;
  files: Entry[];
}

/** The files of a chosen folder, as the browser lists them: each with its path from the folder's name on. */
export function chosenEntries(files: readonly File[]): Entry[] {
  const top: Node = { folders: new Map(), files: [] };
  for (const file of files) {
    const parts = (file.webkitRelativePath || file.name).split('/');
    const name = parts.pop()!;
    let at = top;
    for (const part of parts) {
      const next: Node = at.folders.get(part) ?? { folders: new Map(), files: [] };
      at.folders.set(part, next);
      at = next;
    }
    at.files.push(fileEntry(file, name));
  }
  return entriesOf(top);
}

const entriesOf = ({ folders, files }: Node): Entry[] => [
  ...[...folders].map(([name, node]): Entry => ({
    kind: 'folder',
    name,
    entries: () => Promise.resolve(entriesOf(node)),
  })),
  ...files,
];
