import { createHmac, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { json } from '../db/schema.ts';
import type { FilterRule } from '../db/schema.ts';
import { newId } from '../ids.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestAnswer, TestServer } from '../service.fixture.ts';
import { sealSigningSecret } from '../signing-secrets.ts';
import { newAutomation, newProject } from './automations.fixture.ts';
import { PURPOSE } from './secrets.ts';

type Json = TestAnswer['body'];
interface Hook {
  id: string;
  secret: string;
}

let s: TestServer;
let projectId: string;
beforeAll(async () => {
  // Without a worker: executions stay queued.
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  projectId = await newProject(s);
});
afterAll(() => s?.close());

const newHook = async (fields: Json = {}, trigger: Json = {}): Promise<Hook> => {
  const made = await newAutomation(s, projectId, {
    overlap: 'allow',
    ...fields,
    trigger: { kind: 'webhook', ...trigger },
  });
  return { id: made.automation.id, secret: made.secret ?? trigger.secret };
};
const post = (id: string, body: string | Buffer, headers: Record<string, string> = {}) =>
  s.call('POST', `/api/hooks/automations/${id}`, body, { key: null, idem: false, headers });
/** As a sender with the reference implementation. */
const send = ({ id, secret }: Hook, payload: unknown, deliveryId: string = randomUUID()) => {
  const body = JSON.stringify(payload);
  const now = new Date();
  return post(id, body, {
    'webhook-id': deliveryId,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(deliveryId, now, body),
  });
};
const bearer = ({ secret }: Hook) => ({ authorization: `Bearer ${secret}` });
const executionsOf = (id: string) =>
  s.service.ctx.db
    .selectFrom('executions')
    .selectAll()
    .where('automation_id', '=', id)
    .orderBy('id')
    .execute();
const write = (id: string, columns: object) =>
  s.service.ctx.db.updateTable('automations').set(columns).where('id', '=', id).execute();
const outcome = ({ status, body }: TestAnswer) => [
  status,
  body.execution === null,
  body.skipped,
  body.duplicate,
];

describe('202', () => {
  test('with its execution; the same id again is 200 with the first one, whatever the body', async () => {
    const hook = await newHook();
    const first = await send(hook, { word: 'one' }, 'msg_1');
    expect([first.status, first.body]).toEqual([
      202,
      {
        ok: true,
        duplicate: false,
        execution: expect.objectContaining({
          automationId: hook.id,
          projectId,
          status: 'queued',
          trigger: {
            kind: 'webhook',
            scheduledFor: null,
            eventId: null,
            eventType: null,
            deliveryId: 'msg_1',
          },
        }) as unknown,
      },
    ]);
    const again = await send(hook, { word: 'two' }, 'msg_1');
    expect([again.status, again.body]).toEqual([
      200,
      { ok: true, duplicate: true, execution: first.body.execution },
    ]);
    expect((await executionsOf(hook.id)).map(({ payload }) => payload)).toEqual([{ word: 'one' }]);
    const { rows } = await sql`select data from outbox where data ->> 'id' = ${first.body.execution.id}
      union all select data from events where data ->> 'id' = ${first.body.execution.id}`.execute(
      s.service.ctx.db,
    );
    expect(rows).toEqual([{ data: { id: first.body.execution.id, status: 'queued' } }]);
  });

  test('once for many concurrent deliveries with one id', async () => {
    const hook = await newHook();
    const answers = await Promise.all(Array.from({ length: 10 }, () => send(hook, {}, 'one')));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([
      ...Array.from({ length: 9 }, () => 200),
      202,
    ]);
    expect(new Set(answers.map(({ body }) => body.execution.id)).size).toBe(1);
    expect(await executionsOf(hook.id)).toHaveLength(1);
  });

  test('again for an id that was last seen more than seven days ago', async () => {
    const hook = await newHook();
    await send(hook, {}, 'old');
    await sql`update hook_deliveries set created_at = now() - interval '7 days 1 second' where automation_id = ${hook.id}`.execute(
      s.service.ctx.db,
    );
    expect((await send(hook, {}, 'old')).status).toBe(202);
    expect((await send(hook, {}, 'old')).status).toBe(200);
    expect(await executionsOf(hook.id)).toHaveLength(2);
  });

  test('the first header present is the id of the delivery, and without one nothing is a duplicate', async () => {
    const hook = await newHook();
    const names = ['webhook-id', 'request-id', 'linear-delivery', 'x-github-delivery', 'idempotency-key'];
    for (const [n, name] of names.entries()) {
      const further = Object.fromEntries(names.slice(n + 1).map((one) => [one, randomUUID()]));
      const headers = { ...bearer(hook), ...further, [name]: `by ${name}` };
      expect((await post(hook.id, '{}', headers)).body.execution.trigger.deliveryId).toBe(`by ${name}`);
      expect((await post(hook.id, '{}', { ...bearer(hook), [name]: `by ${name}` })).body.duplicate).toBe(
        true,
      );
    }
    const bare = [await post(hook.id, '{}', bearer(hook)), await post(hook.id, '{}', bearer(hook))];
    expect(bare.map(({ status, body }) => [status, body.execution.trigger.deliveryId])).toEqual([
      [202, null],
      [202, null],
    ]);
  });

  test('by Sentry, Linear and GitHub with their secret, and by both secrets during a rotation', async () => {
    const secret = 'a secret of the sender';
    const hook = await newHook({}, { secret });
    const mac = createHmac('sha256', secret).update('{"ü":1}').digest('hex');
    for (const [name, value] of [
      ['sentry-hook-signature', mac],
      ['linear-signature', mac],
      ['x-hub-signature-256', `sha256=${mac}`],
    ] as const)
      expect((await post(hook.id, '{"ü":1}', { [name]: value })).status).toBe(202);
    const row = await s.service.ctx.db
      .selectFrom('automations')
      .selectAll()
      .where('id', '=', hook.id)
      .executeTakeFirstOrThrow();
    const next = sealSigningSecret(s.service.ctx.secretKey, PURPOSE, row, 'the next secret, as long');
    const rotated = { secret_sealed: next, former_secret_sealed: row.secret_sealed };
    const statuses = async () => [
      (await post(hook.id, '{}', bearer(hook))).status,
      (await post(hook.id, '{}', bearer({ id: hook.id, secret: 'the next secret, as long' }))).status,
    ];
    await write(hook.id, { ...rotated, former_secret_until: new Date(Date.now() + 60_000) });
    expect(await statuses()).toEqual([202, 202]);
    await write(hook.id, { former_secret_until: new Date(Date.now() - 1000) });
    expect(await statuses()).toEqual([401, 202]);
  });

  test('with its issue, which is the key of overlapping executions', async () => {
    const hook = await newHook({ overlap: 'skip' }, { source: 'tracker' });
    const of = (number: number) => ({
      action: 'opened',
      issue: { html_url: `https://github.com/acme/web/issues/${number}` },
    });
    const answers = [await send(hook, of(1)), await send(hook, of(1)), await send(hook, of(2))];
    expect(
      answers.map(({ status, body }) => [status, body.execution.status, body.execution.skippedReason]),
    ).toEqual([
      [202, 'queued', null],
      [202, 'skipped', 'overlap'],
      [202, 'queued', null],
    ]);
    expect((await executionsOf(hook.id))[0]!.mapped).toEqual({
      trackerIssueUrl: 'https://github.com/acme/web/issues/1',
    });
  });

  test('with characters that the database cannot store replaced, and no member used as a prototype', async () => {
    const hook = await newHook();
    const body = '{"a":"\\u0000\\ud800","\\u0000":[1e400],"__proto__":{"polluted":true}}';
    expect((await post(hook.id, body, bearer(hook))).status).toBe(202);
    const [made] = await executionsOf(hook.id);
    expect(JSON.stringify(made!.payload)).toBe(
      '{"a":"\u{fffd}\u{fffd}","\u{fffd}":[null],"__proto__":{"polluted":true}}',
    );
  });
});

describe('200', () => {
  test('disabled, filtered and unmapped hooks create nothing; a duplicate gets the same response', async () => {
    const hook = await newHook({}, { source: 'error_tracker' });
    const filter: FilterRule[] = [{ path: 'payload.kind', op: 'eq', value: 'wanted' }];
    await write(hook.id, { filter: json(filter) });
    const issue = { id: '1', web_url: 'https://errors.example.com/1', project: { id: 1, slug: 'web' } };
    const data = { issue: { ...issue, url: 'https://errors.example.com/organizations/acme/issues/1/' } };
    expect(outcome(await send(hook, { kind: 'wanted', data: {} }, 'a'))).toEqual([
      200,
      true,
      'unmapped',
      undefined,
    ]);
    expect(outcome(await send(hook, { kind: 'wanted', data, action: 'resolved' }))).toEqual([
      200,
      true,
      'filtered',
      undefined,
    ]);
    expect(outcome(await send(hook, { kind: 'other', data }))).toEqual([200, true, 'filtered', undefined]);
    await write(hook.id, { disabled_reason: 'user' });
    expect(outcome(await send(hook, { kind: 'wanted', data }))).toEqual([200, true, 'disabled', undefined]);
    await write(hook.id, { disabled_reason: null });
    expect(outcome(await send(hook, { kind: 'wanted', data }, 'a'))).toEqual([200, true, 'unmapped', true]);
    expect(await executionsOf(hook.id)).toEqual([]);
    expect((await send(hook, { kind: 'wanted', data })).status).toBe(202);
  });
});

describe('400, 413 and 415', () => {
  test('for a body that is not a JSON object', async () => {
    const hook = await newHook();
    const deep = `{"a":${'['.repeat(64)}${']'.repeat(64)}}`;
    const bodies = ['', '{', 'a=b', '{"a":1,}', '{"a":1}}', '\ufeff{}', 'null', '[]', '5', '"x"', deep];
    for (const body of [...bodies, Buffer.from([0x22, 0xff, 0x22])])
      expect([body, (await post(hook.id, body, bearer(hook))).body.error.code]).toEqual([
        body,
        'invalid_request',
      ]);
    const twice = await post(hook.id, '{"a":{"b":1,"b":2}}', bearer(hook));
    expect([twice.status, twice.body.error.fields]).toEqual([
      400,
      [{ path: '/a/b', message: 'is given twice' }],
    ]);
  });

  test('for a delivery id that is too long', async () => {
    const hook = await newHook();
    const answer = await post(hook.id, '{}', { ...bearer(hook), 'request-id': 'x'.repeat(201) });
    expect([answer.status, answer.body.error.fields[0].path]).toEqual([400, '/headers/request-id']);
    expect((await post(hook.id, '{}', { ...bearer(hook), 'request-id': 'x'.repeat(200) })).status).toBe(202);
  });

  test('for a body over 256 KiB, and for other types', async () => {
    const hook = await newHook();
    const full = `{"pad":"${'p'.repeat(256 * 1024 - 10)}"}`;
    expect((await post(hook.id, full, bearer(hook))).status).toBe(202);
    expect((await post(hook.id, `${full} `, bearer(hook))).body.error.code).toBe('request_too_large');
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])
      expect((await post(hook.id, '{}', { ...bearer(hook), 'content-type': type })).status).toBe(415);
    const named = { ...bearer(hook), 'content-type': 'application/json; charset=utf-8' };
    expect((await post(hook.id, '{}', named)).status).toBe(202);
  });
});

