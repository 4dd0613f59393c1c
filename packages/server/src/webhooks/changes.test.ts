import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newAccount, tenant } from '../accounts/callers.fixture.ts';
import { startConsumer } from '../events/index.ts';
import type { Consumer, Consuming } from '../events/index.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestAnswer, TestServer } from '../service.fixture.ts';
import { openSigningSecrets } from '../signing-secrets.ts';
import { ok, refusal } from '../threads/threads.fixture.ts';
import { PURPOSE } from './secrets.ts';

type Json = TestAnswer['body'];

let s: TestServer;
let cookie: string;
let key: string;
/** What the log's reader does, which a change of types waits for. */
let take: Consumer['take'] = () => Promise.resolve();
let consuming: Consuming;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  ({ cookie } = await tenant(s));
  ({ key } = await newAccount(s, cookie));
  consuming = startConsumer(s.service.ctx, {
    name: 'webhooks',
    idleWhen: 'false',
    take: (tx, events) => take(tx, events),
  });
});
afterAll(async () => {
  await consuming?.stop();
  await s?.close();
});

const call = (method: string, path: string, body?: Json) => s.call(method, path, body, { key });
const patch = (path: string, body: Json) => call('PATCH', path, body);
const patched = async (path: string, body: Json): Promise<Json> => (await ok(patch(path, body))).subscription;
const subscribe = async (fields: Json = {}): Promise<Json> =>
  ok(call('POST', '/api/webhooks', { url: 'https://hooks.example.com/', types: ['run.failed'], ...fields }));
const subscribed = async (fields: Json = {}): Promise<string> =>
  `/api/webhooks/${(await subscribe(fields)).subscription.id}`;
const now = async (path: string): Promise<Json> => (await ok(call('GET', path))).subscription;
const rowOf = (path: string) =>
  s.service.ctx.db
    .selectFrom('webhook_subscriptions')
    .selectAll()
    .where('id', '=', path.split('/').at(-1)!)
    .executeTakeFirstOrThrow();
/** As the sender does after attempts that failed. */
const disable = (path: string, reason: string | null) =>
  sql`update webhook_subscriptions set disabled_reason = ${reason}, failing_since = now(), failed_attempts = 12,
    after_sequence = 0 where id = ${path.split('/').at(-1)}`.execute(s.service.ctx.db);

