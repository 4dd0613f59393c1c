import { CompiledQuery } from 'kysely';
import { Webhook } from 'standardwebhooks';
import { afterEach, expect, test } from 'vitest';
import { json } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import { until } from '../events/events.fixture.ts';
import { newId } from '../ids.ts';
import { sealSigningSecret } from '../signing-secrets.ts';
import { openReceiver, openSending } from './sending.fixture.ts';
import type { Receiver, Sending } from './sending.fixture.ts';
import { PURPOSE } from './secrets.ts';
import { insertDelivery, removeSubscription, saveSubscription } from './store.ts';
import type { SubscriptionChange } from './store.ts';

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});
async function sending(settings?: Parameters<typeof openSending>[0]): Promise<Sending> {
  const one = await openSending(settings);
  opened.push(one);
  return one;
}
async function receiver(answer?: Receiver['answer']): Promise<Receiver> {
  const one = await openReceiver(answer);
  opened.push(one);
  return one;
}

/** The deliveries of a subscription, once there are `count` and none is pending. */
const ended = (s: Sending, id: string, count = 1) =>
  until(async () => {
    const all = await s.deliveries(id);
    return all.length >= count && all.every(({ status }) => status !== 'pending') ? all : null;
  });
/** Once there are `count` deliveries of which each has been attempted so often. */
const attempted = (s: Sending, id: string, attempts: number, count = 1) =>
  until(async () => {
    const all = await s.deliveries(id);
    return all.length >= count && all.every((one) => one.attempt_count >= attempts) ? all : null;
  });
const change = (s: Sending, id: string, fields: SubscriptionChange) =>
  transaction(s.ctx, (tx) => saveSubscription(tx, id, fields));
const pingOf = (id: string) => ({
  project_id: null,
  event_id: newId('evt'),
  event_type: 'webhook.ping',
  event: {
    sequence: null,
    projectId: null,
    threadId: null,
    runId: null,
    data: { id },
    occurredAt: new Date().toISOString(),
    publishedAt: new Date().toISOString(),
  },
  redelivery_of: null,
});
const ping = (s: Sending, id: string) =>
  transaction(s.ctx, (tx) => insertDelivery(tx, { org_id: s.orgId, id }, pingOf(id)));
const audited = async (s: Sending) =>
  (await s.ctx.db.selectFrom('audit_entries').select(['action', 'actor_id', 'target_id']).execute()).map(
    ({ action, actor_id: actor, target_id: target }) => [action, actor, target],
  );
const sequences = (r: Receiver) => r.requests.map((request) => Number(request.json.sequence));

test('an event is posted once, as the feed shows it, signed', async () => {
  const s = await sending();
  const r = await receiver();
  const { id, secret } = await s.subscribe(r);
  s.start();
  const eventId = await s.publish('run.completed', { data: { id: 'run_1', status: 'completed' } });
  const [delivery] = await ended(s, id);
  expect(r.requests).toHaveLength(1);
  const { headers, json: envelope, body } = r.requests[0]!;
  expect(envelope).toEqual({
    id: eventId,
    type: 'run.completed',
    sequence: '1',
    orgId: s.orgId,
    projectId: null,
    threadId: null,
    runId: null,
    data: { id: 'run_1', status: 'completed' },
    occurredAt: expect.any(String),
    publishedAt: expect.any(String),
    cursor: expect.any(String),
  });
  expect(headers).toMatchObject({
    'webhook-id': eventId,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': 'Headrace/1.2.3',
  });
  expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toEqual(envelope);
  expect(() =>
    new Webhook(secret).verify(body.replace('run_1', 'run_2'), headers as Record<string, string>),
  ).toThrow();
  expect(delivery).toMatchObject({
    attempt_count: 1,
    attempts: [{ statusCode: 200, error: null, response: '' }],
    error_code: null,
  });
});

