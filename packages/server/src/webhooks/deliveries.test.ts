import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newAccount, tenant } from '../accounts/callers.fixture.ts';
import { newId } from '../ids.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestAnswer, TestServer } from '../service.fixture.ts';
import { ok, refusal } from '../threads/threads.fixture.ts';

type Json = TestAnswer['body'];

let s: TestServer;
let cookie: string;
let key: string;
beforeAll(async () => {
  // Without a worker: what is pending stays so.
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  ({ cookie } = await tenant(s));
  ({ key } = await newAccount(s, cookie));
});
afterAll(() => s?.close());

const call = (method: string, path: string, body?: Json, as = key) => s.call(method, path, body, { key: as });
const subscribe = async (fields: Json = {}): Promise<string> => {
  const body = { url: 'https://hooks.example.com/', types: ['*'], ...fields };
  return `/api/webhooks/${(await ok(call('POST', '/api/webhooks', body))).subscription.id}`;
};
const ping = async (path: string): Promise<Json> => (await ok(call('POST', `${path}/test`, {}))).delivery;
const listed = async (path: string, query = ''): Promise<string[]> =>
  (await ok(call('GET', `${path}/deliveries?limit=200&${query}`))).deliveries.map((one: Json) => one.id);
const idOf = (path: string) => path.split('/').at(-1)!;

/** Ends a delivery as an attempt would. */
const end = (id: string, status: 'succeeded' | 'failed') =>
  sql`update webhook_deliveries set status = ${status}, next_attempt_at = null, finished_at = now(),
    error_code = ${status === 'failed' ? 'exhausted' : null}, attempt_count = 1,
    attempts = ${JSON.stringify([{ at: new Date().toISOString(), durationMs: 7, statusCode: 200, error: null, response: 'ok' }])}::jsonb
    where id = ${id}`.execute(s.service.ctx.db);

/** A delivery of an event of the log. */
async function deliver(path: string, eventType: string): Promise<string> {
  const id = newId('whd');
  await sql`
    insert into webhook_deliveries (org_id, id, subscription_id, event_id, event_type, event, next_attempt_at)
    select org_id, ${id}, id, ${newId('evt')}, ${eventType}, '{"data": {"id": "run_1"}}', now()
    from webhook_subscriptions where id = ${idOf(path)}`.execute(s.service.ctx.db);
  return id;
}

describe('a test', () => {
  test('is a delivery of a ping that is due at once, also while the webhook is disabled, and wakes the sender', async () => {
    const { project } = await ok(call('POST', '/api/projects', { name: 'Garden' }));
    const path = await subscribe({ projectId: project.id, disabled: true });
    const woken: string[] = [];
    const unlisten = s.service.ctx.bus.listen('webhooks', (id) => woken.push(id));
    const delivery = await ping(path);
    await expect.poll(() => woken, { timeout: 5_000, interval: 10 }).toContain(idOf(path));
    unlisten();
    expect(delivery).toEqual({
      id: expect.stringMatching(/^whd_/),
      subscriptionId: idOf(path),
      eventId: expect.stringMatching(/^evt_/),
      eventType: 'webhook.ping',
      projectId: project.id,
      status: 'pending',
      attemptCount: 0,
      attempts: [],
      nextAttemptAt: delivery.createdAt,
      errorCode: null,
      redeliveryOf: null,
      createdAt: expect.stringMatching(/Z$/),
      finishedAt: null,
    });
    expect((await ok(call('GET', `${path}/deliveries/${delivery.id}`))).delivery).toEqual(delivery);
    const row = await s.service.ctx.db
      .selectFrom('webhook_deliveries')
      .select('event')
      .where('id', '=', delivery.id)
      .executeTakeFirstOrThrow();
    expect(row.event).toMatchObject({ sequence: null, projectId: project.id, data: { id: idOf(path) } });
    const events = await ok(call('GET', '/api/events?limit=500'));
    expect(events.events.filter((one: Json) => one.type === 'webhook.ping')).toEqual([]);
  });

  test('takes no fields', async () => {
    const path = await subscribe();
    expect(await refusal(call('POST', `${path}/test`, { type: 'run.completed' }))).toBe(
      '400 invalid_request /type',
    );
    expect(await listed(path)).toEqual([]);
  });
});

