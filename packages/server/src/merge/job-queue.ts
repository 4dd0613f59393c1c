/**
 * The jobs of the engine and the thread that does them.
 *
 *   queued → active → resolved or failed, as the thread answers
 *   queued → refused (queue full, or closed)
 *   active → refused (timeout: its thread is replaced)
 *   active → queued (the thread was replaced), and refused the second time
 */
import { rmSync } from 'node:fs';
import { MergeJob, type Output, type TreeRef } from './job.ts';
import type { FromWorker, Question, Work } from './protocol.ts';
import { scratchPath } from './scratch.ts';
import { MergeThread, type Log } from './thread.ts';
import type { ReadBlobs } from './types.ts';
import { MergeUnavailable } from './unavailable.ts';

export interface QueueOptions {
  /** A folder of this machine for scratch repositories; other processes may share it. */
  dir: string;
  log?: Log;
  /** Requests that wait. */
  maxQueue?: number;
  /** For one request, reading included. */
  timeoutMs?: number;
}

/** Under way at once: while one waits for contents, git works on another. */
const MAX_ACTIVE = 4;
const MAX_ATTEMPTS = 2;

export class JobQueue {
  readonly #folder: string;
  readonly #log: Log | undefined;
  readonly #maxQueue: number;
  readonly #timeoutMs: number;
  readonly #queue: MergeJob[] = [];
  readonly #active = new Map<number, MergeJob>();
  #thread: MergeThread | undefined;
  #lastJob = 0;
  #isClosed = false;

  constructor({ dir, log, maxQueue = 256, timeoutMs = 60_000 }: QueueOptions) {
    this.#folder = scratchPath(dir);
    this.#log = log;
    this.#maxQueue = maxQueue;
    this.#timeoutMs = timeoutMs;
  }

  /** Rejects with MergeUnavailable, or with what a tree's `load` or `readBlobs` threw. */
  async run(work: Work, trees: readonly TreeRef[], readBlobs: ReadBlobs): Promise<Output> {
    if (this.#isClosed) throw closed();
    if (this.#queue.length >= this.#maxQueue)
      throw new MergeUnavailable('busy', `${this.#queue.length} merges wait already`);
    const job = new MergeJob(work, trees, readBlobs);
    this.#queue.push(job);
    this.#next();
    return job.output;
  }

  /** Refuses what waits and is under way; ends the thread and removes its repository. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const job of this.#queue.splice(0)) job.refuse(closed());
    if (this.#active.size === 0) await this.#thread?.leave();
    this.#replaceThread();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #next(): void {
    if (this.#isClosed) return;
    while (this.#active.size < MAX_ACTIVE && this.#queue.length > 0) {
      const job = this.#queue.shift()!;
      const id = ++this.#lastJob;
      job.attempts++;
      this.#active.set(id, job);
      job.timer = setTimeout(() => this.#expire(id), this.#timeoutMs);
      this.#thread ??= this.#startThread();
      this.#thread.send({ type: 'work', job: id, work: job.work });
    }
  }

  #startThread(): MergeThread {
    const thread = new MergeThread({
      folder: this.#folder,
      log: this.#log,
      onMessage: (message) => this.#receive(thread, message),
      onExit: () => this.#replaceThread(),
    });
    return thread;
  }

  #receive(thread: MergeThread, message: FromWorker): void {
    if (message.type === 'ask') void this.#answer(thread, message);
    else if (message.type === 'done') this.#settle(message.job, (job) => job.resolve(message.output));
    else if (message.type === 'failed')
      this.#settle(message.job, (job) => job.fail(new MergeUnavailable('failed', message.message)));
  }

  async #answer(
    thread: MergeThread,
    { job, question, what }: { job: number; question: number; what: Question },
  ): Promise<void> {
    const answer = (await this.#active.get(job)?.answer(what)) ?? null;
    if (thread.isEnded) return;
    thread.send(
      { type: 'answer', question, answer },
      answer && 'bytes' in answer ? [answer.bytes.buffer] : [],
    );
  }

  #settle(id: number, settle: (job: MergeJob) => void): void {
    const job = this.#active.get(id);
    if (!job) return;
    this.#active.delete(id);
    clearTimeout(job.timer);
    settle(job);
    this.#next();
  }

  #expire(id: number): void {
    const timeoutMs = this.#timeoutMs;
    this.#log?.warn({ job: id, timeoutMs }, 'a merge took too long; its thread is replaced');
    const job = this.#active.get(id);
    this.#active.delete(id);
    job?.refuse(new MergeUnavailable('timeout', `the merge took over ${timeoutMs} ms`));
    this.#replaceThread();
  }

  /** Ends the thread; the next job starts another. What was under way waits again, or is refused the second time. */
  #replaceThread(): void {
    this.#thread?.end();
    this.#thread = undefined;
    const jobs = [...this.#active.values()];
    this.#active.clear();
    for (const job of jobs.toReversed()) {
      clearTimeout(job.timer);
      if (this.#isClosed) job.refuse(closed());
      else if (job.attempts < MAX_ATTEMPTS) this.#queue.unshift(job);
      else job.refuse(new MergeUnavailable('crashed', 'the merge thread died twice'));
    }
    this.#next();
  }
}

const closed = () => new MergeUnavailable('closed', 'merging has been closed');
