import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { newAccount, signedIn } from '../accounts/callers.fixture.ts';
import type { Context } from '../context.ts';
import type { EventScope } from '../db/transaction.ts';
import { appendEvent, transaction } from '../db/transaction.ts';
import { ApiError, notFound, threadBusy } from '../http/errors.ts';
import { fingerprint } from '../http/fingerprint.ts';
import { newId } from '../ids.ts';
import { keyFor } from '../sealing.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestAnswer, TestServer } from '../service.fixture.ts';
import { digest, requestOf, startProcess } from './receipts.fixture.ts';
import { holdLease } from './lease.ts';
import { maintainReceipts } from './maintain.ts';
import { writeOnce } from './receipts.ts';
import { settle } from './settle.ts';
import { writeClaimed } from './write-claimed.ts';
import type { Claim, WriteRequest, WriteResult } from '../http/write-request.ts';

const P = '/api/platform/v1';
let s: TestServer;
let ctx: Context;
/** A second service on the same database: what is under way in the first is not in its memory. */
let other: TestServer;
let elsewhere: Context;
let orgId: string;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  ctx = s.service.ctx;
  other = await startTestServer({ HEADRACE_ROLES: 'api', DATABASE_URL: ctx.config.databaseUrl! });
  elsewhere = other.service.ctx;
  ({ id: orgId } = await ctx.db.selectFrom('organizations').select('id').executeTakeFirstOrThrow());
});
afterAll(async () => {
  await other?.close();
  await s?.close();
});

const rowOf = (id: string) =>
  ctx.db.selectFrom('operations').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
/**
 * The statuses that were published of an operation. One statement: an event moves from the outbox to the log
 * meanwhile.
 */
const published = async (operationId: string) =>
  (
    await sql<{ status: string }>`
  select data ->> 'status' as status from (select event_id, type, data from events union all select event_id, type, data from outbox) as e
  where type = 'operation.updated' and data ->> 'id' = ${operationId} order by event_id`.execute(ctx.db)
  ).rows.map((e) => e.status);
/** As `published`, each with its project and thread. */
const refusalsOf = async (operationId: string) =>
  (
    await sql<{ status: string; project_id: string; thread_id: string }>`
  select data ->> 'status' as status, project_id, thread_id from (select event_id, type, data, project_id, thread_id from events union all select event_id, type, data, project_id, thread_id from outbox) as e
  where type = 'operation.updated' and data ->> 'id' = ${operationId} order by event_id`.execute(ctx.db)
  ).rows.map((e) => [e.status, e.project_id, e.thread_id]);
const receiptOf = (answer: TestAnswer) => answer.headers.get('x-operation-id');
const isReplay = (answer: TestAnswer) => answer.headers.get('idempotent-replayed') === 'true';
const code = (answer: TestAnswer) => `${answer.status} ${answer.body?.error?.code ?? ''}`.trim();