describe('redelivery', () => {
  test('creates a new delivery of the same event, due at once, with redeliveryOf', async () => {
    const path = await subscribe();
    const first = await deliver(path, 'run.failed');
    await end(first, 'failed');
    const redeliver = async (id: string) =>
      (await ok(call('POST', `${path}/deliveries/${id}/redeliver`, {}))).delivery;
    const before = (await ok(call('GET', `${path}/deliveries/${first}`))).delivery;
    const second = await redeliver(first);
    expect(second).toEqual({
      ...before,
      id: expect.stringMatching(/^whd_/),
      status: 'pending',
      attemptCount: 0,
      attempts: [],
      nextAttemptAt: second.createdAt,
      errorCode: null,
      redeliveryOf: first,
      createdAt: expect.any(String),
      finishedAt: null,
    });
    const third = await redeliver(second.id);
    expect([third.redeliveryOf, third.eventId]).toEqual([second.id, before.eventId]);
    expect(await listed(path)).toEqual([third.id, second.id, first]);
    expect((await ok(call('GET', `${path}/deliveries/${first}`))).delivery).toEqual(before);
    const { rows } = await sql`select distinct event from webhook_deliveries
      where subscription_id = ${idOf(path)}`.execute(s.service.ctx.db);
    expect(rows).toHaveLength(1);
  });

  test('works for a ping; a retry with the same key creates no further delivery', async () => {
    const path = await subscribe();
    const { id } = await ping(path);
    const idem = randomUUID();
    const again = () => s.call('POST', `${path}/deliveries/${id}/redeliver`, {}, { key, idem });
    const [one, two] = [await again(), await again()];
    expect([one.status, two.text]).toEqual([202, one.text]);
    expect(one.body.delivery).toMatchObject({ eventType: 'webhook.ping', redeliveryOf: id });
    expect(await listed(path)).toEqual([one.body.delivery.id, id]);
  });

  test('is refused while the webhook is disabled, by a caller or the service', async () => {
    const path = await subscribe();
    const { id } = await ping(path);
    for (const reason of ['user', 'gone', 'failures']) {
      await sql`update webhook_subscriptions set disabled_reason = ${reason} where id = ${idOf(path)}`.execute(
        s.service.ctx.db,
      );
      expect(await refusal(call('POST', `${path}/deliveries/${id}/redeliver`, {}))).toBe(
        '409 webhook_disabled',
      );
    }
    expect(await listed(path)).toEqual([id]);
  });
});

describe('lists', () => {
  test('are newest first, by status and type, page by page', async () => {
    const path = await subscribe();
    const ids: string[] = [];
    for (const type of ['run.failed', 'run.completed', 'run.failed', 'run.failed'])
      ids.unshift(await deliver(path, type));
    const [last, failed, succeeded, first] = ids as [string, string, string, string];
    await end(failed, 'failed');
    await end(succeeded, 'succeeded');
    expect(await listed(path)).toEqual(ids);
    expect(await listed(path, 'status=pending')).toEqual([last, first]);
    expect(await listed(path, 'status=failed')).toEqual([failed]);
    expect(await listed(path, 'eventType=run.failed')).toEqual([last, failed, first]);
    expect(await listed(path, 'eventType=run.failed&status=pending')).toEqual([last, first]);
    expect(await listed(path, 'eventType=webhook.ping')).toEqual([]);
    const pages: string[] = [];
    for (let cursor = ''; ;) {
      const page = await ok(call('GET', `${path}/deliveries?limit=1&status=pending${cursor}`));
      pages.push(...page.deliveries.map((one: Json) => one.id));
      if (!page.hasMore) break;
      cursor = `&cursor=${page.nextCursor}`;
      expect(await refusal(call('GET', `${path}/deliveries?limit=1${cursor}`))).toBe('400 invalid_cursor');
    }
    expect(pages).toEqual([last, first]);
    expect((await ok(call('GET', `${path}/deliveries/${succeeded}`))).delivery).toMatchObject({
      status: 'succeeded',
      attempts: [{ durationMs: 7, statusCode: 200, error: null, response: 'ok' }],
      nextAttemptAt: null,
      finishedAt: expect.stringMatching(/Z$/),
    });
  });

  test.each([
    ['status=sent', '/query/status'],
    ['status=', '/query/status'],
    ['eventType=moon', '/query/eventType'],
    ['eventType=run.*', '/query/eventType'],
    ['types=run.failed', '/query/types'],
    ['limit=0', '/query/limit'],
    ['limit=201', '/query/limit'],
  ])('refuse ?%s', async (query, at) => {
    const path = await subscribe();
    expect(await refusal(call('GET', `${path}/deliveries?${query}`))).toBe(`400 invalid_request ${at}`);
  });
});

describe('404', () => {
  test("a delivery that is unknown, or another webhook's", async () => {
    const [path, other] = [await subscribe(), await subscribe()];
    for (const id of [(await ping(other)).id, newId('whd'), 'none']) {
      expect(await refusal(call('GET', `${path}/deliveries/${id}`))).toBe('404 delivery_not_found');
      expect(await refusal(call('POST', `${path}/deliveries/${id}/redeliver`, {}))).toBe(
        '404 delivery_not_found',
      );
    }
  });

  test('everything of a webhook that is deleted, or that a restricted key does not see', async () => {
    const { project } = await ok(call('POST', '/api/projects', { name: 'Garden' }));
    const limited = (await newAccount(s, cookie, { projectIds: [project.id] })).key as string;
    const [own, wide, gone] = [
      await subscribe({ projectId: project.id }),
      await subscribe(),
      await subscribe(),
    ];
    const pings = new Map<string, string>();
    for (const path of [own, wide, gone]) pings.set(path, (await ping(path)).id);
    await ok(call('DELETE', gone));
    for (const [path, as] of [
      [gone, key],
      [wide, limited],
    ] as const) {
      const one = `${path}/deliveries/${pings.get(path)}`;
      for (const answer of [
        call('GET', path, undefined, as),
        call('PATCH', path, { disabled: true }, as),
        call('DELETE', path, undefined, as),
        call('POST', `${path}/secret`, {}, as),
        call('POST', `${path}/test`, {}, as),
        call('GET', `${path}/deliveries`, undefined, as),
        call('GET', one, undefined, as),
        call('POST', `${one}/redeliver`, {}, as),
      ])
        expect(await refusal(answer)).toBe('404 webhook_not_found');
    }
    const { deliveries } = await ok(call('GET', `${own}/deliveries`, undefined, limited));
    expect(deliveries.map((one: Json) => one.id)).toEqual([pings.get(own)]);
  });
});
