/** A worker's share of the generated merges. It reports each batch, and each failure as text. */
import { parentPort, workerData } from 'node:worker_threads';
import { fuzzWith, withJudge } from './fuzz.ts';
import type { Failure, FuzzReport, Judge } from './fuzz.ts';
import { rowOf } from './row.ts';
import { shrink } from './shrink.ts';

export interface Share {
  seed: number;
  from: number;
  count: number;
  scratch: string;
}

export type Told = { merges: FuzzReport['merges'] } | { failure: string };

/** Shrinking takes seconds for each, and faults come in swarms. */
const SHRUNK = 3;

const { scratch, ...share } = workerData as Share;
const stopped = new AbortController();
parentPort!.once('message', () => stopped.abort());
const tell = (told: Told): void => parentPort!.postMessage(told, []);

async function inSmall(failure: Failure, judge: Judge): Promise<Failure> {
  const triple = await shrink(failure.triple, failure.differences[0]!.what, judge);
  const [judgement] = await judge([triple]);
  return { ...failure, triple, ...judgement! };
}

await withJudge(
  async (judge) => {
    const { failures } = await fuzzWith(judge, {
      ...share,
      signal: stopped.signal,
      onBatch: ({ merges }) => tell({ merges }),
    });
    for (const [i, failure] of failures.entries()) {
      if (stopped.signal.aborted) return;
      tell({ failure: rowOf(i < SHRUNK ? await inSmall(failure, judge) : failure) });
    }
  },
  { scratch },
);
parentPort!.close();