describe('over HTTP: a replay', () => {
  test('is the first answer byte for byte, with one header more, whatever the order of keys and the form of the path', async () => {
    const app = (await s.call('POST', `${P}/apps`, { name: 'n' })).body.app.id as string;
    const idem = randomUUID();
    const first = await s.call(
      'PATCH',
      `${P}/apps/${app}`,
      { name: 'one', metadata: { a: '1', b: '2' } },
      { idem },
    );
    expect([first.status, isReplay(first), receiptOf(first)]).toEqual([
      200,
      false,
      expect.stringMatching(/^op_/),
    ]);
    await s.call('PATCH', `${P}/apps/${app}`, { name: 'two' });
    for (const path of [`${P}/apps/${app}`, `${P}/projects/${app}`]) {
      const again = await s.call('PATCH', path, '{"metadata":{"b":"2","a":"1"},"name":"one"}', { idem });
      expect([again.status, again.text, receiptOf(again), isReplay(again)]).toEqual([
        200,
        first.text,
        receiptOf(first),
        true,
      ]);
    }
    expect((await s.call('GET', `${P}/apps/${app}`)).body.app.name).toBe('two');
  });

  test("of a refusal has the first request's id; it stays, also when the reason has gone", async () => {
    const [idem, externalId] = [randomUUID(), randomUUID()];
    const holder = (await s.call('POST', `${P}/apps`, { name: 'n', externalId })).body.app.id as string;
    const send = (requestId: string) =>
      s.call(
        'POST',
        `${P}/apps`,
        { name: 'n', externalId },
        { idem, headers: { 'x-request-id': requestId } },
      );
    const first = await send('first');
    expect([code(first), isReplay(first)]).toEqual(['409 external_id_taken', false]);
    await s.call('DELETE', `${P}/apps/${holder}`);
    const again = await send('second');
    expect([again.text, again.headers.get('x-request-id'), isReplay(again), receiptOf(again)]).toEqual([
      first.text,
      'second',
      true,
      receiptOf(first),
    ]);
    expect(await rowOf(receiptOf(first)!)).toMatchObject({ status: 'failed', response_status: 409 });
  });

  test('belongs to the account, not to the credential, and is authorized anew', async () => {
    const cookie = await signedIn(s);
    const { account, key } = await newAccount(s, cookie);
    const idem = randomUUID();
    const send = (as: string) => s.call('POST', `${P}/apps`, { name: 'n' }, { key: as, idem });
    const first = await send(key);
    const rotated = (await s.call('POST', `/api/service-accounts/${account.id}/credentials`, {}, { cookie }))
      .body.key as string;
    expect([(await send(rotated)).text, (await send(s.key)).status]).toEqual([first.text, 201]);
    expect((await send(s.key)).text).not.toBe(first.text);
    await s.call(
      'PATCH',
      `/api/service-accounts/${account.id}`,
      { permissions: { project: ['read'] } },
      { cookie },
    );
    expect(code(await send(key))).toBe('403 forbidden');
  });

  test("of an account's creation keeps the secret to itself, in the receipt too", async () => {
    const cookie = await signedIn(s);
    const idem = randomUUID();
    const send = () =>
      s.call('POST', '/api/service-accounts', { name: 'n', permissions: {} }, { cookie, idem });
    const [first, again] = [await send(), await send()];
    const { key, ...rest } = first.body;
    expect(first.body.secretUnavailable).toBe(false);
    expect(again.body).toEqual({ ...rest, secretUnavailable: true });
    expect((await rowOf(receiptOf(first)!)).response).not.toContain(key);
  });
});

