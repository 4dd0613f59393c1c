import { Worker } from 'node:worker_threads';
import type { FuzzReport } from './fuzz.ts';
import type { Share, Told } from './fuzz.worker.ts';

export interface FuzzedInWorkers {
  merges: FuzzReport['merges'];
  /** Each as a row for the table of merge-trees.test.ts; the first ones are shrunk. */
  failures: string[];
}

const WORKER = new URL('./fuzz.worker.ts', import.meta.url);
/** A worker ends between two batches; one that does not within this time is ended. */
const STOP_LIMIT_MS = 15_000;

/**
 * Triples 0 to `count - 1` of `seed`, in shares of the same size. Ends early when `signal` is aborted or a
 * worker fails, with all that was made removed.
 */
export async function fuzzInWorkers({
  seed,
  count,
  workers,
  scratch,
  signal,
  onProgress,
}: {
  seed: number;
  count: number;
  workers: number;
  scratch: string;
  signal: AbortSignal;
  onProgress: (sofar: FuzzedInWorkers) => void;
}): Promise<FuzzedInWorkers> {
  const failures: string[] = [];
  const reports: FuzzReport['merges'][] = Array.from({ length: workers }, () => ({}));
  const sofar = (): FuzzedInWorkers => ({ merges: reports.reduce(sum, {}), failures });
  const border = (i: number): number => Math.floor((count * i) / workers);
  const failed = new AbortController();
  const stop = AbortSignal.any([signal, failed.signal]);
  const ends = await Promise.allSettled(
    reports.map(async (_, i) => {
      const share: Share = { seed, from: border(i), count: border(i + 1) - border(i), scratch };
      try {
        await runWorker(share, stop, (told) => {
          if ('failure' in told) failures.push(told.failure);
          else reports[i] = told.merges;
          onProgress(sofar());
        });
      } catch (error) {
        failed.abort();
        throw error;
      }
    }),
  );
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return sofar();
}

function runWorker(share: Share, signal: AbortSignal, take: (told: Told) => void): Promise<void> {
  const worker = new Worker(WORKER, { workerData: share });
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => {
    worker.postMessage('stop', []);
    timer = setTimeout(() => void worker.terminate(), STOP_LIMIT_MS);
  };
  signal.addEventListener('abort', stop, { once: true });
  worker.on('message', take);
  return new Promise<void>((resolve, reject) => {
    worker.once('error', (error) => (signal.aborted ? resolve() : reject(error)));
    worker.once('exit', () => resolve());
  }).finally(() => {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  });
}

function sum(all: FuzzReport['merges'], some: FuzzReport['merges']): FuzzReport['merges'] {
  const next = { ...all };
  for (const [generator, { clean, conflicted, aborted }] of Object.entries(some)) {
    const before = next[generator] ?? { clean: 0, conflicted: 0, aborted: 0 };
    next[generator] = {
      clean: before.clean + clean,
      conflicted: before.conflicted + conflicted,
      aborted: before.aborted + aborted,
    };
  }
  return next;
}
