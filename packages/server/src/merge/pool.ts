/**
 * Merges and diffs off the event loop: one thread, started with the first request, that owns git. The
 * thread asks for trees and contents by message and this side reads them, so that it needs neither database
 * nor storage. A thread that dies or hangs is replaced; what it had under way is tried once more, but for
 * the request that took too long.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { deltaTo, packTree } from './packed-tree.ts';
import type { Answer, FromWorker, MergeOutput, Question, ToWorker, Work } from './protocol.ts';
import type { Conflict, DiffFile, ReadBlobs, Resolution } from './types.ts';
import type { Changes, Tree } from '../trees/tree.ts';
import type { TreeFault } from './validate.ts';
import { withChanges } from './with-changes.ts';

/** A tree that never changes under its id (a source). `load` is called only where the tree is not at hand. */
export interface TreeRef {
  id: string;
  load: () => Promise<Tree> | Tree;
}

export interface MergeRequest {
  base: TreeRef;
  head: TreeRef;
  draft: TreeRef;
  readBlobs: ReadBlobs;
  resolutions?: Resolution[];
}

export interface MergeResult {
  status: 'clean' | 'conflicted';
  /** The clean merge; what is in conflict stands as in the draft. */
  tree: Tree;
  /** From the head to `tree`; empty when they are equal. */
  changes: Changes;
  /** Contents that the merge made, by SHA-256: to be stored with the result. */
  newBlobs: Map<string, Buffer>;
  /** What is (still) in conflict, sorted by path bytes. */
  conflicts: Conflict[];
  /** Resolutions that cannot be, by their place. With any of these nothing is resolved. */
  faults: { index: number; message: string }[];
  /** Rules of bundles that a clean result breaks. */
  invalid: TreeFault[];
}

export interface MergePreview extends MergeResult {
  /** From the head to `tree`. */
  files: DiffFile[];
}

export interface MergeEngine {
  /** Rejects with MergeUnavailable, or with what `load` or `readBlobs` threw. */
  merge(request: MergeRequest): Promise<MergeResult>;
  /** As `merge`, with hunks in the conflicts and the diff to the head. */
  preview(request: MergeRequest): Promise<MergePreview>;
  diff(request: { from: TreeRef; to: TreeRef; readBlobs: ReadBlobs }): Promise<DiffFile[]>;
  /** Refuses what waits and is under way, ends thread and git. */
  close(): Promise<void>;
}

export class MergeUnavailable extends Error {
  readonly reason: 'busy' | 'timeout' | 'crashed' | 'failed' | 'closed';
  constructor(reason: MergeUnavailable['reason'], message: string) {
    super(message);
    this.name = 'MergeUnavailable';
    this.reason = reason;
  }
}

export interface MergeEngineOptions {
  /** A folder of this machine for scratch repositories, shared with other processes at will. */
  dir: string;
  log?: { warn: (details: object, message: string) => void };
  /** Requests that wait. */
  maxQueue?: number;
  /** For one request, reading included. */
  timeoutMs?: number;
}

interface Job {
  work: Work;
  trees: Map<string, TreeRef['load']>;
  readBlobs: ReadBlobs;
  attempts: number;
  /** What `load` or `readBlobs` threw: the answer to the caller, whatever the thread makes of it. */
  error?: unknown;
  timer?: NodeJS.Timeout;
  resolve: (output: MergeOutput | DiffFile[]) => void;
  reject: (error: unknown) => void;
}

/** Under way at once: while one waits for contents, git works on another. */
const MAX_ACTIVE = 4;
const MAX_ATTEMPTS = 2;
const CLOSE_MS = 2000;

