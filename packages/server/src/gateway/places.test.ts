import { expect, test } from 'vitest';
import { openPlaces } from './places.ts';

const never = new AbortController().signal;
/** Writes to `log` what got its places. */
const taking =
  (places: ReturnType<typeof openPlaces>, log: string[]) =>
  (name: string, size: number, signal = never) =>
    places.take('run', size, signal).then(
      (free) => {
        log.push(name);
        return free;
      },
      (error: Error) => {
        log.push(`${name}: ${error.message.slice(0, 30)}`);
        return () => {};
      },
    );
const turn = () =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

test('large ones count as several, in the order of their coming', async () => {
  const log: string[] = [];
  const take = taking(openPlaces({ atOnce: 4, waiting: 3, waitMs: 1_000 }), log);
  const first = await take('a', 3);
  const large = take('large', 4);
  const small = take('small', 1);
  await turn();
  expect(log).toEqual(['a']);
  first();
  first();
  await turn();
  expect(log).toEqual(['a', 'large']);
  (await large)();
  (await small)();
  expect(log).toEqual(['a', 'large', 'small']);
});

test('who leaves, or has waited too long, lets the next ones in; more than may wait are refused', async () => {
  const log: string[] = [];
  const take = taking(openPlaces({ atOnce: 2, waiting: 2, waitMs: 50 }), log);
  const free = await take('a', 1);
  const gone = new AbortController();
  void take('gone', 2, gone.signal);
  const next = take('next', 1);
  await take('many', 1);
  gone.abort();
  (await next)();
  await take('late', 2);
  free();
  (await take('last', 2))();
  expect(log).toEqual([
    'a',
    'many: This run has too many calls of',
    'gone: This run has too many calls of',
    'next',
    'late: This run has too many calls of',
    'last',
  ]);
});
