/**
 * Parsing, hashing and packing off the event loop. Bodies are parsed only while the contents kept in the
 * worker stay within a bound.
 */
import type { Worker } from 'node:worker_threads';
import { asBuffer, owned } from '../../buffers.ts';
import type { Refusal } from './bundle-rules.ts';
import type { CommitToRead, OpenedCommit, TooLarge } from './commit-reading.ts';
import type {
  EditedSource as EncodedEdit,
  EncodedPack,
  ImportFormat,
  ParsedEdit,
  ParsedImport,
  StagedSource,
} from './protocol.ts';
import type { ParsedSkill } from './skill.ts';
import type { SourceLimits } from '../../trees/limits.ts';
import { decodeManifest, encodeManifest } from '../../trees/manifest.ts';
import type { Tree } from '../../trees/tree.ts';
import type { Blob } from '../../trees/pack.ts';
import { PoolError, WorkerQueue } from './worker-queue.ts';

export type { Refusal } from './bundle-rules.ts';
export { PoolError } from './worker-queue.ts';

/** Contents that the worker keeps until they are packed or released, or for two minutes. */
export interface Handle {
  readonly id: number;
}

type WithManifest<T> = Omit<T, 'manifest' | 'fingerprint'> & {
  /** Decoded at its first use: 3 ms for 10,000 files. */
  readonly manifest: Tree;
  /** `encodeManifest(manifest)`. */
  manifestBytes: Buffer;
};
export type ImportedSource = WithManifest<ParsedImport> & { fingerprint: Buffer; handle: Handle };
export type EditRequest = Omit<ParsedEdit, 'fingerprint'> & { fingerprint: Buffer; handle: Handle };
type EditedSource = WithManifest<EncodedEdit>;
export type SkillRequest = Omit<ParsedSkill, 'fingerprint' | 'archive'> & {
  fingerprint: Buffer;
  archive: Buffer;
};

export interface Packed {
  bytes: Buffer;
  /** `encodeIndex` of the pack's index. */
  index: Buffer;
}

declare module '../../context.ts' {
  interface Context {
    /** Hashing, packing and parsing off the event loop. */
    pool: ImportPool;
  }
}

interface ImportPoolOptions {
  /** For one job in the worker. */
  timeoutMs?: number;
  /** Jobs that wait. */
  maxQueue?: number;
  /** Bytes of bodies whose contents are kept. */
  maxKeptBytes?: number;
  keepMs?: number;
}

interface Kept {
  byteSize: number;
  expiry: NodeJS.Timeout;
  /** Contents die with their worker. */
  worker: Worker;
}

const MIB = 1024 * 1024;

export class ImportPool {
  /** The thread and its queue; tests end the one and shorten the other's limit. */
  readonly jobs: WorkerQueue;
  readonly #maxKeptBytes: number;
  readonly #keepMs: number;
  readonly #kept = new Map<number, Kept>();
  #lastHandle = 0;

  constructor({
    timeoutMs = 60_000,
    maxQueue = 64,
    maxKeptBytes = 192 * MIB,
    keepMs = 120_000,
  }: ImportPoolOptions = {}) {
    this.jobs = new WorkerQueue({ timeoutMs, maxQueue });
    this.#maxKeptBytes = maxKeptBytes;
    this.#keepMs = keepMs;
  }