export function createMergeEngine({
  dir,
  log,
  maxQueue = 256,
  timeoutMs = 60_000,
}: MergeEngineOptions): MergeEngine {
  removeAbandoned(dir);
  const own = join(dir, `merge-${process.pid}-${randomBytes(4).toString('hex')}`);
  const queue: Job[] = [];
  const active = new Map<number, Job>();
  const processes = new Set<number>();
  let worker: Worker | undefined;
  let lastJob = 0;
  let closed = false;

  function submit(work: Work, refs: TreeRef[], readBlobs: ReadBlobs): Promise<MergeOutput | DiffFile[]> {
    if (closed) return Promise.reject(new MergeUnavailable('closed', 'merging has been closed'));
    if (queue.length >= maxQueue)
      return Promise.reject(new MergeUnavailable('busy', `${queue.length} merges wait already`));
    const trees = new Map(refs.map((ref) => [ref.id, ref.load]));
    return new Promise((resolve, reject) => {
      queue.push({ work, trees, readBlobs, attempts: 0, resolve, reject });
      next();
    });
  }

  function next(): void {
    if (closed) return;
    while (active.size < MAX_ACTIVE && queue.length > 0) {
      const job = queue.shift()!;
      const id = ++lastJob;
      job.attempts++;
      active.set(id, job);
      job.timer = setTimeout(() => expire(id), timeoutMs);
      tell({ type: 'work', job: id, work: job.work });
    }
  }

  function settle(id: number, act: (job: Job) => void): void {
    const job = active.get(id);
    if (!job) return;
    active.delete(id);
    clearTimeout(job.timer);
    act(job);
    next();
  }

  function tell(message: ToWorker, transfer: ArrayBuffer[] = []): void {
    worker ??= start();
    worker.postMessage(message, transfer);
  }

  function start(): Worker {
    mkdirSync(own, { recursive: true });
    const started = new Worker(new URL('./merge.worker.ts', import.meta.url), {
      workerData: { dir: own },
      env: { PATH: process.env['PATH'] },
    });
    started.unref();
    started.on('message', (message: FromWorker) => {
      if (started === worker) hear(message);
    });
    started.on('error', (error) => log?.warn({ err: error }, 'the merge thread failed'));
    started.on('exit', () => {
      if (started === worker) replace();
    });
    return started;
  }

  function hear(message: FromWorker): void {
    if (message.type === 'ask') void answer(message.job, message.question, message.what);
    else if (message.type === 'done') settle(message.job, (job) => job.resolve(message.output));
    else if (message.type === 'failed')
      settle(message.job, (job) => job.reject(job.error ?? new MergeUnavailable('failed', message.message)));
    else if (message.type === 'process') processes[message.alive ? 'add' : 'delete'](message.pid);
  }

  async function answer(id: number, question: number, what: Question): Promise<void> {
    const job = active.get(id);
    const asker = worker;
    let found: Answer | null = null;
    try {
      if (job)
        found =
          what.about === 'tree'
            ? await treeAnswer(job.trees, what.id, what.near)
            : joined(what.shas, await job.readBlobs(what.shas));
    } catch (error) {
      job!.error = error;
    }
    if (asker === worker)
      asker?.postMessage(
        { type: 'answer', question, answer: found } satisfies ToWorker,
        found && 'bytes' in found ? [found.bytes.buffer] : [],
      );
  }

  function expire(id: number): void {
    log?.warn({ job: id, timeoutMs }, 'a merge took too long; its thread is replaced');
    const job = active.get(id);
    active.delete(id);
    job?.reject(new MergeUnavailable('timeout', `the merge took over ${timeoutMs} ms`));
    replace();
  }

  /**
   * Ends the thread, if it lives, with its git processes. What it had under way waits again, or is refused
   * the second time.
   */
  function replace(): void {
    const ended = worker;
    worker = undefined;
    void ended?.terminate();
    for (const pid of processes) kill(pid);
    processes.clear();
    const jobs = [...active.values()];
    active.clear();
    for (const job of jobs.toReversed()) {
      clearTimeout(job.timer);
      if (job.attempts < MAX_ATTEMPTS && !closed) queue.unshift(job);
      else
        job.reject(
          closed
            ? new MergeUnavailable('closed', 'merging has been closed')
            : new MergeUnavailable('crashed', 'the merge thread died twice'),
        );
    }
    next();
  }

  async function run(request: MergeRequest, preview: boolean): Promise<MergePreview> {
    const { base, draft, readBlobs, resolutions = [] } = request;
    const head = { id: request.head.id, load: once(request.head.load) };
    const output = (await submit(
      { kind: 'merge', base: base.id, head: head.id, draft: draft.id, resolutions, preview },
      [base, head, draft],
      readBlobs,
    )) as MergeOutput;
    return {
      ...output,
      tree: withChanges(await head.load(), output.changes),
      newBlobs: new Map(output.newBlobs.map(([sha256, bytes]) => [sha256, asBuffer(bytes)])),
    };
  }

  return {
    merge: (request) => run(request, false),
    preview: (request) => run(request, true),
    diff: ({ from, to, readBlobs }) =>
      submit({ kind: 'diff', from: from.id, to: to.id }, [from, to], readBlobs) as Promise<DiffFile[]>,
    async close() {
      closed = true;
      for (const job of queue.splice(0))
        job.reject(new MergeUnavailable('closed', 'merging has been closed'));
      if (worker && active.size === 0) await farewell(worker);
      replace();
      rmSync(own, { recursive: true, force: true });
    },
  };
}

/** Lets an idle thread end its git processes itself. */
async function farewell(worker: Worker): Promise<void> {
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  worker.postMessage({ type: 'close' } satisfies ToWorker, []);
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([
    ended,
    new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_MS);
    }),
  ]);
  clearTimeout(timer);
}

async function treeAnswer(trees: Job['trees'], id: string, near: string | null): Promise<Answer> {
  const tree = await trees.get(id)!();
  return (near !== null && deltaTo(tree, await trees.get(near)!())) || packTree(tree);
}

function once<T>(load: () => Promise<T> | T): () => Promise<T> | T {
  let value: Promise<T> | T | undefined;
  return () => (value ??= load());
}

/**
 * Contents in one fresh buffer, which is moved instead of copied; a slice of a pool would drag the whole
 * pool along.
 */
function joined(shas: string[], blobs: Map<string, Buffer>): Answer {
  const found = shas.map((sha) => blobs.get(sha)!);
  const bytes = new Uint8Array(found.reduce((sum, blob) => sum + blob.length, 0));
  let at = 0;
  for (const blob of found) {
    bytes.set(blob, at);
    at += blob.length;
  }
  return { sizes: found.map((blob) => blob.length), bytes };
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it has ended
  }
}

/** Repositories of processes that did not come to remove theirs. */
function removeAbandoned(dir: string): void {
  mkdirSync(dir, { recursive: true });
  for (const name of readdirSync(dir)) {
    const pid = Number(/^merge-(\d+)-[0-9a-f]{8}$/.exec(name)?.[1]);
    if (pid && !isAlive(pid)) rmSync(join(dir, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