describe('over HTTP: the key', () => {
  test('of another payload, path, query or method is a conflict, which touches nothing', async () => {
    const idem = randomUUID();
    const app = (await s.call('POST', `${P}/apps`, { name: 'n' }, { idem })).body.app.id as string;
    for (const [method, path, body] of [
      ['POST', `${P}/apps`, { name: 'm' }],
      ['POST', `${P}/apps`, { name: 'n', metadata: {} }],
      ['POST', '/api/projects', { name: 'n' }],
      ['PATCH', `${P}/apps/${app}`, { name: 'n' }],
      ['DELETE', `${P}/apps/${app}`, undefined],
    ] as const) {
      const answer = await s.call(method, path, body, { idem });
      expect([code(answer), isReplay(answer)]).toEqual(['409 idempotency_conflict', false]);
    }
    expect(isReplay(await s.call('POST', `${P}/apps`, { name: 'n' }, { idem }))).toBe(true);
  });

  test('is required of service keys, and of sessions for service accounts', async () => {
    const cookie = await signedIn(s);
    const refused = [
      await s.call('POST', `${P}/apps`, { name: 'n' }, { idem: false }),
      await s.call('POST', '/api/service-accounts', { name: 'n', permissions: {} }, { cookie, idem: false }),
    ];
    for (const answer of refused)
      expect([code(answer), answer.body.error.fields]).toEqual([
        '400 idempotency_key_required',
        [{ path: '/headers/idempotency-key', message: 'is required' }],
      ]);
  });

  test('is required of sessions for every write to a service account, and nothing is changed without', async () => {
    const cookie = await signedIn(s);
    const { account, credential, key } = await newAccount(s, cookie);
    const at = `/api/service-accounts/${account.id}`;
    const writes = [
      ['POST', '/api/service-accounts', { name: 'n', permissions: {} }],
      ['PATCH', at, { disabled: true }],
      ['POST', `${at}/credentials`, {}],
      ['DELETE', `${at}/credentials/${credential.id}`, undefined],
      ['DELETE', at, undefined],
    ] as const;
    for (const [method, path, body] of writes)
      expect(code(await s.call(method, path, body, { cookie, idem: false })), `${method} ${path}`).toBe(
        '400 idempotency_key_required',
      );
    expect([
      (await s.call('GET', `${P}/apps`, undefined, { key })).status,
      (await s.call('GET', `${at}/credentials`, undefined, { cookie })).body.credentials,
    ]).toEqual([200, [credential]]);
  });

  test('has 1 to 128 visible ASCII characters', async () => {
    for (const idem of ['a b', 'é', 'x'.repeat(129)])
      expect(
        (await s.call('POST', `${P}/apps`, { name: 'n' }, { idem })).body.error.fields,
        idem,
      ).toMatchObject([{ path: '/headers/idempotency-key' }]);
    for (const idem of [`~${randomUUID()}!`, randomUUID().padEnd(128, 'x')])
      expect((await s.call('POST', `${P}/apps`, { name: 'n' }, { idem })).status).toBe(201);
  });

  test('equals the legacy fields of the body; in a session without header they are the key', async () => {
    const cookie = await signedIn(s);
    const project = (await s.call('POST', '/api/projects', { name: 'n' })).body.project.id as string;
    const thread = (await s.call('POST', '/api/threads', { projectId: project })).body.thread.id as string;
    const send = (body: object, options: object) => s.call('PATCH', `/api/threads/${thread}`, body, options);
    expect(
      (await send({ title: 't', clientOperationId: 'c1' }, { idem: 'other' })).body.error.fields,
    ).toMatchObject([{ path: '/clientOperationId' }]);
    const first = await send({ title: 't', clientOperationId: 'c2' }, { cookie, idem: false });
    expect((await rowOf(receiptOf(first)!)).idempotency_key).toBe('c2');
    const again = await send({ title: 't', clientOperationId: 'c2' }, { cookie, idem: 'c2' });
    expect([again.text, isReplay(again)]).toEqual([first.text, true]);
    expect(code(await send({ title: 'u', clientOperationId: 'c2' }, { cookie, idem: false }))).toBe(
      '409 idempotency_conflict',
    );
  });

  test('of a session that sends none is one of its own: two writes, two effects', async () => {
    const cookie = await signedIn(s);
    const answers = await Promise.all(
      [0, 1].map(() => s.call('POST', `${P}/apps`, { name: 'twice' }, { cookie, idem: false })),
    );
    expect(answers.map((a) => a.status)).toEqual([201, 201]);
    expect(new Set(answers.map((a) => a.body.app.id)).size).toBe(2);
    expect(new Set(answers.map(receiptOf)).size).toBe(2);
  });

  test('is free again after a refusal that reserves nothing', async () => {
    const idem = randomUUID();
    expect(code(await s.call('POST', `${P}/apps`, { name: '' }, { idem }))).toBe('400 invalid_request');
    expect(
      code(
        await s.call('POST', `${P}/apps`, { name: 'n' }, { idem, headers: { 'content-type': 'text/plain' } }),
      ),
    ).toBe('415 unsupported_media_type');
    expect((await s.call('POST', `${P}/apps`, { name: 'n' }, { idem })).status).toBe(201);
  });
});

test('over HTTP: twenty copies at once have one effect', async () => {
  const [idem, name] = [randomUUID(), randomUUID()];
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => s.call('POST', '/api/projects', { name }, { idem })),
  );
  const right = answers.filter((a) => a.status === 201);
  expect(right.length).toBeGreaterThan(0);
  expect(new Set(right.map((a) => a.text)).size).toBe(1);
  for (const answer of answers.filter((a) => a.status !== 201))
    expect([code(answer), answer.body.error.operationId]).toEqual([
      '409 request_in_progress',
      receiptOf(right[0]!),
    ]);
  expect(
    (await s.call('GET', '/api/projects?limit=200')).body.projects.filter(
      (p: { name: string }) => p.name === name,
    ),
  ).toHaveLength(1);
  expect(await published(receiptOf(right[0]!)!)).toEqual(['succeeded']);
});

