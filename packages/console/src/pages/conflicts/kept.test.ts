import { expect, test } from 'vitest';
import { serviceNow } from '../../api/clock.ts';
import { carried, write } from './decisions.ts';
import { entriesIn } from './kept.ts';

const LIST = [{ path: 'a', kind: 'content' as const, base: null, head: 'h', draft: 'd' }];
const [entry] = write(carried(LIST, new Map()), 'a', {
  content: 'x',
  left: 0,
  regions: [],
  from: 'places',
}).values();

test('what was kept comes back; what another version wrote, or is old, does not', () => {
  const kept = (entries: unknown, at = serviceNow()) => entriesIn(structuredClone({ at, entries }));
  expect(kept([entry])).toEqual([entry]);
  expect(kept([{ ...entry, choice: 'theirs' }, { ...entry, own: { content: 1 } }, null, entry])).toEqual([
    entry,
  ]);
  expect(kept([entry], serviceNow() - 61 * 24 * 3600_000)).toEqual([]);
  expect([entriesIn(undefined), entriesIn('x'), kept('x')]).toEqual([[], [], []]);
});
