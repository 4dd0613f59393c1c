import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DeliveryAttempt } from '../db/schema.ts';
import { takeBatch } from '../events/index.ts';
import { until } from '../events/events.fixture.ts';
import { fanOut } from './fan-out.ts';
import { openSending } from './sending.fixture.ts';
import type { Sending } from './sending.fixture.ts';
import { healthAfter, settleFailure } from './settle.ts';

let s: Sending;
beforeAll(async () => {
  s = await openSending({ retrySeconds: [60, 60] });
});
afterAll(() => s.close());

const attempt: DeliveryAttempt = {
  at: '2026-11-23T12:00:00.000Z',
  durationMs: 5,
  statusCode: 500,
  error: 'status',
  response: 'no',
};

async function pending() {
  const { id } = await s.subscribe('https://hook.test/');
  await s.publish();
  await until(() => takeBatch(s.ctx, fanOut(s.ctx)));
  const [delivery] = await s.deliveries(id);
  return { id, delivery: delivery! };
}

test('an outcome is stored once: a row that has changed since is not updated', async () => {
  const { id, delivery } = await pending();
  const failed = { delivery, attempt, retryAfter: null };
  expect(await settleFailure(s.ctx, failed)).toBeGreaterThan(50_000);
  const after = await s.deliveries(id);
  expect(after).toMatchObject([{ status: 'pending', attempt_count: 1, attempts: [attempt] }]);
  expect(await settleFailure(s.ctx, failed)).toBeNull();
  expect(await s.deliveries(id)).toEqual(after);
  expect(await s.subscription(id)).toMatchObject({ failed_attempts: 1 });
});

test('a subscription that is disabled has changed, one that fails has not', async () => {
  const { id, delivery } = await pending();
  const { updated_at: made } = await s.subscription(id);
  await settleFailure(s.ctx, { delivery, attempt, retryAfter: null });
  expect(await s.subscription(id)).toMatchObject({ updated_at: made, failed_attempts: 1 });
  const again = { ...delivery, attempt_count: 1 };
  await settleFailure(s.ctx, { delivery: again, attempt: { ...attempt, statusCode: 410 }, retryAfter: null });
  const { updated_at: changed, disabled_reason: reason } = await s.subscription(id);
  expect(reason).toBe('gone');
  expect(changed.getTime()).toBeGreaterThan(made.getTime());
});

test('the last ten attempts are kept', async () => {
  const { id, delivery } = await pending();
  const before = Array.from({ length: 10 }, (_, n) => ({ ...attempt, durationMs: n }));
  await s.ctx.db
    .updateTable('webhook_deliveries')
    .set({ attempt_count: 1, attempts: JSON.stringify(before) as never })
    .where('id', '=', delivery.id)
    .execute();
  const seen = { ...delivery, attempt_count: 1, attempts: before };
  await settleFailure(s.ctx, { delivery: seen, attempt: { ...attempt, durationMs: 10 }, retryAfter: null });
  const [after] = await s.deliveries(id);
  expect(after!.attempts.map(({ durationMs }) => durationMs)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

test('a failed attempt changes a subscription', () => {
  const now = new Date('2026-11-23T12:00:00Z');
  const longAgo = new Date(now.getTime() - 60_000);
  const recently = new Date(now.getTime() - 59_999);
  const well = { disabled_reason: null, failing_since: null, failed_attempts: 0 };
  const after = (was: Partial<typeof well> | object, event: 'retry' | 'exhaust' | 'leave') =>
    healthAfter({ ...well, ...was }, event, { now, disableAfterSeconds: 60 });
  expect(after({}, 'retry')).toEqual({ disabled_reason: null, failing_since: now, failed_attempts: 1 });
  expect(after({ failing_since: longAgo, failed_attempts: 8 }, 'exhaust')).toEqual({
    disabled_reason: null,
    failing_since: longAgo,
    failed_attempts: 9,
  });
  expect(after({ failing_since: longAgo, failed_attempts: 9 }, 'retry')).toEqual({
    disabled_reason: 'failures',
    failing_since: longAgo,
    failed_attempts: 10,
  });
  // Nothing is written where nothing changes.
  expect(after({ failing_since: recently, failed_attempts: 10 }, 'retry')).toBeNull();
  expect(after({ failing_since: longAgo, failed_attempts: 10, disabled_reason: 'user' }, 'retry')).toBeNull();
  expect(after({}, 'leave')).toMatchObject({ disabled_reason: 'gone', failing_since: now });
  expect(after({ disabled_reason: 'user' }, 'leave')).toMatchObject({ disabled_reason: 'gone' });
});
