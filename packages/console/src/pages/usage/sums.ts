import type { Usage } from '@headrace/client';

/** In the order of the table. */
export const FIELDS = ['runs', 'inputTokens', 'cachedTokens', 'outputTokens', 'costMicros'] as const;
export type Sums = Pick<Usage, (typeof FIELDS)[number]>;

/** Of all lines. */
export function totalOf(usage: readonly Sums[]): Sums {
  const total: Sums = { runs: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0, costMicros: 0 };
  for (const line of usage) for (const field of FIELDS) total[field] += line[field];
  return total;
}
