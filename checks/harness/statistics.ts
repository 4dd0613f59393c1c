/** Figures of a series. Percentiles are by nearest rank: p99 of 30 samples is the largest one. */
export interface Summary {
  count: number;
  min: number;
  median: number;
  p95: number;
  p99: number;
  max: number;
}

/** Throws RangeError on an empty series: a benchmark that measured nothing has failed. */
export function summarize(samples: readonly number[]): Summary {
  if (samples.length === 0) throw new RangeError('nothing was measured');
  const sorted = sortedOf(samples);
  const rank = (share: number) => rankOf(sorted, share);
  return {
    count: sorted.length,
    min: sorted[0]!,
    median: rank(0.5),
    p95: rank(0.95),
    p99: rank(0.99),
    max: sorted.at(-1)!,
  };
}

/** Another percentile than those of the summary, as a share: 0.75. */
export const percentile = (samples: readonly number[], share: number): number =>
  rankOf(sortedOf(samples), share);

const sortedOf = (samples: readonly number[]) => [...samples].sort((a, b) => a - b);

const rankOf = (sorted: number[], share: number) =>
  sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!;
