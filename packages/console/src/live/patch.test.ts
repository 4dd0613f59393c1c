import { expect, test } from 'vitest';
import { eventOf } from './event.fixture.ts';
import { patchStatuses, statusChanges } from './patch.ts';

const run = (rest: object = {}) => ({ id: 'run_1', status: 'queued', title: 'A run', ...rest });
const changes = statusChanges([
  eventOf(1, { data: { id: 'run_1', status: 'running' } }),
  eventOf(2, { data: { id: 'run_1', status: 'completed' } }),
  eventOf(3, { type: 'message.persisted', data: { id: 'msg_1', role: 'user' } }),
]);
const other = { id: 'run_2', status: 'queued' };

test.each([
  ['an entity', run(), run({ status: 'completed' })],
  ['a list', [other, run()], [other, run({ status: 'completed' })]],
  [
    'a page',
    { items: [run(), other], nextCursor: null },
    { items: [run({ status: 'completed' }), other], nextCursor: null },
  ],
  [
    'pages',
    { pages: [{ items: [other] }, { items: [run()] }], pageParams: [null, 'c1'] },
    { pages: [{ items: [other] }, { items: [run({ status: 'completed' })] }], pageParams: [null, 'c1'] },
  ],
  [
    'a part',
    { thread: { id: 'thr_1', latestRun: run() } },
    { thread: { id: 'thr_1', latestRun: run({ status: 'completed' }) } },
  ],
])('the last status is set in %s', (_name, data, expected) => {
  const before = structuredClone(data);
  expect(patchStatuses(data, changes)).toEqual(expected);
  expect(data).toEqual(before);
});

test.each([
  ['other entities', [other]],
  ['the same status', run({ status: 'completed' })],
  ['an entity without a status', { id: 'run_1', title: 'A run' }],
  ['an entity that was read after the event', run({ updatedAt: '2026-01-01T00:00:01.001Z' })],
  ['things that are not plain data', { at: new Date(0), map: new Map([['a', run()]]) }],
  ['nothing', null],
])('%s: the same object comes back', (_name, data) => {
  expect(patchStatuses(data, changes)).toBe(data);
});

test('what is equal in both stays the same object', () => {
  const data = { items: [other, run()] };
  expect(patchStatuses(data, changes).items[0]).toBe(other);
});

test('the walk is bounded', () => {
  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = cyclic;
  expect(patchStatuses(cyclic, changes)).toBe(cyclic);
  const wide = Array.from({ length: 1_000_000 }, () => ({}));
  const startedAt = performance.now();
  expect(patchStatuses(wide, changes)).toBe(wide);
  expect(performance.now() - startedAt).toBeLessThan(1_000);
});
