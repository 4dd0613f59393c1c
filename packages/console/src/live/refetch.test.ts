import { HeadraceError } from '@headrace/client';
import { QueryClient, QueryObserver } from '@tanstack/react-query';
import type { Query } from '@tanstack/react-query';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Budget } from './budget.ts';
import { Refetcher } from './refetch.ts';

const TAKES_MS = 100;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Queries that take 100 ms each, and when they were fetched. */
function setUp() {
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false, staleTime: Infinity } } });
  const facts = { isHeld: false, paused: [] as number[], unauthorized: 0, atOnce: 0, most: 0 };
  const answers: (HeadraceError | null)[] = [];
  const refetcher = new Refetcher({
    cache: queries.getQueryCache(),
    budget: new Budget(),
    isHeld: () => facts.isHeld,
    onSpent: () => {},
    onPaused: (ms) => facts.paused.push(ms),
    onFetched: () => {},
    onUnauthorized: () => void facts.unauthorized++,
  });
  const show = async (key: string) => {
    const times: number[] = [];
    const observer = new QueryObserver(queries, {
      queryKey: [key],
      meta: { follows: { types: ['run.'] } },
      queryFn: async () => {
        times.push(Date.now());
        facts.most = Math.max(facts.most, ++facts.atOnce);
        await new Promise((resolve) => setTimeout(resolve, TAKES_MS));
        facts.atOnce--;
        const error = answers.shift();
        if (error) throw error;
        return times.length;
      },
    });
    const hide = observer.subscribe(() => {});
    await vi.advanceTimersByTimeAsync(TAKES_MS);
    const query = queries.getQueryCache().find({ queryKey: [key] }) as Query;
    return { query, times, hide };
  };
  return { queries, refetcher, facts, answers, show };
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

test('a stream of changes: one refetch a second, the last one after the last change', async () => {
  const { refetcher, show } = setUp();
  const { query, times } = await show('a');
  await pass(2_000);
  times.length = 0;
  let last = 0;
  for (let n = 0; n < 35; n++) {
    refetcher.markChanged(query);
    last = Date.now();
    await pass(100);
  }
  await pass(10_000);
  for (const [at, time] of times.entries())
    if (at) expect(time - times[at - 1]!).toBeGreaterThanOrEqual(1_000);
  expect(times.length).toBeGreaterThanOrEqual(4);
  expect(times.length).toBeLessThanOrEqual(5);
  expect(times.at(-1)).toBeGreaterThanOrEqual(last);
  expect(query.state.isInvalidated).toBe(false);
});

test('a change during a fetch is followed by another one, though the fetch has succeeded', async () => {
  const { refetcher, show } = setUp();
  const { query, times } = await show('a');
  await pass(2_000);
  refetcher.markChanged(query);
  await pass(60);
  expect(times).toHaveLength(2);
  refetcher.markChanged(query);
  await pass(100);
  expect(query.state.isInvalidated).toBe(true);
  await pass(2_000);
  expect(times).toHaveLength(3);
});

test('what is not shown is not fetched, but is stale; also when its fetch began before the change', async () => {
  const { refetcher, show } = setUp();
  const { query, times, hide } = await show('a');
  await pass(2_000);
  hide();
  refetcher.markChanged(query);
  await pass(5_000);
  expect([times.length, query.state.isInvalidated]).toEqual([1, true]);
  void query.fetch();
  await pass(10);
  refetcher.markChanged(query);
  await pass(5_000);
  expect([times.length, query.state.isInvalidated]).toEqual([2, true]);
});

test('four at once', async () => {
  const { refetcher, show, facts } = setUp();
  const shown = [];
  for (let n = 0; n < 10; n++) shown.push(await show(String(n)));
  await pass(2_000);
  facts.most = 0;
  refetcher.markAllChanged();
  await pass(1_000);
  expect(facts.most).toBe(4);
  for (const { times } of shown) expect(times).toHaveLength(2);
  expect(refetcher.isSettled()).toBe(true);
});

test('what follows no events is not read again for events that were missed', async () => {
  const { queries, refetcher, show } = setUp();
  await show('followed');
  const session = new QueryObserver(queries, { queryKey: ['session'], queryFn: () => 'who' });
  session.subscribe(() => {});
  await pass(2_000);
  refetcher.markAllChanged();
  expect(queries.getQueryState(['followed'])?.isInvalidated).toBe(true);
  expect(queries.getQueryState(['session'])?.isInvalidated).toBe(false);
});

test('a held tab fetches nothing, and then what has changed', async () => {
  const { refetcher, show, facts } = setUp();
  const { query, times } = await show('a');
  facts.isHeld = true;
  refetcher.markChanged(query);
  await pass(60_000);
  expect(times).toHaveLength(1);
  facts.isHeld = false;
  refetcher.run();
  await pass(1_000);
  expect(times).toHaveLength(2);
});

test('429 pauses all refetches for as long as the service asks', async () => {
  const { refetcher, show, facts, answers } = setUp();
  const [a, b] = [await show('a'), await show('b')];
  await pass(2_000);
  answers.push(new HeadraceError(429, 'rate_limited', 'Later.', { retryAfterMs: 12_000 }));
  refetcher.markChanged(a.query);
  await pass(200);
  refetcher.markChanged(b.query);
  await pass(11_000);
  expect(facts.paused).toEqual([12_000]);
  expect([a.times.length, b.times.length]).toEqual([2, 1]);
  await pass(2_000);
  expect([a.times.length, b.times.length]).toEqual([3, 2]);
});

test('a lost answer is asked for again, a refusal is not, and 401 is reported', async () => {
  const { refetcher, show, facts, answers } = setUp();
  const { query, times } = await show('a');
  await pass(2_000);
  answers.push(new HeadraceError(0, 'network_error', 'Lost.'), new HeadraceError(503, 'unavailable', 'No.'));
  refetcher.markChanged(query);
  await pass(10_000);
  expect(times).toHaveLength(4);
  expect(query.state.status).toBe('success');
  answers.push(new HeadraceError(401, 'unauthorized', 'No.'));
  refetcher.markChanged(query);
  await pass(60_000);
  expect([times.length, facts.unauthorized]).toEqual([5, 1]);
});

test('the budget: 120 a minute', async () => {
  const { refetcher, show } = setUp();
  const shown = [];
  for (let n = 0; n < 4; n++) shown.push(await show(String(n)));
  await pass(2_000);
  for (const { times } of shown) times.length = 0;
  for (let n = 0; n < 590; n++) {
    refetcher.markAllChanged();
    await pass(100);
  }
  expect(shown.flatMap(({ times }) => times)).toHaveLength(120);
});