  /**
   * Parses and checks an import's body. `bytes` is handed over: do not use it afterwards. A refusal keeps nothing; otherwise pack or release `handle`. For gzip `message` and
   * `parentSourceId` are null (the query has them). An import by changes is an edit.
   */
  async parseImport(
    bytes: Uint8Array,
    format: ImportFormat,
  ): Promise<ImportedSource | EditRequest | Refusal> {
    const own = owned(bytes);
    const output = await this.#parse(own.length, (handle, start) =>
      this.jobs.run({
        operation: 'parseImport',
        input: { handle, bytes: own, format },
        transfer: [own.buffer],
        byteSize: own.length,
        ...start,
      }),
    );
    if (!output.ok) return output;
    const known = { ...output, fingerprint: asBuffer(output.fingerprint) };
    return 'manifest' in known ? withManifest(known) : known;
  }

  /** Parses an edit's body and checks what does not need its source. `bytes` is handed over. */
  async parseEdit(bytes: Uint8Array, limits: SourceLimits): Promise<EditRequest | Refusal> {
    const own = owned(bytes);
    const output = await this.#parse(own.length, (handle, start) =>
      this.jobs.run({
        operation: 'parseEdit',
        input: { handle, bytes: own, limits },
        transfer: [own.buffer],
        byteSize: own.length,
        ...start,
      }),
    );
    return output.ok ? { ...output, fingerprint: asBuffer(output.fingerprint) } : output;
  }

  /** Parses and packs a skill's body. `bytes` is handed over. */
  async parseSkill(bytes: Uint8Array, name: string): Promise<SkillRequest | Refusal> {
    const own = owned(bytes);
    const output = await this.jobs.run({
      operation: 'parseSkill',
      input: { bytes: own, name },
      transfer: [own.buffer],
      byteSize: own.length,
    });
    return output.ok
      ? { ...output, fingerprint: asBuffer(output.fingerprint), archive: asBuffer(output.archive) }
      : output;
  }

  /**
   * The source after the edit, or the faults that only `base` shows. The handle stays, also after a
   * refusal.
   */
  async applyEdit(handle: Handle, base: Tree, limits: SourceLimits): Promise<EditedSource | Refusal> {
    this.#claim(handle);
    const output = await this.jobs.run({
      operation: 'applyEdit',
      input: { handle: handle.id, manifest: encodeManifest(base), limits },
      byteSize: 0,
      isUrgent: true,
    });
    return output.ok ? withManifest(output) : output;
  }

  /** Packs the kept contents except those whose hashes the project has already. Ends the handle. */
  async packBlobs(handle: Handle, exclude: readonly string[]): Promise<Packed> {
    this.#claim(handle);
    try {
      return buffers(
        await this.jobs.run({
          operation: 'packBlobs',
          input: { handle: handle.id, exclude },
          byteSize: 0,
          isUrgent: true,
        }),
      );
    } finally {
      this.#forget(handle.id);
    }
  }

  /** Ends a handle without packing; harmless for one that has ended. */
  release(handle: Handle): void {
    if (this.#forget(handle.id))
      void this.jobs
        .run({ operation: 'release', input: { handle: handle.id }, byteSize: 0, isUrgent: true })
        .catch(() => null);
  }

  /**
   * Packs contents in the order given. Throws `ImportError` `content_mismatch` where one is not what its
   * hash says. The bytes are copied.
   */
  async packContents(blobs: readonly Blob[]): Promise<Packed> {
    return buffers(
      await this.jobs.run({
        operation: 'packContents',
        input: { blobs },
        byteSize: blobs.reduce((sum, b) => sum + b.bytes.length, 0),
      }),
    );
  }

  /** Lists what a commit of a repository on this machine holds. Ends with `closeCommit` or `release`. */
  openCommit(commit: CommitToRead): Promise<(OpenedCommit & { handle: Handle }) | TooLarge> {
    return this.#parse(0, (handle, start) =>
      this.jobs.run({
        operation: 'openCommit',
        input: { handle, ...commit },
        byteSize: 0,
        ...start,
      }),
    );
  }

  /**
   * Reads and hashes a part of `byteSize`, in a handle of its own; pack or release that. Each hash has 32
   * bytes.
   */
  async readCommitPart(
    commit: Handle,
    { part, byteSize }: { part: number; byteSize: number },
  ): Promise<{ handle: Handle; hashes: Buffer }> {
    const { handle, hashes } = await this.#parse(byteSize, (id, start) => {
      this.#claim(commit);
      return this.jobs.run({
        operation: 'readCommitPart',
        input: { handle: id, commit: commit.id, part },
        byteSize,
        ...start,
      });
    });
    return { handle, hashes: asBuffer(hashes) };
  }

  /** The source of a commit all of whose parts were read. Ends the handle. */
  async closeCommit(handle: Handle): Promise<WithManifest<StagedSource>> {
    this.#claim(handle);
    try {
      return withManifest(
        await this.jobs.run({
          operation: 'closeCommit',
          input: { handle: handle.id },
          byteSize: 0,
          isUrgent: true,
        }),
      );
    } finally {
      this.#forget(handle.id);
    }
  }

  /** How many handles have contents in the worker. */
  get keptCount(): number {
    return this.#kept.size;
  }

  /** Refuses what waits and runs, and ends the thread. */
  async close(): Promise<void> {
    for (const id of this.#kept.keys()) this.#forget(id);
    await this.jobs.close();
  }

  async #parse<Output extends { ok: boolean }>(
    byteSize: number,
    run: (
      handle: number,
      start: { mayStart: () => boolean; onStart: (worker: Worker) => void },
    ) => Promise<Output>,
  ): Promise<(Extract<Output, { ok: true }> & { handle: Handle }) | Extract<Output, { ok: false }>> {
    const handle = { id: ++this.#lastHandle };
    try {
      const output = await run(handle.id, {
        mayStart: () => this.#hasRoom(byteSize),
        onStart: (worker) => this.#keep(handle, byteSize, worker),
      });
      if (output.ok) return { ...(output as Extract<Output, { ok: true }>), handle };
      this.#forget(handle.id);
      return output as Extract<Output, { ok: false }>;
    } catch (error) {
      this.release(handle);
      throw error;
    }
  }

  #hasRoom(byteSize: number): boolean {
    let sum = 0;
    for (const [id, { byteSize, worker }] of this.#kept) {
      if (worker === this.jobs.worker) sum += byteSize;
      else this.#forget(id);
    }
    return sum === 0 || sum + byteSize <= this.#maxKeptBytes;
  }

  #keep(handle: Handle, byteSize: number, worker: Worker): void {
    this.#kept.set(handle.id, { byteSize, worker, expiry: this.#expiryOf(handle) });
  }

  #expiryOf(handle: Handle): NodeJS.Timeout {
    return setTimeout(() => this.release(handle), this.#keepMs).unref();
  }

  /** Gives the handle its whole time again, or throws when its contents are gone. */
  #claim(handle: Handle): void {
    const kept = this.#kept.get(handle.id);
    if (!kept || kept.worker !== this.jobs.worker)
      throw new PoolError('worker_lost', 'The contents are no longer there.');
    clearTimeout(kept.expiry);
    kept.expiry = this.#expiryOf(handle);
  }

  #forget(id: number): boolean {
    const kept = this.#kept.get(id);
    if (!kept) return false;
    clearTimeout(kept.expiry);
    this.#kept.delete(id);
    // The next job may start in this room, once the caller is done.
    queueMicrotask(() => this.jobs.wake());
    return true;
  }
}

function withManifest<T extends { manifest: Uint8Array }>(
  output: T,
): Omit<T, 'manifest'> & { manifest: Tree; manifestBytes: Buffer } {
  const manifestBytes = asBuffer(output.manifest);
  let manifest: Tree | undefined;
  // In place: a spread would decode at once.
  return Object.defineProperty({ ...output, manifestBytes }, 'manifest', {
    get: () => (manifest ??= decodeManifest(manifestBytes)),
    enumerable: true,
  }) as never;
}

function buffers({ bytes, index }: EncodedPack): Packed {
  return { bytes: asBuffer(bytes), index: asBuffer(index) };
}
