import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import {
  mkdir,
  open,
  opendir,
  readdir,
  rename,
  rm,
  rmdir,
  stat,
  unlink,
  type FileHandle,
} from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  ObjectNotFoundError,
  StorageUnavailableError,
  assertKey,
  assertPrefix,
  type ObjectInfo,
  type ObjectStore,
} from './object-store.ts';

/** Half-written objects lie here until they are renamed to their place. No key begins with a dot. */
const STAGING = '.staging';
const STALE_STAGING_MS = 60 * 60 * 1000;

/**
 * Objects as files below `root`, which is made at the start but never later: an empty folder must not
 * replace a volume that went away. Processes may share the folder.
 */
export async function createLocalStore(root: string): Promise<ObjectStore> {
  await mkdir(join(root, STAGING), { recursive: true, mode: 0o700 });
  return new LocalStore(resolve(root));
}

/** The same folder for readers, which is not made. Throws `StorageUnavailableError` where it is missing or empty. */
export async function openLocalStore(root: string): Promise<ObjectStore> {
  await assertThere(resolve(root));
  return new LocalStore(resolve(root));
}

class LocalStore implements ObjectStore {
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  async put(key: string, content: Uint8Array | Readable): Promise<void> {
    const target = fileOf(this.root, key);
    const staged = join(this.root, STAGING, randomUUID());
    try {
      await writeDurably(staged, content);
      await moveInto(staged, target);
    } catch (error) {
      await rm(staged, { force: true }).catch(() => null);
      throw storageError(error);
    }
  }

  async get(key: string): Promise<Buffer> {
    return useObject(this.root, key, (file) => file.readFile());
  }

  async getStream(key: string): Promise<Readable> {
    // Without a FileHandle: one that is dropped unread would end the process when it is collected.
    const stream = createReadStream(fileOf(this.root, key));
    await once(stream, 'open').catch((error) => openFault(this.root, error));
    return stream;
  }

  async getRange(key: string, start: number, end: number): Promise<Buffer> {
    return useObject(this.root, key, async (file) => {
      const buffer = Buffer.allocUnsafe(end - start);
      let filled = 0;
      while (filled < buffer.length) {
        const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, start + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return buffer.subarray(0, filled);
    });
  }

  async head(key: string): Promise<ObjectInfo | null> {
    try {
      const { size, mtime } = await stat(fileOf(this.root, key));
      return { key, byteSize: size, modifiedAt: mtime };
    } catch (error) {
      if (!isMissing(error)) throw storageError(error);
      await assertThere(this.root);
      return null;
    }
  }

  async delete(key: string): Promise<void> {
    await unlink(fileOf(this.root, key)).catch(async (error) => {
      if (!isMissing(error)) throw storageError(error);
      await assertThere(this.root);
    });
    await removeEmptyFolders(this.root, dirname(fileOf(this.root, key)));
  }

  async *list(prefix: string): AsyncIterable<ObjectInfo> {
    assertPrefix(prefix);
    // The last slash of the prefix is where the folder to walk ends and a name begins.
    const folder = join(this.root, prefix.slice(0, prefix.lastIndexOf('/') + 1));
    await assertThere(this.root);
    for await (const file of walk(folder)) {
      const key = relative(this.root, file).split(sep).join('/');
      if (!key.startsWith(prefix)) continue;
      const info = await this.head(key);
      if (info) yield info;
    }
  }

  async sweep(): Promise<void> {
    await removeStale(join(this.root, STAGING)).catch((error) => {
      throw storageError(error);
    });
  }

  async probe(): Promise<void> {
    const file = join(this.root, STAGING, `probe-${randomUUID()}`);
    try {
      await writeDurably(file, Buffer.from('probe'));
      await rm(file);
    } catch (error) {
      throw storageError(error);
    }
  }

  close(): void {}
}

function fileOf(root: string, key: string): string {
  assertKey(key);
  return join(root, ...key.split('/'));
}

async function openObject(root: string, key: string): Promise<FileHandle> {
  return open(fileOf(root, key), 'r').catch((error) => openFault(root, error));
}

async function openFault(root: string, error: unknown): Promise<never> {
  if (!isMissing(error)) throw storageError(error);
  await assertThere(root);
  throw new ObjectNotFoundError('there is no such object', { cause: error });
}

async function useObject<T>(root: string, key: string, use: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await openObject(root, key);
  try {
    return await use(file).catch((error) => {
      throw storageError(error);
    });
  } finally {
    await file.close();
  }
}

/** A folder may be removed as empty between making it and moving into it. */
async function moveInto(staged: string, target: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const made = await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    try {
      // A folder that was made now is durable once its parent is.
      if (made)
        for (let at = dirname(target); at.length >= made.length; at = dirname(at))
          await syncFolder(dirname(at));
      await rename(staged, target);
      return await syncFolder(dirname(target));
    } catch (error) {
      if (!isMissing(error) || attempt === 3) throw error;
    }
  }
}

async function removeEmptyFolders(root: string, folder: string): Promise<void> {
  for (let at = folder; at !== root; at = dirname(at)) {
    try {
      await rmdir(at);
    } catch {
      return;
    }
  }
}

async function writeDurably(path: string, content: Uint8Array | Readable): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    if (content instanceof Uint8Array) await file.writeFile(content);
    else
      await pipeline(content, async (chunks: AsyncIterable<Uint8Array>) => {
        for await (const chunk of chunks) await file.writeFile(chunk);
      });
    await file.sync();
  } finally {
    await file.close();
  }
}

/** In a volume that is away every object looks missing: readers would find it lost, and deletions done. */
async function assertThere(root: string): Promise<void> {
  const isEmpty = await isEmptyFolder(root).catch((error) => {
    throw storageError(error);
  });
  if (isEmpty) throw new StorageUnavailableError(`the folder ${root} is empty: is its volume away?`);
}

async function isEmptyFolder(path: string): Promise<boolean> {
  const folder = await opendir(path);
  try {
    return (await folder.read()) === null;
  } finally {
    await folder.close();
  }
}

/** Makes a rename durable. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function* walk(folder: string): AsyncGenerator<string> {
  let entries;
  try {
    entries = await opendir(folder);
  } catch (error) {
    if (isMissing(error)) return;
    throw storageError(error);
  }
  for await (const entry of entries) {
    if (entry.name.startsWith('.')) continue;
    if (entry.isDirectory()) yield* walk(join(folder, entry.name));
    else if (entry.isFile()) yield join(folder, entry.name);
  }
}

/** Removes what a killed process left. */
async function removeStale(folder: string): Promise<void> {
  const limit = Date.now() - STALE_STAGING_MS;
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const info = await stat(path).catch(() => null);
    if (info && info.mtimeMs < limit) await rm(path, { force: true });
  }
}

function isMissing(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** A fault of the caller's stream stays what it is. */
function storageError(error: unknown): unknown {
  return (error as NodeJS.ErrnoException).syscall === undefined
    ? error
    : new StorageUnavailableError('the folder of the objects cannot be used', { cause: error });
}
