import { expect, test } from 'vitest';
import { eventOf } from './event.fixture.ts';
import { isFollowed } from './follows.ts';
import type { Follows } from './follows.ts';

const event = eventOf(1, { type: 'platform.build.ready', data: { id: 'bld_1', status: 'ready' } });

test.each<[boolean, Follows]>([
  [true, { types: ['platform.build.'] }],
  [true, { types: ['run.', 'platform.'] }],
  [true, { types: ['platform.build.ready'], appId: 'prj_1', threadId: 'thr_1', runId: 'run_1' }],
  [true, { types: [''], ids: ['bld_0', 'bld_1'] }],
  [false, { types: [] }],
  [false, { types: ['build.'] }],
  [false, { types: [''], appId: 'prj_2' }],
  [false, { types: [''], threadId: 'thr_2' }],
  [false, { types: [''], runId: 'run_2' }],
  [false, { types: [''], ids: ['bld_2'] }],
])('%s: %j', (expected, follows) => {
  expect(isFollowed(follows, event)).toBe(expected);
});

test('an event without a thread is not one of a thread', () => {
  expect(isFollowed({ types: [''], threadId: 'thr_1' }, { ...event, threadId: null })).toBe(false);
});
