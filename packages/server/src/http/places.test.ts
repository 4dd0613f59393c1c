import { expect, test } from 'vitest';
import { Places } from './places.ts';

const BOUNDS = { what: 'visits', all: 3, each: 2, waiting: 1, waitMs: 5_000 };
const never = new AbortController().signal;

test('an organization has its places, and its queue holds up no other', async () => {
  const places = new Places(BOUNDS);
  const [leave] = [await places.take('a', never), await places.take('a', never)];
  const order: string[] = [];
  const waiting = places.take('a', never).then((free) => (order.push('a'), free));
  await expect(places.take('a', never)).rejects.toMatchObject({
    status: 503,
    message: 'Too many visits are in progress. Retry in a moment.',
    headers: { 'Retry-After': '5' },
  });
  const other = await places.take('b', never);
  order.push('b');
  const second = places.take('b', never).then((free) => (order.push('b again'), free));
  leave();
  // Given back once, however often it is said.
  leave();
  await waiting;
  other();
  await second;
  expect(order).toEqual(['b', 'a', 'b again']);
});

test('who waits too long, or goes, waits no more', async () => {
  const places = new Places({ ...BOUNDS, all: 1, waitMs: 20 });
  const leave = await places.take('a', never);
  await expect(places.take('b', never)).rejects.toMatchObject({ code: 'unavailable' });
  const gone = new AbortController();
  const waiting = places.take('b', gone.signal);
  gone.abort(new Error('gone'));
  await expect(waiting).rejects.toThrow('gone');
  leave();
  (await places.take('b', never))();
});
