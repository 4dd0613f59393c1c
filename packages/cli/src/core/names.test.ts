import { expect, test } from 'vitest';
import { idOf } from './names.ts';
import type { Kind, Named } from './names.ts';

const idWith = (start: string) => `thr_${start.padEnd(26, '0')}`;
const THREADS: readonly Named[] = [
  { id: idWith('01jdaaaa'), label: 'Shop' },
  { id: idWith('01jdaaab'), label: 'Shop window' },
  { id: idWith('01jdbbbb'), label: 'Search\u001b[2J' },
  { id: idWith('01jdbbbc'), label: 'Search box' },
  { id: idWith('01jdcccc'), label: null },
];

function kindOf(last?: string): Kind & { lists: (string | undefined)[] } {
  const lists: (string | undefined)[] = [];
  return {
    lists,
    what: 'thread',
    prefix: 'thr_',
    listing: 'headrace thread list',
    last: () => last,
    async *list(query) {
      lists.push(query);
      yield* THREADS;
    },
  };
}

test('a whole id is taken as it is, and nothing is asked', async () => {
  const kind = kindOf();
  expect(await idOf(idWith('gone'), kind)).toBe(idWith('gone'));
  expect(kind.lists).toEqual([]);
});

test('a beginning of an id names one, with its prefix or without', async () => {
  expect(await idOf('thr_01jdaaaa', kindOf())).toBe(THREADS[0]!.id);
  expect(await idOf('01jdaaab', kindOf())).toBe(THREADS[1]!.id);
});

test('a whole name wins over names that contain it, whatever its case', async () => {
  const kind = kindOf();
  expect(await idOf('~shop', kind)).toBe(THREADS[0]!.id);
  expect(kind.lists).toEqual(['shop']);
  expect(await idOf('~window', kindOf())).toBe(THREADS[1]!.id);
});

test('@last is the last one', async () => {
  expect(await idOf('@last', kindOf(THREADS[2]!.id))).toBe(THREADS[2]!.id);
});

test.each([
  ['@last', 'There is no last thread here yet.', 2],
  ['~', 'Name the thread after the `~`.', 2],
  ['~nothing', 'There is no thread named "nothing".', 5],
  ['~search', 'Several threads are named "search"', 2],
  ['01jd', 'at least 8 characters of it', 2],
  ['Shop', '"Shop" is no thread', 2],
  ['01jdzzzz', 'There is no thread whose id begins with "01jdzzzz".', 5],
])('%s is refused', async (text, message, exit) => {
  const error = await idOf(text, kindOf()).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ message: expect.stringContaining(message), exit });
});

test('names in messages cannot move the cursor', async () => {
  const error = (await idOf('~search', kindOf()).catch((thrown: unknown) => thrown)) as Error;
  expect(error.message).not.toContain('\u001b');
});
