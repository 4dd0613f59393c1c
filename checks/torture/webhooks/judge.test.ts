import { expect, test } from 'vitest';
import type { LoggedEvent } from '../lib/log-table.ts';
import { judgeReceiver, matches } from './judge.ts';

const event = (n: number, more: Partial<LoggedEvent> = {}): LoggedEvent => ({
  sequence: 100 + n,
  id: `evt_${n}`,
  feed: 'direct',
  type: 'run.completed',
  projectId: 'prj_1',
  threadId: null,
  runId: 'run_1',
  data: { id: 'run_1', status: 'completed' },
  ...more,
});
const LOG = Array.from({ length: 20 }, (_, n) => event(n));

const judged = (places: readonly number[], more: Partial<Parameters<typeof judgeReceiver>[1]> = {}) =>
  judgeReceiver(LOG, {
    name: 'receiver',
    kind: 'steady',
    subscription: { types: ['run.*'], projectId: null },
    arrivals: places.map((place) => {
      const { data, ...same } = LOG[place] ?? event(place);
      return { ...same, data: JSON.stringify(data) };
    }),
    faults: [],
    mostUnderWay: 8,
    ...more,
  });
const counts = ({ lost, wrong, misordered }: ReturnType<typeof judged>) => ({ lost, wrong, misordered });
const none = { lost: 0, wrong: 0, misordered: 0 };
const inOrder = LOG.map((_, place) => place);

test('events in order, repeats after a failure, and eight in flight in any order pass', () => {
  expect(judged(inOrder).failures).toEqual([]);
  expect(judged([7, 6, 5, 4, 3, 2, 1, 0, ...inOrder.slice(8), 3, 3]).failures).toEqual([]);
});

test.each<[string, number[], { mostUnderWay?: number }, object]>([
  ['an event is missing', inOrder.slice(1), {}, { lost: 1 }],
  [
    'an event comes before eight earlier ones',
    [8, ...inOrder.filter((place) => place !== 8)],
    {},
    { misordered: 1 },
  ],
  ['an event is not in the log', [...inOrder, 33], {}, { wrong: 1 }],
  ['nine requests are under way', inOrder, { mostUnderWay: 9 }, { misordered: 1 }],
])('%s', (_, places, more, found) => {
  const verdict = judged(places, more);
  expect(counts(verdict)).toEqual({ ...none, ...found });
  expect(verdict.failures).toHaveLength(1);
});

test('a dead receiver loses nothing, and events before the first relevant one do not count', () => {
  expect(counts(judged([0, 1], { kind: 'closed' }))).toEqual(none);
  expect(counts(judged([-1, ...inOrder]))).toEqual(none);
});

test('a request that differs from the log, or an event of another project, is wrong', () => {
  const subscription = { types: [], projectId: 'prj_2' };
  expect(judged(inOrder, { subscription }).wrong).toBe(20);
  const arrivals = [{ ...LOG[0]!, data: '{}' }];
  expect(judged([], { arrivals, kind: 'closed' }).wrong).toBe(1);
});

test.each<[string[], string | null, Partial<LoggedEvent>, boolean]>([
  [[], null, {}, true],
  [['*'], 'prj_1', {}, true],
  [['*'], 'prj_2', {}, false],
  [['run.*'], null, {}, true],
  [['platform.*'], null, { type: 'platform.apply.applied' }, false],
  [['platform.apply.*'], null, { type: 'platform.apply.applied' }, true],
  [['run.failed', 'run.completed'], null, {}, true],
  [['run.failed'], null, {}, false],
  [[], null, { feed: 'platform' }, false],
])('types %j of %j are given %j: %j', (types, projectId, more, is) => {
  expect(matches({ types, projectId }, event(0, more))).toBe(is);
});
