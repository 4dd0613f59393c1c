import { expect, test } from 'vitest';
import { withinTime } from './within-time.ts';

test('work that is done in time is answered, and its signal rests', async () => {
  let given: AbortSignal | undefined;
  const done = withinTime(60_000, async (signal) => {
    given = signal;
    return 'done';
  });
  expect([await done, given?.aborted]).toEqual(['done', false]);
  await expect(withinTime(60_000, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
});

test('work that hangs is left, and finds that out', async () => {
  const answered = Promise.withResolvers<void>();
  let afterwards: Promise<void> | undefined;
  const hanging = withinTime(10, (signal) => {
    afterwards = answered.promise.then(() => signal.throwIfAborted());
    return afterwards;
  });
  await expect(hanging).rejects.toThrow('not done within 10 ms');
  answered.resolve();
  await expect(afterwards).rejects.toThrow('not done within 10 ms');
});
