import { expect, test } from 'vitest';
import { chooseRunner } from './choose.ts';
import type { Candidate } from './choose.ts';

/** Numbers from 0 to 1 that a seed decides (mulberry32). */
function seeded(seed: number): () => number {
  let a = seed;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const runner = (name: string, given: Partial<Candidate> = {}): Candidate => ({
  boot_id: name,
  capacity: 10,
  reserved: 0,
  used: 0,
  keeps: false,
  ...given,
});

test('one that keeps the project is first, unless it is crowded; full ones are not asked', () => {
  const warm = runner('warm', { reserved: 7, keeps: true });
  for (let seed = 0; seed < 100; seed++) {
    expect(chooseRunner([runner('a'), warm, runner('b')], seeded(seed))?.boot_id).toBe('warm');
    expect(
      chooseRunner([runner('a'), { ...warm, reserved: 8 }, runner('b')], seeded(seed))?.boot_id,
    ).not.toBe('warm');
  }
  expect(chooseRunner([])).toBeUndefined();
});

test('memory that is used counts half', () => {
  const full = runner('full', { used: 0.9 });
  expect(chooseRunner([full, runner('busy', { reserved: 4 })])?.boot_id).toBe('busy');
  expect(chooseRunner([full, runner('busy', { reserved: 5 })])?.boot_id).toBe('full');
});

interface Simulated {
  runners: number;
  capacity: number;
  /** How many others choose by the same figures. */
  rivals: number;
}

/**
 * Runners at 70 % of their places, whose work comes and goes at random, of projects of which a few are large. Returns
 * the highest load as a multiple of the mean, and the share of work that began where its project's files were.
 */
function simulate(
  seed: number,
  { runners, capacity, rivals }: Simulated,
): { imbalance: number; warm: number } {
  const random = seeded(seed);
  const all = Array.from({ length: runners }, () => ({ work: 0, projects: new Set<number>() }));
  const underWay: number[] = [];
  const seen = all.map((one) => one.work);
  const target = Math.floor(0.7 * runners * capacity);
  let warm = 0,
    counted = 0;
  for (let step = 0; step < 3 * target; step++) {
    if (underWay.length >= target)
      all[underWay.splice(Math.floor(random() * underWay.length), 1)[0]!]!.work--;
    if (step % rivals === 0) for (const [i, one] of all.entries()) seen[i] = one.work;
    const project = Math.floor(random() ** 2 * runners * 3);
    const candidates = all.flatMap((one, i) =>
      one.work < capacity
        ? runner(String(i), { capacity, reserved: seen[i]!, keeps: one.projects.has(project) })
        : [],
    );
    const chosen = Number(chooseRunner(candidates, random)!.boot_id);
    const { projects } = all[chosen]!;
    if (step >= target) counted++;
    if (step >= target && projects.has(project)) warm++;
    all[chosen]!.work++;
    projects.add(project);
    underWay.push(chosen);
  }
  return {
    imbalance: Math.max(...all.map((one) => one.work)) / (target / runners),
    warm: warm / counted,
  };
}

test.each<[number, Simulated]>([
  [400, { runners: 20, capacity: 16, rivals: 2 }],
  [5, { runners: 100, capacity: 32, rivals: 8 }],
])(
  'at 70 %% of all places the fullest has at most 1.3 times the mean, by %i seeds of %o',
  (seeds, simulated) => {
    const outcomes = Array.from({ length: seeds }, (_, seed) => simulate(seed, simulated));
    expect(Math.max(...outcomes.map((one) => one.imbalance))).toBeLessThanOrEqual(1.3);
    expect(outcomes.reduce((sum, one) => sum + one.warm, 0) / seeds).toBeGreaterThan(0.85);
  },
);
