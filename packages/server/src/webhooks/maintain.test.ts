import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startConsumer } from '../events/index.ts';
import { until } from '../events/events.fixture.ts';
import { fanOut } from './fan-out.ts';
import { tidyDeliveries } from './maintain.ts';
import { openSending } from './sending.fixture.ts';
import type { Sending } from './sending.fixture.ts';

let s: Sending;
beforeAll(async () => {
  s = await openSending();
});
afterEach(() => {
  s.ctx.clock.offsetMs = 0;
});
afterAll(() => s.close());

const DAY_MS = 86_400_000;
const tidy = (mostPending?: number) => tidyDeliveries(s.ctx, new AbortController().signal, mostPending);

/** A subscription with so many pending deliveries; nothing is sent here. */
async function pending(count: number): Promise<string> {
  const orgId = await s.organization();
  const { id } = await s.subscribe('https://hook.test/', { org_id: orgId, disabled_reason: 'user' });
  const consuming = startConsumer(s.ctx, fanOut(s.ctx));
  for (let i = 0; i < count; i++) await s.publish('run.completed', { orgId });
  await until(async () => (await s.deliveries(id)).length === count);
  await consuming.stop();
  return id;
}
const outcomes = async (id: string) =>
  (await s.deliveries(id)).map(({ status, error_code: code }) => code ?? status);

test('deliveries that are pending for seven days expire without an attempt, also while paused', async () => {
  const id = await pending(2);
  s.ctx.clock.offsetMs = 7 * DAY_MS - 60_000;
  await tidy();
  expect(await outcomes(id)).toEqual(['pending', 'pending']);
  await s.ctx.db
    .updateTable('webhook_deliveries')
    .set({ created_at: sql<Date>`created_at - interval '2 minutes'`, attempt_count: 3 })
    .where('id', '=', (await s.deliveries(id))[0]!.id)
    .execute();
  await tidy();
  expect(await outcomes(id)).toEqual(['expired', 'pending']);
  expect((await s.deliveries(id))[0]).toMatchObject({
    status: 'failed',
    next_attempt_at: null,
    attempt_count: 3,
  });
});

test('beyond the limit of pending deliveries, the oldest fail, also attempted ones', async () => {
  const [id, other] = [await pending(6), await pending(2)];
  const [first, second] = await s.deliveries(id);
  await s.ctx.db
    .updateTable('webhook_deliveries')
    .set({ attempt_count: 1, next_attempt_at: new Date(Date.now() + DAY_MS) })
    .where('id', '=', second!.id)
    .execute();
  await tidy(6);
  expect(await outcomes(id)).toEqual(Array(6).fill('pending'));
  await tidy(3);
  expect(await outcomes(id)).toEqual([...Array(3).fill('overflow'), ...Array(3).fill('pending')]);
  expect(await outcomes(other)).toEqual(['pending', 'pending']);
  expect(first!.finished_at).toBeNull();
});

test('ended deliveries are removed after the event retention; pending ones stay', async () => {
  const id = await pending(3);
  const [first, second] = await s.deliveries(id);
  for (const [delivery, age] of [
    [first!, 7 * DAY_MS + 1_000],
    [second!, 7 * DAY_MS - 60_000],
  ] as const)
    await s.ctx.db
      .updateTable('webhook_deliveries')
      .set({ status: 'succeeded', next_attempt_at: null, finished_at: new Date(Date.now() - age) })
      .where('id', '=', delivery.id)
      .execute();
  await tidy();
  expect(await outcomes(id)).toEqual(['succeeded', 'pending']);
});
