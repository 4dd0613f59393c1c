import { expect, test } from 'vitest';
import type { LoggedEvent } from '../lib/log-table.ts';
import type { Reader } from './readers.ts';
import { judgeLog, judgeReader } from './verdict.ts';
import type { Acknowledged } from './writers.ts';

const log = (...names: string[]) =>
  names.map((name, i): LoggedEvent => ({
    sequence: 11 + i,
    id: `evt_${i}`,
    feed: 'platform',
    type: 'platform.app.updated',
    projectId: 'prj',
    threadId: null,
    runId: null,
    data: { externalId: name },
  }));
const write = (name: string, sentAt: number, answeredAt: number): Acknowledged => ({
  writer: 0,
  marks: [`platform.app.updated ${name}`],
  sentAt,
  answeredAt,
});
const reader = (...seen: string[]) =>
  ({
    name: 'reader',
    feed: { shows: ({ feed }: LoggedEvent) => feed === 'platform' },
    seen,
  }) as unknown as Reader;
const counts = ({ lost, doubled, misordered, unknown }: ReturnType<typeof judgeLog>) => ({
  lost,
  doubled,
  misordered,
  unknown,
});
const none = { lost: 0, doubled: 0, misordered: 0, unknown: 0 };
const every = () => true;

test('what was acknowledged is in the log once, and what overlapped may stand in any order', () => {
  const verdict = judgeLog(log('b', 'a', 'c'), [write('a', 0, 5), write('b', 1, 4), write('c', 6, 7)], every);
  expect(counts(verdict)).toEqual(none);
  expect(verdict.failures).toEqual([]);
});

test.each([
  ['an acknowledged write without its event', log('a'), { lost: 1 }],
  ['an effect that came twice', log('a', 'b', 'b'), { doubled: 1 }],
  ['an effect that nobody wrote', log('a', 'b', 'c'), { unknown: 1 }],
  ['an effect before its cause', log('b', 'a'), { misordered: 1 }],
  [
    'an event that is in the log twice',
    [
      ...log('a'),
      ...log('a', 'b').map((e) => ({
        ...e,
        sequence: e.sequence + 1,
        data: { externalId: e.id === 'evt_0' ? 'other' : 'b' },
      })),
    ],
    { doubled: 1, unknown: 1 },
  ],
  ['a gap', log('a', 'b').map((e) => ({ ...e, sequence: e.sequence * 2 })), { misordered: 1 }],
])('%s is found', (_, events, found) => {
  const verdict = judgeLog(events, [write('a', 0, 1), write('b', 2, 3)], every);
  expect(counts(verdict)).toEqual({ ...none, ...found });
  expect(verdict.failures).toHaveLength(Object.keys(found).length);
});

test.each([
  ['all of its feed, in order', ['evt_0', 'evt_1', 'evt_2'], {}],
  ['one too few', ['evt_0', 'evt_2'], { lost: 1 }],
  ['one twice', ['evt_0', 'evt_1', 'evt_0', 'evt_2'], { doubled: 1 }],
  ['one too late', ['evt_0', 'evt_2', 'evt_1'], { misordered: 1 }],
  ['one that is not in the log', ['evt_0', 'evt_9', 'evt_1', 'evt_2'], { unknown: 1 }],
])('a reader that was given %s', (_, seen, found) => {
  expect(counts(judgeReader(log('a', 'b', 'c'), reader(...seen)))).toEqual({ ...none, ...found });
});