test('over HTTP: a fingerprint is kept under the secret key; receipts of earlier versions, with a plain hash, are known until they expire', async () => {
  const [idem, body] = [randomUUID(), { name: 'n' }];
  const first = await s.call('POST', '/api/projects', body, { idem });
  const id = receiptOf(first)!;
  const plain = fingerprint({ method: 'POST', path: '/api/projects', query: {}, body });
  const kept = (await rowOf(id)).fingerprint;
  expect(kept.equals(plain)).toBe(false);
  expect(kept).toEqual(
    createHmac('sha256', keyFor(ctx.secretKey, 'receipt fingerprint')).update(plain).digest(),
  );
  await ctx.db.updateTable('operations').set({ fingerprint: plain }).where('id', '=', id).execute();
  expect((await s.call('POST', '/api/projects', body, { idem })).text).toBe(first.text);
  expect(code(await s.call('POST', '/api/projects', { name: 'other' }, { idem }))).toBe(
    '409 idempotency_conflict',
  );
});

test('over HTTP: a refusal that settles is published once, with the project and thread that were found', async () => {
  const { project } = (await s.call('POST', '/api/projects', { name: 'n' })).body;
  const { thread } = (await s.call('POST', '/api/threads', { projectId: project.id })).body;
  const ofApp = (await s.call('POST', `${P}/apps`, { name: 'n' })).body.app;
  const restricted = (
    await newAccount(s, await signedIn(s), {
      projectIds: [newId('prj')],
      permissions: { thread: ['update'] },
    })
  ).key;
  const refuse = async (path: string, body: object, options: object = {}) => {
    const method = path.endsWith('/retry') || path === '/api/threads' ? 'POST' : 'PATCH';
    const answer = await s.call(method, path, body, options);
    expect([404, 409]).toContain(answer.status);
    return receiptOf(answer)!;
  };
  const stale = { expectedVersion: 999 };
  const idem = randomUUID();
  const found = await refuse(`/api/threads/${thread.id}`, stale, { idem });
  await refuse(`/api/threads/${thread.id}`, stale, { idem });
  const expected: [string, unknown[]][] = [
    [found, [project.id, thread.id]],
    [await refuse(`/api/threads/${thread.id}/retry`, {}), [project.id, thread.id]],
    [await refuse(`/api/projects/${project.id}`, stale), [project.id, null]],
    [await refuse('/api/threads', { projectId: project.id, sourceId: newId('src') }), [project.id, null]],
    [await refuse(`/api/projects/${newId('prj')}`, { name: 'n' }), [null, null]],
    [await refuse(`/api/threads/${thread.id}`, stale, { key: restricted }), [null, null]],
  ];
  for (const [id, at] of expected) expect(await refusalsOf(id)).toEqual([['failed', ...at]]);
  expect(await refusalsOf(await refuse(`/api/projects/${ofApp.id}`, stale))).toEqual([]);
});

test('over HTTP: operation.updated is published for writes that concern no app, once', async () => {
  const direct = await s.call('POST', '/api/projects', { name: 'n' }, { idem: 'published' });
  await s.call('POST', '/api/projects', { name: 'n' }, { idem: 'published' });
  const refused = await s.call('PATCH', `/api/projects/${newId('prj')}`, { name: 'n' });
  const ofApp = await s.call('POST', `${P}/apps`, { name: 'n' });
  const source = await s.call('POST', `${P}/apps/${ofApp.body.app.id}/sources`, { files: [] });
  expect(await Promise.all([direct, refused, ofApp, source].map((a) => published(receiptOf(a)!)))).toEqual([
    ['succeeded'],
    ['failed'],
    [],
    [],
  ]);
});

test("over HTTP: a command's receipt is its job's to settle; the caller who waits gets it, and a replay is JSON whatever it accepts", async () => {
  const project = (await s.call('POST', '/api/projects', { name: 'n' })).body.project.id as string;
  const thread = (await s.call('POST', '/api/threads', { projectId: project })).body.thread.id as string;
  const idem = randomUUID();
  const send = (command: string, headers = {}) =>
    s.call('POST', `/api/threads/${thread}/exec`, { command }, { idem, headers });
  const waiting = send('true');
  const row = await vi.waitFor(() =>
    ctx.db.selectFrom('operations').selectAll().where('idempotency_key', '=', idem).executeTakeFirstOrThrow(),
  );
  expect(row).toMatchObject({ status: 'pending', lease_until: null, published: true, project_id: project });
  const rival = await send('true');
  expect([code(rival), rival.body.error.operationId]).toEqual(['409 request_in_progress', row.id]);
  expect(code(await send('false'))).toBe('409 idempotency_conflict');
  expect((await s.call('GET', `/api/operations/${row.id}`)).body.operation).toMatchObject({
    status: 'pending',
    response: null,
    reservedUntil: null,
  });
  // No worker runs here.
  await transaction(ctx, (tx) =>
    settle(
      tx,
      { operationId: row.id },
      { status: 200, body: { ok: true, exec: { exitCode: 0 } } },
      { scope: { orgId, projectId: project, feed: 'direct' } },
    ),
  );
  const first = await waiting;
  expect([first.status, first.text, receiptOf(first), isReplay(first)]).toEqual([
    200,
    '{"ok":true,"exec":{"exitCode":0}}',
    row.id,
    false,
  ]);
  const again = await send('true', { accept: 'text/event-stream' });
  expect([again.status, again.text, receiptOf(again), isReplay(again)]).toEqual([
    200,
    first.text,
    row.id,
    true,
  ]);
  expect(await published(row.id)).toEqual(['pending', 'succeeded']);
});