describe('PATCH', () => {
  test('changes only the given fields', async () => {
    const path = await subscribed({ types: ['run.completed'] });
    const first = await now(path);
    const second = await patched(path, { types: ['run.failed', 'thread.*', 'run.failed'] });
    expect(second).toEqual({ ...first, types: ['run.failed', 'thread.*'], updatedAt: second.updatedAt });
    expect(second.updatedAt > first.updatedAt).toBe(true);
    const third = await patched(path, { url: 'https://other.example.com/' });
    expect(third).toEqual({ ...second, url: 'https://other.example.com/', updatedAt: third.updatedAt });
    const last = await patched(path, {});
    expect(last).toEqual({ ...third, updatedAt: last.updatedAt });
    expect(await now(path)).toEqual(last);
  });

  test('true pauses, false resumes', async () => {
    const path = await subscribed();
    expect(await patched(path, { disabled: true })).toMatchObject({ disabled: true, disabledReason: 'user' });
    expect(await patched(path, { url: 'https://other.example.com/' })).toMatchObject({ disabled: true });
    expect(await patched(path, { disabled: false })).toMatchObject({ disabled: false, disabledReason: null });
  });

  test('false begins a new count of failures, whether the webhook was disabled or not', async () => {
    for (const reason of ['gone', 'failures', null]) {
      const path = await subscribed();
      await disable(path, reason);
      expect(await now(path)).toMatchObject({ disabled: reason !== null, disabledReason: reason });
      expect((await now(path)).failingSince).not.toBeNull();
      expect(await patched(path, { disabled: false })).toMatchObject({
        disabled: false,
        disabledReason: null,
        failingSince: null,
      });
      expect((await rowOf(path)).failed_attempts).toBe(0);
    }
  });

  test('events during a pause add deliveries; events while the service had it disabled do not', async () => {
    const after = async (reason: string | null) => {
      const path = await subscribed();
      await disable(path, reason);
      await patched(path, { disabled: false });
      return (await rowOf(path)).after_sequence;
    };
    expect([await after('user'), await after(null)]).toEqual([0, 0]);
    const { last_sequence: end } = await s.service.ctx.db
      .selectFrom('log_state')
      .select('last_sequence')
      .executeTakeFirstOrThrow();
    for (const reason of ['gone', 'failures']) expect(await after(reason)).toBeGreaterThanOrEqual(end);
  });

  test('true keeps the reason of a webhook that the service disabled: events still add nothing', async () => {
    const path = await subscribed();
    await disable(path, 'gone');
    expect(await patched(path, { disabled: true })).toMatchObject({ disabledReason: 'gone' });
  });

  test('wakes the sender', async () => {
    const path = await subscribed();
    const woken: string[] = [];
    const unlisten = s.service.ctx.bus.listen('webhooks', (id) => woken.push(id));
    await patched(path, { disabled: false });
    await expect.poll(() => woken, { timeout: 5_000, interval: 10 }).toEqual([path.split('/').at(-1)]);
    await ok(call('DELETE', path));
    await expect.poll(() => woken.length, { timeout: 5_000, interval: 10 }).toBe(2);
    unlisten();
  });

  test('new types wait until earlier events have been matched with the old ones', async () => {
    const path = await subscribed({ types: ['run.failed'] });
    const seen: string[][] = [];
    const gate = Promise.withResolvers<void>();
    take = async (tx) => {
      await gate.promise;
      const { types } = await tx.db
        .selectFrom('webhook_subscriptions')
        .select('types')
        .where('id', '=', path.split('/').at(-1)!)
        .executeTakeFirstOrThrow();
      seen.push(types);
    };
    await ok(call('POST', '/api/projects', { name: 'Garden' }));
    const patching = patched(path, { types: ['thread.*'] });
    for (let i = 0; i < 3; i++) expect((await now(path)).types).toEqual(['run.failed']);
    gate.resolve();
    expect((await patching).types).toEqual(['thread.*']);
    expect(seen[0]).toEqual(['run.failed']);
    take = () => Promise.resolve();
  });

  test.each<[Json, string]>([
    [{ projectId: null }, '/projectId'],
    [{ secret: 'whsec_x' }, '/secret'],
    [{ disabledReason: null }, '/disabledReason'],
    [{ disabled: 'yes' }, '/disabled'],
    [{ disabled: null }, '/disabled'],
    [{ url: null }, '/url'],
    [{ url: 'http://hooks.example.com/' }, '/url'],
    [{ url: 'https://10.0.0.1/', disabled: true }, '/url'],
    [{ types: null }, '/types'],
    [{ types: ['moon'] }, '/types/0'],
    [{ types: Array.from({ length: 31 }, () => '*') }, '/types'],
  ])('refuses %j', async (body, at) => {
    const path = await subscribed();
    const before = await now(path);
    expect(await refusal(patch(path, body))).toBe(`400 invalid_request ${at}`);
    expect(await now(path)).toEqual(before);
  });
});

