import { describe, expect, test } from 'vitest';
import type { HeldJob } from '../jobs/job.ts';
import { runCapacity } from './worker-capacity.ts';

const GiB = 1024 ** 3;
const NOW = 1_000_000;
const jobs = (count: number, fields: Partial<HeldJob> = {}): HeldJob[] =>
  Array.from({ length: count }, () => ({
    kind: 'run.work',
    since: NOW - 60_000,
    isWaiting: false,
    ...fields,
  }));
const young = { since: NOW - 1_000 };
const capacity = (fields: Partial<Parameters<typeof runCapacity>[0]>) =>
  runCapacity({ kind: 'run.work', limit: 10, held: [], load: undefined, now: NOW, ...fields });
/** 20 GiB have a reserve of 2. */
const free = (freeGiB: number) => ({ memoryBytes: 20 * GiB, freeBytes: freeGiB * GiB, sandboxes: 0 });

describe('by number', () => {
  test.each<[string, HeldJob[], number]>([
    ['as many as may run', jobs(7), 10],
    ['those that wait take no place', [...jobs(7), ...jobs(5, { isWaiting: true })], 15],
    ['with those that wait, four times as many', jobs(38, { isWaiting: true }), 40],
    ['other kinds take no place of this one', jobs(9, { kind: 'build.work' }), 10],
  ])('%s', (_, held, expected) => {
    expect(capacity({ held })).toBe(expected);
  });
});

describe('by memory', () => {
  test.each<[string, HeldJob[], number, number]>([
    ['plenty: the number decides', jobs(7), 18, 10],
    ['one estimate above the reserve: one more', jobs(4), 2.25, 5],
    ['less than that: no more', jobs(4), 2.24, 4],
    ['below the reserve: no more, and none less', jobs(4), 1, 4],
    ['what has just begun will take its part', [...jobs(3), ...jobs(2, young)], 2.75, 6],
    ['of whatever kind', [...jobs(3), ...jobs(1, { ...young, kind: 'build.work' })], 2.5, 4],
    ['but for what has no sandbox', [...jobs(3), ...jobs(1, { ...young, kind: 'apply.merge' })], 2.5, 5],
    ['nothing free and nothing held: one', [], 0, 1],
    ['nothing free and all that is held waits: one more', jobs(6, { isWaiting: true }), 0, 7],
  ])('%s', (_, held, freeGiB, expected) => {
    expect(capacity({ held, load: free(freeGiB) })).toBe(expected);
  });

  test('a small machine keeps 512 MiB', () => {
    expect(capacity({ load: { memoryBytes: GiB, freeBytes: 0.75 * GiB, sandboxes: 0 } })).toBe(1);
    expect(capacity({ load: { memoryBytes: GiB, freeBytes: GiB, sandboxes: 0 } })).toBe(2);
  });
});