describe('401, 402 and 501', () => {
  test('the same 401 for a wrong secret and for automations without hooks, before the body is parsed', async () => {
    const hook = await newHook();
    const yearly: Json = await newAutomation(s, projectId);
    const gone = await newHook();
    await write(gone.id, { deleted_at: new Date(), secret_sealed: null });
    const answers = await Promise.all(
      [hook.id, yearly.automation.id, gone.id, newId('aut'), 'aut_0', '%00'].map((id) =>
        post(id, 'no JSON', { authorization: 'Bearer undefined', 'x-request-id': 'same' }),
      ),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]!.body.error).toMatchObject({ code: 'unauthorized' });
    expect((await post(gone.id, '{}', bearer(gone))).status).toBe(401);
  });

  test('401 for a service key, in each header', async () => {
    const hook = await newHook();
    for (const [name, value] of [
      ['authorization', `Bearer ${s.key}`],
      ['x-api-key', s.key],
    ] as const)
      expect((await post(hook.id, '{}', { [name]: value })).status).toBe(401);
    expect(await executionsOf(hook.id)).toEqual([]);
  });

  test('402 and 501 without automations, after the sender is authenticated', async () => {
    const hook = await newHook();
    const { config, db } = s.service.ctx;
    const take = (without: string[]) => db.updateTable('organizations').set({ without }).execute();
    await take(['automations']);
    expect([
      (await send(hook, {})).status,
      (await post(hook.id, '{}', bearer({ ...hook, secret: 'x' }))).status,
    ]).toEqual([402, 401]);
    await take([]);
    const { disabled } = config;
    disabled.push('automations');
    try {
      expect((await send(hook, {})).status).toBe(501);
    } finally {
      disabled.pop();
    }
    expect((await send(hook, {})).status).toBe(202);
  });
});
