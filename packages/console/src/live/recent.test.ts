import { expect, test } from 'vitest';
import { eventOf } from './event.fixture.ts';
import { Recent } from './recent.ts';

test('the events after each known cursor, each once', () => {
  const recent = new Recent();
  recent.restart('c0');
  for (const n of [1, 2, 2, 3]) recent.addEvent(eventOf(n));
  recent.addCursor('beat');
  const since = (cursor: string) => recent.since(cursor)?.map(({ id }) => id) ?? null;
  expect(since('c0')).toEqual(['evt_1', 'evt_2', 'evt_3']);
  expect(since('c2')).toEqual(['evt_3']);
  expect(since('beat')).toEqual([]);
  expect(since('c9')).toBeNull();
});

test('nothing before a new start is known to be complete, but its events are still recognized', () => {
  const recent = new Recent();
  recent.restart('c0');
  recent.addEvent(eventOf(1));
  recent.restart('c5');
  expect([recent.has('c0'), recent.has('c1'), recent.has('c5')]).toEqual([false, false, true]);
  expect(recent.addEvent(eventOf(1))).toBe(false);
});

test('an event that is older than another is kept, but is not the next one', () => {
  const recent = new Recent();
  recent.restart('c4');
  recent.addEvent(eventOf(5));
  recent.restart('c2');
  expect(recent.addEvent(eventOf(3))).toBe(false);
  expect(recent.since('c2')?.map(({ id }) => id)).toEqual(['evt_3']);
  recent.forgetOrder();
  expect(recent.addEvent(eventOf(4))).toBe(true);
});

test('events after a known cursor are recognized, however many there were', () => {
  const recent = new Recent();
  recent.restart('c0');
  for (let n = 1; n <= 10_000; n++) recent.addEvent(eventOf(n));
  for (let n = 1; n <= 10_000; n++)
    for (const { id } of recent.since(`c${n}`)?.slice(0, 1) ?? [])
      expect(recent.addEvent(eventOf(Number(id.slice(4))))).toBe(false);
  expect(recent.has('c0')).toBe(false);
});
