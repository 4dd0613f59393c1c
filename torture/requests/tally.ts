/** What came of it: counts, and each kind of fault once, with its first example and how often it came. */
export interface Tally {
  count(name: string): void;
  counts: Map<string, number>;
  /** `what` tells the kind; `example` is called for the first of a kind. */
  fault(what: string, example: () => string): void;
  failures(): string[];
}

export function createTally(): Tally {
  const counts = new Map<string, number>();
  const faults = new Map<string, { example: string; times: number }>();
  return {
    counts,
    count: (name) => { counts.set(name, (counts.get(name) ?? 0) + 1); },
    fault(what, example) {
      const known = faults.get(what);
      if (known) known.times++;
      else faults.set(what, { example: example(), times: 1 });
    },
    failures: () => [...faults].toSorted(([, a], [, b]) => b.times - a.times).map(([what, { example, times }]) => `${what} (${times}×), first: ${example}`),
  };
}