test('until a rotation ends both secrets sign, the new one first', async () => {
  const s = await sending();
  const r = await receiver();
  const { id, secret } = await s.subscribe(r);
  const { secret_sealed: former } = await s.subscription(id);
  const next = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const sealed = sealSigningSecret(s.ctx.secretKey, PURPOSE, { org_id: s.orgId, id }, next);
  const rotated = { secret_sealed: sealed, former_secret_sealed: former };
  await change(s, id, { ...rotated, former_secret_until: new Date(Date.now() + 60_000) });
  s.start();
  const last = async () => {
    const count = r.requests.length;
    await s.publish();
    const { headers, body } = await until(() => r.requests[count]);
    const signatures = String(headers['webhook-signature']).split(' ');
    return signatures.map((one) =>
      [next, secret].findIndex((each) => {
        const at = new Date(Number(headers['webhook-timestamp']) * 1_000);
        return new Webhook(each).sign(String(headers['webhook-id']), at, body) === one;
      }),
    );
  };
  expect(await last()).toEqual([0, 1]);
  await change(s, id, { ...rotated, former_secret_until: new Date(Date.now() - 1) });
  expect(await last()).toEqual([0]);
});

test('a failed delivery is retried by the schedule, with the same id, until it is accepted', async () => {
  const s = await sending();
  const r = await receiver((_request, response, index) => {
    response.writeHead(index < 2 ? 500 : 204).end();
  });
  const { id } = await s.subscribe(r);
  s.start();
  await s.publish();
  await attempted(s, id, 1);
  expect((await s.subscription(id)).failing_since).not.toBeNull();
  const [delivery] = await ended(s, id);
  expect(delivery).toMatchObject({ status: 'succeeded', attempt_count: 3, next_attempt_at: null });
  expect(delivery!.attempts.map(({ statusCode, error }) => [statusCode, error])).toEqual([
    [500, 'status'],
    [500, 'status'],
    [204, null],
  ]);
  expect(await s.subscription(id)).toMatchObject({ failing_since: null, failed_attempts: 0 });
  expect(new Set(r.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  expect(new Set(r.requests.map(({ body }) => body)).size).toBe(1);
  const times = delivery!.attempts.map(({ at }) => Date.parse(at));
  expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(270);
});

test('after the last attempt a delivery has failed, and a Retry-After puts one off', async () => {
  const s = await sending({ retrySeconds: [0.2] });
  const [r, slow] = [
    await receiver(503),
    await receiver((_request, response) => {
      response.writeHead(429, { 'retry-after': '600' }).end();
    }),
  ];
  const [one, other] = [await s.subscribe(r), await s.subscribe(slow)];
  s.start();
  await s.publish();
  const [delivery] = await ended(s, one.id);
  expect(delivery).toMatchObject({ status: 'failed', error_code: 'exhausted', attempt_count: 2 });
  const [later] = await s.deliveries(other.id);
  expect(later).toMatchObject({ status: 'pending', attempt_count: 1 });
  expect(later!.next_attempt_at!.getTime() - Date.parse(later!.attempts[0]!.at)).toBeGreaterThanOrEqual(
    600_000,
  );
});

test('eight of a subscription are under way, begun in the order of the log; others do not wait', async () => {
  const s = await sending();
  const gate = Promise.withResolvers<void>();
  const r = await receiver(async (_request, response) => {
    await gate.promise;
    response.end();
  });
  const well = await receiver();
  const [stuck, other] = [await s.subscribe(r), await s.subscribe(well)];
  s.start();
  for (let i = 0; i < 20; i++) await s.publish();
  await ended(s, other.id, 20);
  expect(sequences(well).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
  expect(sequences(r).toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  expect(await s.deliveries(stuck.id)).toHaveLength(20);
  gate.resolve();
  await ended(s, stuck.id, 20);
  expect(r.mostOpen).toBe(8);
  expect(new Set(sequences(r)).size).toBe(20);
});

test('410 disables: pending deliveries stay, new events add none; once enabled again, pending deliveries are sent', async () => {
  const s = await sending();
  const r = await receiver((_request, response, index) => {
    response.writeHead(index === 0 ? 503 : 410, { 'retry-after': '60' }).end();
  });
  const { id } = await s.subscribe(r);
  s.start();
  await s.publish();
  await attempted(s, id, 1);
  await s.publish();
  await until(async () => (await s.subscription(id)).disabled_reason === 'gone');
  const later = await s.subscribe(await receiver());
  await s.publish();
  await ended(s, later.id);
  expect((await s.deliveries(id)).map(({ status, error_code: code }) => [status, code])).toEqual([
    ['pending', null],
    ['failed', 'gone'],
  ]);
  expect(await audited(s)).toEqual([['webhook.disabled', null, id]]);
  r.answer = 200;
  s.ctx.clock.offsetMs = 61_000;
  await change(s, id, { disabled_reason: null, failing_since: null, failed_attempts: 0 });
  const all = await ended(s, id, 2);
  expect(all.map(({ status }) => status)).toEqual(['succeeded', 'failed']);
});

test('when every attempt has failed for long, ten at least, the subscription is disabled', async () => {
  const s = await sending({ disableAfterSeconds: 60, retrySeconds: [3_600] });
  const r = await receiver(500);
  const { id } = await s.subscribe(r);
  s.start();
  for (let i = 0; i < 9; i++) await s.publish();
  await attempted(s, id, 1, 9);
  s.ctx.clock.offsetMs = 61_000;
  expect(await s.subscription(id)).toMatchObject({ disabled_reason: null, failed_attempts: 9 });
  await s.publish();
  await until(async () => (await s.subscription(id)).disabled_reason === 'failures');
  expect(await audited(s)).toEqual([['webhook.disabled', null, id]]);
  expect((await s.deliveries(id)).map(({ status }) => status)).toEqual(Array(10).fill('pending'));
});

test('while paused only pings are sent; after resuming, due deliveries are sent at once, oldest first', async () => {
  const s = await sending();
  const r = await receiver();
  const { id } = await s.subscribe(r, { disabled_reason: 'user' });
  s.start();
  for (let i = 0; i < 12; i++) await s.publish();
  await until(async () => (await s.deliveries(id)).length === 12);
  await ping(s, id);
  await until(async () => (await s.deliveries(id)).at(-1)!.status === 'succeeded');
  expect(
    r.requests.map(({ json: { type, sequence, cursor, data } }) => [type, sequence, cursor, data]),
  ).toEqual([['webhook.ping', null, null, { id }]]);
  expect((await s.subscription(id)).disabled_reason).toBe('user');
  const gate = Promise.withResolvers<void>();
  r.answer = async (_request, response) => {
    await gate.promise;
    response.end();
  };
  await change(s, id, { disabled_reason: null });
  await until(() => r.requests.length === 9);
  expect(
    sequences(r)
      .slice(1)
      .toSorted((a, b) => a - b),
  ).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  gate.resolve();
  await ended(s, id, 13);
});

test('a new URL applies from the next attempt, and a deleted subscription gets nothing more', async () => {
  const s = await sending();
  const [old, fresh] = [await receiver(500), await receiver()];
  const { id } = await s.subscribe(old);
  const gone = await s.subscribe(old);
  s.start();
  await s.publish();
  await Promise.all([attempted(s, id, 1), attempted(s, gone.id, 1)]);
  await change(s, id, { url: fresh.url });
  await transaction(s.ctx, (tx) => removeSubscription(tx, gone.id));
  const before = old.requests.length;
  await s.publish();
  await ended(s, id, 2);
  expect([fresh.requests.length, old.requests.length]).toEqual([2, before]);
  expect(await s.deliveries(gone.id)).toHaveLength(1);
});

test("an app's delivery fails without an attempt, and so does one that is too old", async () => {
  const s = await sending();
  const r = await receiver();
  const { id } = await s.subscribe(r, { disabled_reason: 'user' });
  const app = newId('prj');
  await s.ctx.db
    .insertInto('projects')
    .values({ org_id: s.orgId, id: app, kind: 'platform', name: 'App', metadata: json({}) })
    .execute();
  const running = s.start();
  for (let i = 0; i < 3; i++) await s.publish();
  const [first, second] = await until(async () => {
    const all = await s.deliveries(id);
    return all.length === 3 ? all : null;
  });
  await running.stop();
  const { db } = s.ctx;
  await db.updateTable('webhook_deliveries').set({ project_id: app }).where('id', '=', first!.id).execute();
  await db
    .updateTable('webhook_deliveries')
    .set({ created_at: new Date(Date.now() - 7 * 86_400_000 - 1_000) })
    .where('id', '=', second!.id)
    .execute();
  await change(s, id, { disabled_reason: null });
  s.start();
  const all = await ended(s, id, 3);
  expect(all.map((one) => [one.status, one.error_code, one.attempt_count])).toEqual([
    ['failed', 'platform_app_event', 0],
    ['failed', 'expired', 0],
    ['succeeded', null, 1],
  ]);
  expect(sequences(r)).toEqual([3]);
});

test('an organization that loses the capability gets no further deliveries; pending ones end normally', async () => {
  const s = await sending();
  const [r, other] = [await receiver(500), await receiver()];
  const orgId = await s.organization();
  const { id } = await s.subscribe(r, { org_id: orgId });
  const there = await s.subscribe(other);
  s.start();
  const set = (without: string[]) =>
    s.ctx.db.updateTable('organizations').set({ without }).where('id', '=', orgId).execute();
  await s.publish('run.failed', { orgId });
  await attempted(s, id, 1);
  await set(['webhooks']);
  await s.publish('run.completed', { orgId });
  await s.publish();
  await ended(s, there.id);
  r.answer = 200;
  expect((await ended(s, id)).map(({ event_type: type, status }) => [type, status])).toEqual([
    ['run.failed', 'succeeded'],
  ]);
  // Nothing is made up.
  await set([]);
  await s.publish('run.cancelled', { orgId });
  expect((await ended(s, id, 2)).map(({ event_type: type }) => type)).toEqual([
    'run.failed',
    'run.cancelled',
  ]);
});

test('while the deployment has webhooks switched off, nothing is added, pending deliveries are sent, and the log goes on', async () => {
  const s = await sending({ disabled: ['webhooks'] });
  const r = await receiver();
  const { id } = await s.subscribe(r);
  await ping(s, id);
  s.start();
  await s.publish();
  const consumer = s.ctx.db.selectFrom('log_consumers').select('sequence').where('name', '=', 'webhooks');
  await until(async () => (await consumer.executeTakeFirstOrThrow()).sequence === 1);
  expect((await ended(s, id)).map(({ event_type: type, status }) => [type, status])).toEqual([
    ['webhook.ping', 'succeeded'],
  ]);
});

test('one process sends; when it stops, another continues, and dropped attempts are repeated', async () => {
  const s = await sending();
  const r = await receiver(() => {});
  const { id } = await s.subscribe(r);
  const first = s.start();
  await s.publish();
  await until(() => r.requests.length === 1);
  s.start();
  await s.publish();
  await until(() => r.requests.length === 2);
  const stopping = first.stop();
  r.answer = 200;
  await stopping;
  const all = await ended(s, id, 2);
  expect(all.map(({ attempt_count: count }) => count)).toEqual([1, 1]);
  expect(sequences(r).toSorted((a, b) => a - b)).toEqual([1, 1, 2, 2]);
});

test('first attempts are due regardless of the clock, which may be set back', async () => {
  const s = await sending();
  const r = await receiver();
  const { id } = await s.subscribe(r);
  const ahead = new Date(Date.now() + 3_600_000);
  await s.ctx.db.updateTable('log_state').set({ last_published_at: ahead }).execute();
  s.start();
  for (let i = 0; i < 3; i++) {
    await s.publish();
    await ended(s, id, i + 1);
  }
  expect(sequences(r)).toEqual([1, 2, 3]);
});

test('a delivery that is committed after later ones were sent is also sent, while others wait', async () => {
  const s = await sending();
  const r = await receiver((request, response) => {
    if (request.json.sequence !== '2') response.end();
  });
  const { id } = await s.subscribe(r);
  s.start();
  const held = Promise.withResolvers<void>();
  const inserted = Promise.withResolvers<void>();
  const late = transaction(s.ctx, async (tx) => {
    await insertDelivery(tx, { org_id: s.orgId, id }, pingOf(id));
    inserted.resolve();
    await held.promise;
  });
  await inserted.promise;
  await s.publish();
  await ended(s, id);
  await s.publish();
  await until(() => r.requests.length === 2);
  held.resolve();
  await late;
  await until(async () => (await s.deliveries(id))[0]!.status === 'succeeded');
  expect(r.requests.map((request) => request.json.type).at(-1)).toBe('webhook.ping');
});

test('a lost connection is replaced', async () => {
  const s = await sending();
  const r = await receiver();
  const { id } = await s.subscribe(r);
  s.start();
  await s.publish();
  await ended(s, id);
  const { rows } = await until(async () => {
    const found = await s.ctx.db.executeQuery<{ ended: boolean }>(
      CompiledQuery.raw(
        `select pg_terminate_backend(pid) as ended from pg_stat_activity where datname = current_database() and application_name like 'headrace-webhooks%'`,
      ),
    );
    return found.rows.length ? found : null;
  });
  expect(rows).toEqual([{ ended: true }]);
  await s.publish();
  await ended(s, id, 2);
  expect(sequences(r)).toEqual([1, 2]);
});
