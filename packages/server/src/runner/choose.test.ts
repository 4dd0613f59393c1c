import { expect, test } from 'vitest';
import { mulberry32 } from '../../../../checks/harness/random.ts';
import { candidate, simulatePlacement } from './choose.fixture.ts';
import type { Placement } from './choose.fixture.ts';
import { chooseRunner } from './choose.ts';

test('one that keeps the project is first, unless it is crowded; full ones are not asked', () => {
  const warm = candidate('warm', { reserved: 7, keeps: true });
  for (let seed = 0; seed < 100; seed++) {
    expect(chooseRunner([candidate('a'), warm, candidate('b')], mulberry32(seed))?.boot_id).toBe('warm');
    expect(
      chooseRunner([candidate('a'), { ...warm, reserved: 8 }, candidate('b')], mulberry32(seed))?.boot_id,
    ).not.toBe('warm');
  }
  expect(chooseRunner([])).toBeUndefined();
});

test('memory that is used counts half', () => {
  const full = candidate('full', { used: 0.9 });
  expect(chooseRunner([full, candidate('busy', { reserved: 4 })])?.boot_id).toBe('busy');
  expect(chooseRunner([full, candidate('busy', { reserved: 5 })])?.boot_id).toBe('full');
});

test.each<[number, Placement]>([
  [60, { runners: 20, capacity: 16, rivals: 2 }],
  [2, { runners: 100, capacity: 32, rivals: 8 }],
])(
  'at 70 %% of all places the fullest has at most 1.3 times the mean, by %i seeds of %o',
  (seeds, simulated) => {
    const outcomes = Array.from({ length: seeds }, (_, seed) =>
      simulatePlacement(mulberry32(seed), simulated),
    );
    expect(Math.max(...outcomes.map((one) => one.imbalance))).toBeLessThanOrEqual(1.3);
    expect(outcomes.reduce((sum, one) => sum + one.warm, 0) / seeds).toBeGreaterThan(0.85);
  },
);
