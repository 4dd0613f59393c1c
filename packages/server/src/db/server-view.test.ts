import { expect, test } from 'vitest';
import { ServerView } from './server-view.ts';

function viewAt() {
  const clock = { ms: 0 };
  return { clock, view: new ServerView(() => clock.ms) };
}

test('a server is seen from its first answer on, as long as answers come', () => {
  const { clock, view } = viewAt();
  expect(view.current()).toBeNull();
  view.saw('a');
  for (clock.ms = 2_000; clock.ms <= 20_000; clock.ms += 2_000) view.saw('a');
  expect(view.current()).toEqual({ identity: 'a', seenMs: 22_000 });
});

test('another server, a broken session and a silence each begin it again', () => {
  const { clock, view } = viewAt();
  view.saw('a');
  clock.ms = 4_000;
  view.saw('b');
  expect(view.current()).toEqual({ identity: 'b', seenMs: 0 });
  clock.ms = 8_000;
  expect(view.current()!.seenMs).toBe(4_000);
  view.lost();
  expect(view.current()).toBeNull();
  view.saw('b');
  expect(view.current()!.seenMs).toBe(0);
  // This process or the server stood still: no answer came, and none counts until the next one.
  clock.ms = 14_000;
  expect(view.current()).toBeNull();
  view.saw('b');
  expect(view.current()!.seenMs).toBe(0);
});