/* The function level: what HTTP cannot time. */

let request: WriteRequest;
beforeEach(() => {
  request = requestOf(orgId);
});
const OK: WriteResult = { status: 201, body: { ok: true, first: true } };
const refusalOf = async (promise: Promise<unknown>) =>
  promise.then(
    () => 'no refusal',
    (error: unknown) => (error as { code: string }).code,
  );
const STAGED = { mode: 'staged' as const, publishesPending: true };
const DIRECT: EventScope = {
  get orgId() {
    return orgId;
  },
  projectId: null,
  feed: 'direct',
};

describe('writeOnce', () => {
  test("runs once, in one transaction with its receipt; the operation's event comes last", async () => {
    const threadId = newId('thr');
    const write = vi.fn(async (tx: Parameters<typeof appendEvent>[0]) => {
      appendEvent(tx, { ...DIRECT, threadId }, 'thread.updated', { id: threadId, status: 'ready' });
      return OK;
    });
    const first = await writeOnce(ctx, request, write);
    const again = await writeOnce(ctx, request, write);
    expect([first, again]).toEqual([
      { status: 201, text: JSON.stringify(OK.body), operationId: first.operationId, replayed: false },
      { ...first, replayed: true },
    ]);
    expect(write).toHaveBeenCalledTimes(1);
    expect(await published(first.operationId!)).toEqual(['succeeded']);
    const row = await rowOf(first.operationId!);
    expect(row.reserved_until!.getTime() - Date.now()).toBeGreaterThan(7 * 86_400_000);
  });

  test('a refusal that settles leaves its receipt, its event and nothing else; one that releases leaves nothing at all', async () => {
    const settling = await writeOnce(ctx, request, async (tx) => {
      appendEvent(tx, DIRECT, 'thread.updated', { id: newId('thr'), status: 'ready' });
      throw notFound('thread');
    });
    expect(settling).toMatchObject({ status: 404, replayed: false });
    expect(await published(settling.operationId!)).toEqual(['failed']);
    expect(await writeOnce(ctx, request, async () => OK)).toMatchObject({
      status: 404,
      text: settling.text,
      replayed: true,
    });
    const other = { ...request, key: randomUUID() };
    for (const error of [
      threadBusy('run'),
      new ApiError('payment_required', 'no'),
      new ApiError('unavailable', 'no'),
      new Error('unknown'),
    ])
      await expect(
        writeOnce(ctx, other, async () => {
          throw error;
        }),
      ).rejects.toBe(error);
    expect(
      await ctx.db.selectFrom('operations').select('id').where('idempotency_key', '=', other.key).execute(),
    ).toEqual([]);
    expect(await writeOnce(ctx, other, async () => OK)).toMatchObject({ status: 201 });
  });

  test('a rival of this process and one of another wait for the first and replay, another payload is refused at once', async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const first = writeOnce(ctx, request, async () => {
      begun.resolve();
      await gate;
      return OK;
    });
    await begun.promise;
    const changed = { ...request, fingerprint: digest('two') };
    expect(await refusalOf(writeOnce(ctx, changed, async () => OK))).toBe('idempotency_conflict');
    const write = vi.fn(async () => OK);
    const rivals = [writeOnce(ctx, request, write), writeOnce(elsewhere, request, write)];
    open();
    const { text, operationId, replayed } = await first;
    expect(replayed).toBe(false);
    expect(await Promise.all(rivals)).toEqual(
      [0, 1].map(() => ({ status: 201, text, operationId, replayed: true })),
    );
    expect(write).not.toHaveBeenCalled();
  });

  test('one that takes longer than a second is told of by its operation', async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const first = writeOnce(ctx, request, async () => {
      begun.resolve();
      await gate;
      return OK;
    });
    await begun.promise;
    const rival = await writeOnce(ctx, request, async () => OK).catch((error: unknown) => error as ApiError);
    open();
    expect(rival).toMatchObject({
      code: 'request_in_progress',
      details: { operationId: (await first).operationId },
    });
  });

  test('a key whose reservation is over is free', async () => {
    const first = await writeOnce(ctx, request, async () => OK);
    await sql`update operations set reserved_until = now() - interval '1 second' where id = ${first.operationId}`.execute(
      ctx.db,
    );
    const again = await writeOnce(ctx, { ...request, fingerprint: digest('two') }, async () => ({
      status: 200,
      body: { ok: true },
    }));
    expect(again).toMatchObject({ status: 200, replayed: false });
    expect(again.operationId).not.toBe(first.operationId);
  });
});

