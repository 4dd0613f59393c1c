import { expect, test } from 'vitest';
import { mulberry32 } from '../../../../checks/harness/random.ts';
import { simulateFleet } from './simulation.fixture.ts';

const SEEDS = 100;

test('work has one result, and nothing lives at a runner that is gone, whatever is cut, late, killed or away', () => {
  const outcomes = Array.from({ length: SEEDS }, (_, seed) => simulateFleet(mulberry32(seed)));
  expect(outcomes.flatMap(({ broken }, seed) => broken.map((what) => `seed ${seed}: ${what}`))).toEqual([]);
  const sum = (of: 'results' | 'lost') => outcomes.reduce((all, one) => all + one[of], 0);
  // The seeds have work that was lost, and much that was not.
  expect(sum('lost')).toBeGreaterThan(SEEDS);
  expect(sum('results')).toBeGreaterThan(5 * sum('lost'));
});
