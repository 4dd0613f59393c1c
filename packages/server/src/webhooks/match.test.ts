import { expect, test } from 'vitest';
import { matchAll } from './match.ts';
import type { Subscriber } from './match.ts';

const EVENT = {
  org_id: 'org_1',
  feed: 'direct' as const,
  project_id: 'prj_1',
  type: 'run.completed',
  sequence: 5,
};
const SUBSCRIBER: Subscriber = {
  org_id: 'org_1',
  id: 'wh_1',
  project_id: null,
  types: ['*'],
  after_sequence: 0,
};

const isMatch = (
  subscriber: Partial<Subscriber>,
  event: Partial<Parameters<typeof matchAll>[0][number]> = {},
) => matchAll([{ ...EVENT, ...event }], [{ ...SUBSCRIBER, ...subscriber }]).length === 1;

test.each([
  [[], 'run.completed', true],
  [['*'], 'run.completed', true],
  [['run.completed'], 'run.completed', true],
  [['run.failed', 'run.completed', 'run.completed'], 'run.completed', true],
  [['run.*'], 'run.completed', true],
  [['run.failed'], 'run.completed', false],
  [['thread.*'], 'run.completed', false],
  [['platform.apply.*'], 'platform.apply.queued', true],
  [['platform.*'], 'platform.apply.queued', false],
  [['run'], 'run.completed', false],
])('types %j and an event %s: %s', (types, type, expected) => {
  expect(isMatch({ types }, { type })).toBe(expected);
});

test("an event is for its organization's subscriptions alone, of its project or of none", () => {
  expect(isMatch({ org_id: 'org_2' })).toBe(false);
  expect(isMatch({ project_id: 'prj_1' })).toBe(true);
  expect(isMatch({ project_id: 'prj_2' })).toBe(false);
  expect(isMatch({ project_id: 'prj_1' }, { project_id: null })).toBe(false);
  expect(isMatch({ project_id: null }, { project_id: null })).toBe(true);
});

test('events of apps, and events from before the subscription, match no subscription', () => {
  expect(isMatch({}, { feed: 'platform' })).toBe(false);
  expect(isMatch({ after_sequence: 5 })).toBe(false);
  expect(isMatch({ after_sequence: 4 })).toBe(true);
});

test('matches come in the order of the events', () => {
  const events = [3, 4, 5].map((sequence) => ({ ...EVENT, sequence }));
  const subscribers = ['wh_1', 'wh_2'].map((id) => ({ ...SUBSCRIBER, id }));
  expect(
    matchAll(events, subscribers).map(({ event, subscriber }) => [event.sequence, subscriber.id]),
  ).toEqual([3, 4, 5].flatMap((sequence) => ['wh_1', 'wh_2'].map((id) => [sequence, id])));
});
