import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { globsPattern } from './globs.ts';
import { SearchPool } from './pool.ts';
import { BEGAN } from './protocol.ts';
import type { SelectJob } from './protocol.ts';
import { jobOf, QUERY, SLOW_GLOBS, slowPaths } from './search.fixture.ts';

let searches: SearchPool;
beforeEach(() => (searches = new SearchPool()));
afterEach(() => searches.close());

/** Its first line takes many seconds. */
function hangingJob() {
  const files = { a: Buffer.from(`${'a'.repeat(3_000_000)}\n`) };
  const query = { ...QUERY, q: 'a(.*x?){100}b|a', regex: true };
  const job = jobOf(files, query, { file: 0, line: 0 });
  return { ...job, control: new Int32Array(new SharedArrayBuffer(8)) };
}

function selectJob(include: string, paths: string[]): SelectJob {
  const control = new Int32Array(new SharedArrayBuffer(8));
  const query = { ...QUERY, q: 'x', include: globsPattern(include) };
  const since = Date.now();
  return { kind: 'select', query, control, since, endsAt: since + 60_000, paths: paths.join('\0') };
}

test('a job that waits begins when the threads before it are ended', async () => {
  const end = new AbortController();
  const hanging = Array.from({ length: searches.size }, hangingJob);
  const ended = hanging.map((job) => searches.run('a', job, end.signal));
  const never = new AbortController().signal;
  const waiting = searches.run('b', selectJob('*', ['a', 'b']), never);
  while (hanging.some(({ control }) => Atomics.load(control, BEGAN) === 0)) await delay(5);
  end.abort();
  expect(await Promise.all(ended)).toEqual(ended.map(() => null));
  expect(await waiting).toMatchObject({ kind: 'selected', read: 2 });
});

test('a job that waits with an aborted signal is not begun', async () => {
  expect(await searches.run('a', hangingJob(), AbortSignal.abort())).toBe(null);
});

test('slow globs are matched a slice at a time', async () => {
  const paths = slowPaths(4_096);
  const never = new AbortController().signal;
  const slow = Array.from({ length: searches.size * 4 }, () =>
    searches.run('a', selectJob(SLOW_GLOBS, paths), never),
  );
  const began = Date.now();
  await searches.run('b', selectJob('*', ['a']), never);
  const waited = Date.now() - began;
  for (const answer of await Promise.all(slow)) {
    expect(answer).toMatchObject({ kind: 'selected' });
    const { read } = answer as { read: number };
    expect([read > 0, read < paths.length]).toEqual([true, true]);
  }
  // It waited for one slice of four.
  expect(waited).toBeLessThan((Date.now() - began) * 0.75);
});