describe('a rotation', () => {
  const secretsOf = async (path: string, at = new Date()) =>
    openSigningSecrets(s.service.ctx.secretKey, PURPOSE, await rowOf(path), at);
  const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000);

  test('returns a new secret once; the old one also signs until its time', async () => {
    const made = await subscribe();
    const path = `/api/webhooks/${made.subscription.id}`;
    expect(await secretsOf(path)).toEqual([made.secret]);
    const idem = randomUUID();
    const rotate = () => s.call('POST', `${path}/secret`, {}, { key, idem });
    const [first, again] = [await rotate(), await rotate()];
    const { secret, ...rest } = first.body;
    expect([first.status, secret, rest]).toEqual([
      200,
      expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      { ok: true, subscription: await now(path), secretUnavailable: false },
    ]);
    expect([again.status, again.headers.get('idempotent-replayed'), again.body]).toEqual([
      200,
      'true',
      { ...rest, secretUnavailable: true },
    ]);
    expect(await secretsOf(path)).toEqual([secret, made.secret]);
    expect(await secretsOf(path, inSeconds(86_300))).toEqual([secret, made.secret]);
    expect(await secretsOf(path, inSeconds(86_500))).toEqual([secret]);
    const third = (await ok(call('POST', `${path}/secret`, { overlapSeconds: 604_800 }))).secret;
    expect(await secretsOf(path, inSeconds(604_700))).toEqual([third, secret]);
    const fourth = (await ok(call('POST', `${path}/secret`, { overlapSeconds: 0 }))).secret;
    expect(await secretsOf(path)).toEqual([fourth]);
    expect((await rowOf(path)).former_secret_sealed).toBeNull();
  });

  test.each([-1, 604_801, 1.5, '5', null])('refuses overlapSeconds %j', async (overlapSeconds) => {
    const path = await subscribed();
    expect(await refusal(call('POST', `${path}/secret`, { overlapSeconds }))).toBe(
      '400 invalid_request /overlapSeconds',
    );
  });

  test('leaves no secret in a row, a receipt, an event, a response or the audit log', async () => {
    const made = await subscribe();
    const path = `/api/webhooks/${made.subscription.id}`;
    const rotated = await ok(call('POST', `${path}/secret`, {}));
    await ok(call('POST', `${path}/test`, {}));
    const audit = s.call('GET', '/api/audit?limit=200', undefined, { cookie });
    const answers = [
      call('GET', path),
      call('GET', '/api/webhooks'),
      call('GET', `${path}/deliveries`),
      audit,
    ];
    const places = (await Promise.all(answers)).map(({ text }) => text);
    for (const table of [
      'webhook_subscriptions',
      'webhook_deliveries',
      'operations',
      'audit_entries',
      'events',
      'outbox',
    ]) {
      const { rows } = await sql<{ row: string }>`select t::text as row from ${sql.table(table)} t`.execute(
        s.service.ctx.db,
      );
      places.push(...rows.map(({ row }) => row));
    }
    for (const { secret } of [made, rotated]) {
      const bytes = Buffer.from(secret.slice(6), 'base64').toString('hex');
      const text = Buffer.from(secret).toString('hex');
      expect(
        places.filter((place) => [secret.slice(6), bytes, text].some((one) => place.includes(one))),
      ).toEqual([]);
    }
  });
});

test('writes publish operation.updated of their project and nothing else, and are in the audit log', async () => {
  const { project } = await ok(call('POST', '/api/projects', { name: 'Garden' }));
  const writes: TestAnswer[] = [];
  const send = async (method: string, path: string, body?: Json) => {
    const answer = await call(method, path, body);
    writes.push(answer);
    return ok(Promise.resolve(answer));
  };
  const { subscription } = await send('POST', '/api/webhooks', {
    url: 'https://hooks.example.com/',
    types: ['*'],
    projectId: project.id,
  });
  const path = `/api/webhooks/${subscription.id}`;
  await send('PATCH', path, { disabled: false });
  await send('POST', `${path}/secret`, {});
  const { delivery } = await send('POST', `${path}/test`, {});
  await send('POST', `${path}/deliveries/${delivery.id}/redeliver`, {});
  await send('DELETE', path);
  const receipts = writes.map(({ headers }) => headers.get('x-operation-id'));
  const published = async () =>
    (await ok(call('GET', `/api/events?limit=500&projectId=${project.id}`))).events
      .filter((one: Json) => one.data.id !== undefined)
      .slice(-receipts.length)
      .map((one: Json) => [one.type, one.data]);
  await expect
    .poll(published, { timeout: 5_000, interval: 20 })
    .toEqual(receipts.map((id) => ['operation.updated', { id, status: 'succeeded' }]));
  const { entries } = await ok(s.call('GET', '/api/audit?limit=200', undefined, { cookie }));
  expect(
    entries.filter((one: Json) => one.targetId === subscription.id).map((one: Json) => one.action),
  ).toEqual(['webhook.deleted', 'webhook.secret_rotated', 'webhook.updated', 'webhook.created']);
});