describe('a process that dies in a transaction', () => {
  const version = async (project: string) =>
    (
      await ctx.db
        .selectFrom('projects')
        .select('version')
        .where('id', '=', project)
        .executeTakeFirstOrThrow()
    ).version;

  test.each([
    ['before the commit', 'is forgotten: a retry does it', false],
    ['after the commit', 'has answered nobody: a retry gets the answer', true],
  ] as const)('%s %s', async (dies, _, isDone) => {
    const project = (await s.call('POST', '/api/projects', { name: 'n' })).body.project.id as string;
    const before = await version(project);
    const child = startProcess(ctx.config.databaseUrl!, { once: { request, dies, project } });
    expect((await once(child, 'exit'))[1]).toBe('SIGKILL');
    const again = await writeOnce(ctx, request, async (tx) => {
      await tx.db
        .updateTable('projects')
        .set((q) => ({ version: q('version', '+', 1) }))
        .where('id', '=', project)
        .execute();
      return { status: 200, body: { ok: true, by: 'the retry' } };
    });
    expect([again.replayed, JSON.parse(again.text).by, await version(project)]).toEqual([
      isDone,
      isDone ? 'the process that died' : 'the retry',
      before + 1,
    ]);
  });
});

describe('the lease of a claim', () => {
  const claimed = async () => {
    const operationId = newId('op');
    await ctx.db
      .insertInto('operations')
      .values({
        org_id: orgId,
        id: operationId,
        actor_id: 'sa_test',
        idempotency_key: request.key,
        fingerprint: request.fingerprint,
        method: 'POST',
        path: '/api/x',
        project_id: null,
        permissions: [],
        published: false,
        status: 'pending',
        lease_until: sql<Date>`now() + interval '2 seconds'`,
      })
      .execute();
    return { operationId, fence: 1 };
  };
  const left = async (id: string) =>
    (
      await sql<{
        s: number;
      }>`select extract(epoch from lease_until - now())::float as s from operations where id = ${id}`.execute(
        ctx.db,
      )
    ).rows[0]!.s;
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('is renewed while its work goes on, however long that is', async () => {
    const claim = await claimed();
    const lease = holdLease(ctx, claim, { began: performance.now() });
    const end = async () => (await rowOf(claim.operationId)).lease_until!.getTime();
    for (let renewal = 1; renewal <= 4; renewal++) {
      const before = await end();
      vi.advanceTimersByTime(4_000);
      while ((await end()) === before);
      // The answer to the statement that was seen.
      await ctx.db.selectFrom('operations').select('id').limit(1).execute();
    }
    expect([lease.signal.aborted, (await left(claim.operationId)) > 12]).toEqual([false, true]);
    lease.release();
  });

  test('that somebody else has by now stops the work as soon as that is seen, and is not renewed', async () => {
    const claim = await claimed();
    const lease = holdLease(ctx, claim, { began: performance.now() });
    await sql`update operations set fence = 2 where id = ${claim.operationId}`.execute(ctx.db);
    vi.advanceTimersByTime(4_000);
    vi.useRealTimers();
    await vi.waitFor(() => expect(lease.signal.aborted).toBe(true));
    expect(await left(claim.operationId)).toBeLessThan(2);
    lease.release();
  });

  test('that cannot be renewed stops the work before anybody else may think it dead', () => {
    const away = {
      updateTable: () => {
        throw new Error('the database is away');
      },
    } as unknown as Context['db'];
    const lease = holdLease({ db: away }, { operationId: 'op_x', fence: 1 }, { began: performance.now() });
    vi.advanceTimersByTime(11_000);
    expect(lease.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1_500);
    expect(lease.signal.aborted).toBe(true);
    lease.release();
  });
});

