/**
 * Generated merges of trees, by the engine and by git on whole trees in a real repository: verdict,
 * conflicting paths and the bytes of what merged have to be the same. What differs is reported as rows for
 * the table of packages/server/src/merge/merge-trees.test.ts, the first ones shrunk.
 * checks/proof/fuzz/fuzz.test.ts plants faults, each of which is caught within 200 merges.
 */
import { availableParallelism } from 'node:os';
import { fuzzInWorkers } from '../../proof/fuzz/in-workers.ts';
import type { FuzzedInWorkers } from '../../proof/fuzz/in-workers.ts';
import { counted } from '../lib/numbers.ts';
import type { Part, PartResult } from '../lib/part.ts';

const MERGES = 100_000;
const MAX_WORKERS = 4;
const TELL_MS = 10_000;

export const mergesPart: Part = {
  name: 'merges',
  title: "Generated merges are git's own",
  seconds: 300,
  async run({ scratch, random, count, signal, atEnd, say }) {
    const merges = count(MERGES, 1000);
    const stopped = new AbortController();
    let sofar: FuzzedInWorkers = { merges: {}, failures: [] };
    const fuzzing = fuzzInWorkers({
      seed: random.below(1_000_000),
      count: merges,
      workers: Math.min(MAX_WORKERS, availableParallelism()),
      scratch,
      signal: AbortSignal.any([signal, stopped.signal]),
      onProgress: (told) => {
        sofar = told;
      },
    });
    const teller = setInterval(
      () =>
        say(`${counted(sum(sofar, 'all'))} of ${counted(merges)} merged, ${sofar.failures.length} differ`),
      TELL_MS,
    );
    atEnd(async () => {
      stopped.abort();
      await fuzzing;
    });
    try {
      return summaryOf(await fuzzing, merges);
    } finally {
      clearInterval(teller);
    }
  },
};

type Verdict = 'clean' | 'conflicted' | 'aborted';

const sum = ({ merges }: FuzzedInWorkers, which: Verdict | 'all'): number =>
  Object.values(merges).reduce(
    (total, counts) =>
      total + (which === 'all' ? counts.clean + counts.conflicted + counts.aborted : counts[which]),
    0,
  );

function summaryOf(fuzzed: FuzzedInWorkers, wanted: number): PartResult {
  const [all, clean, conflicted, aborted] = (['all', 'clean', 'conflicted', 'aborted'] as const).map(
    (which) => sum(fuzzed, which),
  ) as [number, number, number, number];
  const failures = [...fuzzed.failures];
  if (all < wanted && failures.length === 0)
    failures.push(`${counted(all)} merges of ${counted(wanted)} were made`);
  const kinds = Object.keys(fuzzed.merges).length;
  const line = `${counted(all)} generated merges of ${kinds} kinds, in git ${counted(clean)} clean, ${counted(conflicted)} conflicted and ${aborted} that it aborts on: ${fuzzed.failures.length} differ`;
  const byKind = Object.entries(fuzzed.merges).flatMap(
    ([kind, counts]) =>
      [
        [`${kind}: clean`, counts.clean],
        [`${kind}: conflicted`, counts.conflicted],
      ] as const,
  );
  return {
    line,
    figures: {
      merges: all,
      clean,
      conflicted,
      aborted,
      differences: fuzzed.failures.length,
      ...Object.fromEntries(byKind),
    },
    failures,
  };
}
