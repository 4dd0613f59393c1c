/** The state that the parts of one verification share. */
import { StorageUnavailableError } from '../../storage/object-store.ts';
import type { ObjectInfo } from '../../storage/object-store.ts';
import type { ReadableStore } from '../../storage/open-store.ts';
import type { Db } from '../../db/database.ts';
import type { Findings } from './findings.ts';

/** Grows while the verification works, so that the caller can report progress. */
export interface Tally {
  projects: number;
  sources: number;
  packs: number;
  artifacts: number;
  /** Of packs. */
  contents: number;
  /** Of contents and artifacts. */
  hashedBytes: number;
  /** Read from the store; all that were registered at the start. */
  bytes: number;
  totalBytes: number;
}

export interface Verification {
  db: Db;
  store: ReadableStore;
  slots: Slots;
  concurrency: number;
  tally: Tally;
  findings: Findings;
}

/** Limits the objects that are read at once, over all projects. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}

/**
 * Works on `atOnce` items at a time. After a failure it begins no further one, and throws when all that were
 * begun have ended.
 */
export async function forEachOf<T>(
  items: AsyncIterable<T> | Iterable<T>,
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = (async function* () {
    yield* items;
  })();
  let hasFailed = false;
  const worker = async () => {
    try {
      for (;;) {
        const next = await queue.next();
        if (next.done || hasFailed) return;
        await work(next.value);
      }
    } catch (error) {
      hasFailed = true;
      throw error;
    }
  };
  const failed = (await Promise.allSettled(Array.from({ length: atOnce }, worker))).find(
    (r) => r.status === 'rejected',
  );
  if (failed) throw failed.reason;
}

export function* batchesOf<T>(items: Iterable<T>, size: number): Generator<T[]> {
  let batch: T[] = [];
  for (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/**
 * The bytes, or null where the object is there and cannot be read: a bad sector. Throws
 * `StorageUnavailableError` where the store is away.
 */
export async function readRange(
  { store, tally }: Pick<Verification, 'store' | 'tally'>,
  key: string,
  start: number,
  end: number,
): Promise<Buffer | null> {
  const bytes = await orUnreadable(store, key, () => store.getRange(key, start, end));
  tally.bytes += bytes?.length ?? 0;
  return bytes;
}

async function orUnreadable(
  store: ReadableStore,
  key: string,
  read: () => Promise<Buffer>,
): Promise<Buffer | null> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof StorageUnavailableError)) throw error;
    await store.head(key);
    return read().catch((again: unknown) => {
      if (again instanceof StorageUnavailableError) return null;
      throw again;
    });
  }
}

/** The object's size and time, or null; with a fault where its size is not the registered one. */
export async function inspect(
  { store }: Pick<Verification, 'store'>,
  key: string,
  byteSize: number,
): Promise<{
  info: ObjectInfo | null;
  fault: { kind: 'object_missing' | 'object_size'; message: string } | null;
}> {
  const info = await store.head(key);
  if (!info) return { info, fault: { kind: 'object_missing', message: 'The object is not in the store.' } };
  if (info.byteSize === byteSize) return { info, fault: null };
  return {
    info,
    fault: {
      kind: 'object_size',
      message: `The object has ${info.byteSize} bytes; ${byteSize} were stored.`,
    },
  };
}