describe('a staged claim', () => {
  const settled = (claim: Claim, result = OK) =>
    transaction(ctx, (tx) => claim.settle(tx, result)).then(() => result);

  test('can be read as pending while its work goes on, refuses rivals, and settles once', async () => {
    const seen: string[] = [];
    const answer = await writeClaimed(ctx, request, STAGED, async (claim) => {
      seen.push((await rowOf(claim.operationId)).status, ...(await published(claim.operationId)));
      seen.push(
        await refusalOf(writeClaimed(ctx, request, STAGED, async () => OK)),
        await refusalOf(writeOnce(ctx, { ...request, fingerprint: digest('two') }, async () => OK)),
      );
      seen.push(await refusalOf(writeClaimed(elsewhere, request, STAGED, async () => OK)));
      return settled(claim);
    });
    expect(seen).toEqual([
      'pending',
      'pending',
      'request_in_progress',
      'idempotency_conflict',
      'request_in_progress',
    ]);
    expect(await published(answer.operationId!)).toEqual(['pending', 'succeeded']);
    expect(
      await writeClaimed(ctx, request, STAGED, async () => {
        throw new Error('again');
      }),
    ).toEqual({ ...answer, replayed: true });
  });

  test('whose process died is taken over when its lease is over, with a higher fence; the old one cannot settle any more', async () => {
    const { promise: stuck, resolve: revive } = Promise.withResolvers<void>();
    const claimed = Promise.withResolvers<Claim>();
    const dead = writeClaimed(ctx, request, STAGED, async (claim) => {
      claimed.resolve(claim);
      await stuck;
      return settled(claim, { status: 201, body: { ok: true, late: true } });
    });
    const { operationId } = await claimed.promise;
    await sql`update operations set lease_until = now() - interval '1 second' where id = ${operationId}`.execute(
      ctx.db,
    );
    const answer = await writeClaimed(elsewhere, request, STAGED, async (claim) => {
      expect(claim.operationId).toBe(operationId);
      revive();
      expect(await refusalOf(dead)).toBe('request_in_progress');
      expect(await rowOf(operationId)).toMatchObject({ fence: 2, status: 'pending' });
      return settled(claim);
    });
    expect(await rowOf(operationId)).toMatchObject({ fence: 2, status: 'succeeded', response: answer.text });
    expect(answer.text).toBe(JSON.stringify(OK.body));
    expect(await published(operationId)).toEqual(['pending', 'succeeded']);
  });

  test('that is taken over by a retry whose claim is refused is told as failed', async () => {
    const operationId = newId('op');
    await ctx.db
      .insertInto('operations')
      .values({
        org_id: orgId,
        id: operationId,
        actor_id: 'sa_test',
        idempotency_key: request.key,
        fingerprint: request.fingerprint,
        method: 'POST',
        path: '/api/x',
        project_id: null,
        permissions: [],
        published: true,
        status: 'pending',
        lease_until: sql<Date>`now() - interval '1 second'`,
      })
      .execute();
    const refused = await writeClaimed(
      ctx,
      request,
      {
        ...STAGED,
        onClaim: async () => {
          throw notFound('thread');
        },
      },
      async () => OK,
    );
    expect(refused).toMatchObject({ status: 404, operationId, replayed: false });
    expect([await rowOf(operationId), await published(operationId)]).toMatchObject([
      { status: 'failed', response_status: 404, reserved_until: expect.any(Date) },
      ['failed'],
    ]);
    expect(await writeClaimed(ctx, request, STAGED, async () => OK)).toMatchObject({
      status: 404,
      text: refused.text,
      replayed: true,
    });
  });

  test('that nobody takes over is failed by the reconciler, and its key is free then', async () => {
    const operationId = newId('op');
    await ctx.db
      .insertInto('operations')
      .values({
        org_id: orgId,
        id: operationId,
        actor_id: 'sa_test',
        idempotency_key: request.key,
        fingerprint: request.fingerprint,
        method: 'POST',
        path: '/api/x',
        project_id: null,
        permissions: [],
        published: true,
        status: 'pending',
        lease_until: new Date(Date.now() - 20_000),
      })
      .execute();
    const shutdown = new AbortController();
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      maintainReceipts({ ...ctx, shutdown: shutdown.signal }, {});
      vi.advanceTimersByTime(5_000);
    } finally {
      vi.useRealTimers();
      shutdown.abort();
    }
    await vi.waitFor(async () =>
      expect(await rowOf(operationId)).toMatchObject({
        status: 'failed',
        response_status: 503,
        reserved_until: null,
        lease_until: null,
      }),
    );
    expect(await published(operationId)).toEqual(['failed']);
    const answer = await writeClaimed(ctx, request, STAGED, (claim) => settled(claim));
    expect(answer).toMatchObject({ status: 201, replayed: false });
  });

  test('refused: settled where it is final, released where it is not, its event where its pending was published', async () => {
    const work = (error: unknown) =>
      writeClaimed(ctx, { ...request, key: randomUUID() }, STAGED, async () => {
        throw error;
      }).catch((e: unknown) => e as ApiError & { operationId: string });
    const final = (await work(notFound('source'))) as ApiError & { operationId: string };
    const passing = (await work(threadBusy('run'))) as ApiError & { operationId: string };
    expect(await rowOf(final.operationId)).toMatchObject({
      status: 'failed',
      response_status: 404,
      reserved_until: expect.any(Date),
    });
    expect(await rowOf(passing.operationId)).toMatchObject({
      status: 'failed',
      response_status: 409,
      reserved_until: null,
    });
    expect(await Promise.all([final, passing].map((e) => published(e.operationId)))).toEqual([
      ['pending', 'failed'],
      ['pending', 'failed'],
    ]);
  });

  test('of a process that meets an unknown fault is released as a 500 that tells nothing', async () => {
    await expect(
      writeClaimed(ctx, request, STAGED, async () => {
        throw new Error('secret detail');
      }),
    ).rejects.toThrow('secret detail');
    const row = await ctx.db
      .selectFrom('operations')
      .selectAll()
      .where('idempotency_key', '=', request.key)
      .executeTakeFirstOrThrow();
    expect(row).toMatchObject({ status: 'failed', response_status: 500, reserved_until: null });
    expect(row.response).not.toContain('secret');
  });
});

