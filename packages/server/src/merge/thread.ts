import { mkdirSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { FromWorker, ToWorker } from './protocol.ts';

export interface Log {
  warn: (details: object, message: string) => void;
}

const CLOSE_MS = 2000;

/** One worker thread that merges, with the git processes that it started. */
export class MergeThread {
  readonly #worker: Worker;
  /** The git processes, so that they end with a thread that hangs. */
  readonly #pids = new Set<number>();
  #isEnded = false;

  /** Neither callback is called after `end`. */
  constructor(options: {
    /** The folder of the thread's repository. */
    folder: string;
    log: Log | undefined;
    onMessage: (message: FromWorker) => void;
    onExit: () => void;
  }) {
    const { folder, log, onMessage, onExit } = options;
    mkdirSync(folder, { recursive: true });
    this.#worker = new Worker(new URL('./merge.worker.ts', import.meta.url), {
      workerData: { dir: folder },
      env: { PATH: process.env['PATH'] },
    });
    this.#worker.unref();
    this.#worker.on('message', (message: FromWorker) => {
      if (this.#isEnded) return;
      if (message.type === 'process') this.#pids[message.alive ? 'add' : 'delete'](message.pid);
      else onMessage(message);
    });
    this.#worker.on('error', (error) => log?.warn({ err: error }, 'the merge thread failed'));
    this.#worker.on('exit', () => {
      if (!this.#isEnded) onExit();
    });
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  send(message: ToWorker, transfer: ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, transfer);
  }

  /** Lets an idle thread end its git processes and itself, for two seconds. */
  async leave(): Promise<void> {
    const exited = new Promise<void>((resolve) => this.#worker.once('exit', () => resolve()));
    this.send({ type: 'close' });
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([
      exited,
      new Promise<void>((resolve) => {
        timer = setTimeout(resolve, CLOSE_MS);
      }),
    ]);
    clearTimeout(timer);
  }

  /** Ends the thread, if it lives, with its git processes. */
  end(): void {
    this.#isEnded = true;
    void this.#worker.terminate();
    for (const pid of this.#pids) kill(pid);
    this.#pids.clear();
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it has ended
  }
}
