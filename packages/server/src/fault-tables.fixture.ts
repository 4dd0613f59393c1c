/**
 * Tables of faults, every step by every way to fail: `npm test` runs a fixed slice of their rows,
 * `npm run torture -- --only faults` runs all of them.
 */
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** Provided by the configuration: vitest.config.ts, or checks/torture/faults/vitest.config.ts. */
    faultRows: 'slice' | 'all';
  }
}

/**
 * The rows to run: every `of`-th one from `turn` on, or all. Tables over the same rows take different turns,
 * so that their slices have each row once between them.
 */
export function rowsOf<T>(table: readonly T[], turn: number, of = 2): T[] {
  return table.filter((_, index) => inject('faultRows') === 'all' || index % of === turn % of);
}