describe('a claim that a job settles', () => {
  const JOB = { mode: 'job' as const, publishesPending: true };

  test('outlives the one who waited, has no lease, and is replayed as the job settled it', async () => {
    let operationId = '';
    await expect(
      writeClaimed(
        ctx,
        request,
        {
          ...JOB,
          onClaim: async (_tx, id) => {
            operationId = id;
            return DIRECT;
          },
        },
        async () => {
          throw new Error('the caller has gone');
        },
      ),
    ).rejects.toThrow('gone');
    expect(await rowOf(operationId)).toMatchObject({ status: 'pending', lease_until: null });
    expect(await refusalOf(writeClaimed(ctx, request, JOB, async () => OK))).toBe('request_in_progress');
    await transaction(ctx, (tx) =>
      settle(tx, { operationId }, { status: 200, body: { ok: true, exec: {} } }, { scope: DIRECT }),
    );
    expect(await writeClaimed(ctx, request, JOB, async () => OK)).toEqual({
      status: 200,
      text: '{"ok":true,"exec":{}}',
      operationId,
      replayed: true,
    });
    expect(await published(operationId)).toEqual(['pending', 'succeeded']);
    expect(
      await refusalOf(transaction(ctx, (tx) => settle(tx, { operationId }, OK, { scope: DIRECT }))),
    ).toBe('request_in_progress');
  });

  test('refused in its own transaction is settled like any refusal, and enqueues nothing', async () => {
    const answer = await writeClaimed(
      ctx,
      request,
      {
        ...JOB,
        onClaim: async () => {
          throw notFound('thread');
        },
      },
      async () => OK,
    );
    expect(answer).toMatchObject({ status: 404, replayed: false });
    expect(await published(answer.operationId!)).toEqual(['failed']);
    expect(await writeClaimed(ctx, request, JOB, async () => OK)).toMatchObject({
      status: 404,
      replayed: true,
    });
  });
});
