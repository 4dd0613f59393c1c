import { expect, test } from 'vitest';
import type { Span } from './clock.ts';
import { dueTimes, judgeTimes } from './due.ts';

const MINUTE = 60_000;
const at = (minute: number, seconds = 0) => minute * MINUTE + seconds * 1000;
const passes = (from: number, to: number): Span => ({ from, to, isJump: false });
const jumps = (from: number, to: number): Span => ({ from, to, isJump: true });
const schedule = { residue: 2, period: 5, catchUp: true };

test.each<[string, Span[], number[]]>([
  ['each time that passes counts', [passes(at(1), at(12))], [at(2), at(7), at(12)]],
  ['the end of a span belongs to it, its beginning does not', [passes(at(2), at(6, 59))], []],
  [
    'of times that a step skips, the newest counts',
    [passes(at(1), at(3)), jumps(at(3), at(14)), passes(at(14), at(15))],
    [at(2), at(12)],
  ],
  [
    'times that a step back repeats do not count again',
    [passes(at(1), at(3)), jumps(at(3), at(1)), passes(at(1), at(8))],
    [at(2), at(7)],
  ],
])('%s', (_, spans, due) => {
  expect(dueTimes(schedule, spans)).toEqual(due);
});

test('without catching up, skipped times do not count', () => {
  const spans = [passes(at(1), at(1)), jumps(at(1), at(8)), passes(at(8), at(12))];
  expect(dueTimes({ ...schedule, catchUp: false }, spans)).toEqual([at(12)]);
});

test('missing, extra and repeated times are found', () => {
  expect(judgeTimes([1, 2, 3], [1, 2, 3])).toEqual({ missing: [], extra: [], repeated: [] });
  expect(judgeTimes([1, 2, 3], [1, 1, 3, 4])).toEqual({ missing: [2], extra: [4], repeated: [1] });
});
