/**
 * One worker thread with one job at a time, and its queue.
 *
 *   queued → running → answered
 *   queued → refused (queue full, closed, or waited as long as a job may run)
 *   running → failed (the worker died or took too long: it is ended, and the next job starts a new one)
 *
 * Urgent jobs are next, then jobs that have waited for two seconds, then the smallest.
 */
import { Worker } from 'node:worker_threads';
import type { Answer, Job, OperationName, Operations } from './protocol.ts';

/** The pool cannot do this now; the same call may work later. */
export class PoolError extends Error {
  override readonly name = 'PoolError';
  readonly code: 'overloaded' | 'timed_out' | 'worker_lost' | 'closed';

  constructor(code: PoolError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** The worker threw: `content_mismatch` when a content is not what its hash says, else a fault of this code. */
export class ImportError extends Error {
  override readonly name = 'ImportError';
  readonly code: string | null;

  constructor(message: string, code: string | null) {
    super(message);
    this.code = code;
  }
}

export interface Request<K extends OperationName> {
  operation: K;
  input: Operations[K]['input'];
  /** Buffers that are handed over. */
  transfer?: ArrayBuffer[];
  byteSize: number;
  isUrgent?: boolean;
  /** Called before the job starts; `wake` has it called again. */
  mayStart?: () => boolean;
  /** Gets the worker, so that the caller notices when it has been replaced. */
  onStart?: (worker: Worker) => void;
}

interface Queued extends Request<OperationName> {
  id: number;
  queuedAt: number;
  patience: NodeJS.Timeout;
  resolve: (output: never) => void;
  reject: (error: Error) => void;
}

const AGED_MS = 2_000;
const MAX_HEAP_MIB = 1_024;

export class WorkerQueue {
  /** Limits one job, and its wait before. */
  timeoutMs: number;
  readonly #maxQueue: number;
  readonly #queue: Queued[] = [];
  #current: Worker | null;
  #running: { queued: Queued; timer: NodeJS.Timeout } | null = null;
  #lastId = 0;
  #isClosed = false;

  constructor(options: { timeoutMs: number; maxQueue: number }) {
    this.timeoutMs = options.timeoutMs;
    this.#maxQueue = options.maxQueue;
    this.#current = this.#start();
  }

  get worker(): Worker | null {
    return this.#current;
  }

  /**
   * Throws `PoolError`, or `ImportError` where the worker threw. Urgent jobs are never refused for a full
   * queue: they free memory.
   */
  run<K extends OperationName>(request: Request<K>): Promise<Operations[K]['output']> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(new PoolError('closed', 'The service stops.'));
      if (this.#queue.length >= this.#maxQueue && !request.isUrgent)
        return reject(new PoolError('overloaded', 'Too many imports wait.'));
      const queued: Queued = {
        ...request,
        id: ++this.#lastId,
        queuedAt: performance.now(),
        patience: setTimeout(() => this.#giveUp(queued), this.timeoutMs),
        resolve: resolve,
        reject,
      };
      this.#queue.push(queued);
      this.wake();
    });
  }

  /** Starts the next job, if there is one that may start and nothing runs. */
  wake(): void {
    if (this.#running || this.#isClosed) return;
    const queued = this.#pick();
    if (!queued) return;
    this.#dequeue(queued);
    const worker = (this.#current ??= this.#start());
    this.#running = {
      queued,
      timer: setTimeout(
        () =>
          this.#lose(worker, new PoolError('timed_out', `The job took longer than ${this.timeoutMs} ms.`)),
        this.timeoutMs,
      ),
    };
    queued.onStart?.(worker);
    // The process stays for a job, never for an idle thread.
    worker.ref();
    const job: Job = { id: queued.id, operation: queued.operation, input: queued.input };
    worker.postMessage(job, queued.transfer ?? []);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const error = new PoolError('closed', 'The service stops.');
    for (const queued of this.#queue.splice(0)) {
      clearTimeout(queued.patience);
      queued.reject(error);
    }
    const worker = this.#current;
    if (worker) this.#lose(worker, error);
    await worker?.terminate();
  }

  #dequeue(queued: Queued): void {
    clearTimeout(queued.patience);
    this.#queue.splice(this.#queue.indexOf(queued), 1);
  }

  #giveUp(queued: Queued): void {
    this.#dequeue(queued);
    queued.reject(new PoolError('overloaded', `The job waited longer than ${this.timeoutMs} ms.`));
  }

  #pick(): Queued | undefined {
    const ready = this.#queue.filter((q) => q.mayStart?.() ?? true);
    const aged = performance.now() - AGED_MS;
    return (
      ready.find((q) => q.isUrgent) ??
      ready.find((q) => q.queuedAt < aged) ??
      ready.toSorted((a, b) => a.byteSize - b.byteSize)[0]
    );
  }

  #start(): Worker {
    const worker = new Worker(new URL('./import.worker.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
      name: 'import',
    });
    worker.on('message', (answer: Answer) => this.#answered(answer));
    worker.on('error', (error) =>
      this.#lose(worker, new PoolError('worker_lost', `The import thread failed: ${String(error)}`)),
    );
    worker.on('exit', () => this.#lose(worker, new PoolError('worker_lost', 'The import thread ended.')));
    worker.unref();
    return worker;
  }

  #answered(answer: Answer): void {
    const running = this.#running;
    if (running?.queued.id !== answer.id) return;
    clearTimeout(running.timer);
    this.#running = null;
    this.#current?.unref();
    if ('error' in answer) running.queued.reject(new ImportError(answer.error.message, answer.error.code));
    else running.queued.resolve(answer.output as never);
    this.wake();
  }

  #lose(worker: Worker, error: PoolError): void {
    if (this.#current !== worker) return;
    this.#current = null;
    void worker.terminate();
    const running = this.#running;
    this.#running = null;
    if (running) {
      clearTimeout(running.timer);
      running.queued.reject(error);
    }
    this.wake();
  }
}
