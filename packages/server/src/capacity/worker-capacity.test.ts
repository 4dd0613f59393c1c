import { describe, expect, test } from 'vitest';
import type { HeldJob } from '../jobs/job.ts';
import { runCapacity } from './worker-capacity.ts';

const GiB = 1024 ** 3;
const NOW = 1_000_000;
const jobs = (count: number, fields: Partial<HeldJob> = {}): HeldJob[] =>
  Array.from({ length: count }, () => ({
    kind: 'run.work',
    org: 'org_1',
    since: NOW - 60_000,
    isWaiting: false,
    ...fields,
  }));
const young = { since: NOW - 1_000 };
const waits = { isWaiting: true };
const other = { org: 'org_2' };
const capacity = (fields: Partial<Parameters<typeof runCapacity>[0]>) =>
  runCapacity({ kind: 'run.work', limit: 10, held: [], load: undefined, now: NOW, ...fields });
/** 20 GiB have a reserve of 2. */
const free = (freeGiB: number) => ({ memoryBytes: 20 * GiB, freeBytes: freeGiB * GiB, sandboxes: 0 });

describe('by number', () => {
  test.each<[string, HeldJob[], number, string[]]>([
    ['as many as may run', jobs(7), 10, []],
    ['those that wait take no place', [...jobs(7), ...jobs(5, waits)], 15, []],
    ['an organization has four times as many waiting', jobs(39, waits), 49, []],
    ['and then no more, but others have', [...jobs(40, waits), ...jobs(2, other)], 50, ['org_1']],
    ['each by itself', [...jobs(40, waits), ...jobs(40, { ...waits, ...other })], 90, ['org_1', 'org_2']],
    ['other kinds take no place of this one', jobs(9, { kind: 'build.work' }), 10, []],
  ])('%s', (_, held, most, full) => {
    expect(capacity({ held })).toEqual({ most, full });
  });
});

describe('by memory', () => {
  test.each<[string, HeldJob[], number, number, string[]?]>([
    ['plenty: the number decides', jobs(7), 18, 10],
    ['one estimate above the reserve: one more', jobs(4), 2.25, 5],
    ['less than that: no more', jobs(4), 2.24, 4],
    ['below the reserve: no more, and none less', jobs(4), 1, 4],
    ['what has just begun will take its part', [...jobs(3), ...jobs(2, young)], 2.75, 6],
    ['of whatever kind', [...jobs(3), ...jobs(1, { ...young, kind: 'build.work' })], 2.5, 4],
    ['but for what has no sandbox', [...jobs(3), ...jobs(1, { ...young, kind: 'apply.merge' })], 2.5, 5],
    ['nothing free and nothing held: one', [], 0, 1],
    ['nothing free and all that is held waits: one of another organization', jobs(6, waits), 0, 7, ['org_1']],
    ['unless one runs', [...jobs(6, waits), ...jobs(1, other)], 0, 7],
  ])('%s', (_, held, freeGiB, most, full = []) => {
    expect(capacity({ held, load: free(freeGiB) })).toEqual({ most, full });
  });

  test('a small machine keeps 512 MiB', () => {
    const most = (freeBytes: number) =>
      capacity({ load: { memoryBytes: GiB, freeBytes, sandboxes: 0 } }).most;
    expect(most(0.75 * GiB)).toBe(1);
    expect(most(GiB)).toBe(2);
  });
});
