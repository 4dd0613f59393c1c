import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newAccount, tenant } from '../accounts/callers.fixture.ts';
import { EVENT_TYPES } from '../events/index.ts';
import { newId } from '../ids.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestAnswer, TestServer } from '../service.fixture.ts';
import { ok, refusal } from '../threads/threads.fixture.ts';

type Json = TestAnswer['body'];

const WEBHOOKS = '/api/webhooks';
const URL = 'https://hooks.example.com/a/b?c=d%20e';
const DELIVERED = EVENT_TYPES.filter((type) => !type.startsWith('platform.app.'));
let s: TestServer;
let orgId: string;
let cookie: string;
let key: string;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  const made = await tenant(s);
  [orgId, cookie] = [made.organization.id, made.cookie];
  ({ key } = await newAccount(s, cookie));
});
afterAll(() => s?.close());

const post = (body: Json, options: Json = {}) => s.call('POST', WEBHOOKS, body, { key, ...options });
const get = (id: string, as = key) => s.call('GET', `${WEBHOOKS}/${id}`, undefined, { key: as });
const remove = (id: string, as = key) => s.call('DELETE', `${WEBHOOKS}/${id}`, undefined, { key: as });
const subscribe = async (fields: Json = {}, as = key): Promise<Json> =>
  (await ok(post({ url: URL, types: ['run.failed'], ...fields }, { key: as }))).subscription;
const newProject = async (as = key): Promise<string> =>
  (await ok(s.call('POST', '/api/projects', { name: 'Garden' }, { key: as }))).project.id;
const listed = async (as = key): Promise<string[]> =>
  (await ok(s.call('GET', `${WEBHOOKS}?limit=200`, undefined, { key: as }))).subscriptions.map(
    (one: Json) => one.id,
  );
const rowOf = (id: string) =>
  s.service.ctx.db.selectFrom('webhook_subscriptions').selectAll().where('id', '=', id).executeTakeFirst();
const newTenant = async () => {
  const { cookie: session, organization } = await tenant(s);
  return { session, organization, key: (await newAccount(s, session)).key as string };
};

describe('201 and 200', () => {
  test('a webhook is created, read, listed and deleted; its secret is in the first response alone', async () => {
    const projectId = await newProject();
    const idem = randomUUID();
    const body = { url: URL, types: ['run.completed', 'thread.updated'], projectId };
    const first = await post(body, { idem });
    const { subscription, secret, secretUnavailable } = first.body;
    expect([first.status, secretUnavailable]).toEqual([201, false]);
    expect(subscription).toEqual({
      id: expect.stringMatching(/^wh_/),
      orgId,
      projectId,
      url: URL,
      types: body.types,
      disabled: false,
      disabledReason: null,
      failingSince: null,
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    });
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const again = await post(body, { idem });
    expect([again.status, again.headers.get('idempotent-replayed'), again.body]).toEqual([
      201,
      'true',
      { ok: true, subscription, secretUnavailable: true },
    ]);
    const receipt = first.headers.get('x-operation-id')!;
    const { operation } = await ok(s.call('GET', `/api/operations/${receipt}`, undefined, { key }));
    expect([operation.projectId, operation.response]).toEqual([projectId, again.body]);
    expect((await ok(get(subscription.id))).subscription).toEqual(subscription);
    expect(await listed()).toContain(subscription.id);
    expect((await ok(remove(subscription.id))).subscription).toEqual(subscription);
    expect(await listed()).not.toContain(subscription.id);
  });

  test('types are all of the Direct feed, groups and *, each once; an empty list is taken', async () => {
    for (const types of [DELIVERED.slice(0, 30), DELIVERED.slice(30), ['*', 'platform.apply.*'], []])
      expect((await subscribe({ types })).types).toEqual(types);
    expect((await subscribe({ types: ['run.*', 'run.failed', 'run.*'] })).types).toEqual([
      'run.*',
      'run.failed',
    ]);
  });

  test('one that is created disabled is paused by its user', async () => {
    expect(await subscribe({ disabled: true })).toMatchObject({ disabled: true, disabledReason: 'user' });
    expect(await subscribe({ disabled: false })).toMatchObject({ disabled: false, disabledReason: null });
  });

  test('events up to the end of the log are not delivered', async () => {
    const { db } = s.service.ctx;
    const { last_sequence: end } = await db
      .selectFrom('log_state')
      .select('last_sequence')
      .executeTakeFirstOrThrow();
    const { after_sequence: after } = (await rowOf((await subscribe()).id))!;
    expect(end).toBeGreaterThan(0);
    expect(after).toBeGreaterThanOrEqual(end);
  });

  test('pages are newest first, of the organization alone', async () => {
    const { key: as } = await newTenant();
    const made = [];
    for (let i = 0; i < 5; i++) made.unshift((await subscribe({}, as)).id);
    const page = async (query: string) => ok(s.call('GET', `${WEBHOOKS}?${query}`, undefined, { key: as }));
    const [first, rest] = [await page('limit=2'), await page('limit=200')];
    expect([first.subscriptions.map((one: Json) => one.id), first.hasMore]).toEqual([made.slice(0, 2), true]);
    expect(rest.subscriptions.map((one: Json) => one.id)).toEqual(made);
    const next = await page(`cursor=${first.nextCursor}`);
    expect(next.subscriptions.map((one: Json) => one.id)).toEqual(made.slice(2));
  });
});

describe('400', () => {
  test.each<[string, Json, string[]]>([
    ['nothing', {}, ['/types', '/url']],
    ['an unknown type', { types: ['run.completed', 'run.exploded'] }, ['/types/1']],
    ["an app's own types", { types: ['platform.app.created', 'platform.app.*'] }, ['/types/0', '/types/1']],
    ['a ping', { types: ['webhook.ping'] }, ['/types/0']],
    [
      'what is no type',
      { types: ['run', 'Run.completed', '', '**', '*.failed', 5] },
      [0, 1, 2, 3, 4, 5].map((i) => `/types/${i}`),
    ],
    ['an unknown group', { types: ['moon.*', 'workspace.*'] }, ['/types/0', '/types/1']],
    ['too many types', { types: Array.from({ length: 31 }, () => '*') }, ['/types']],
    ['types that are no list', { types: 'run.completed' }, ['/types']],
    ['further fields', { secret: 'whsec_', id: 'wh' }, ['/id', '/secret']],
    ['disabled that is no boolean', { disabled: 'yes' }, ['/disabled']],
    ['a projectId that is no text', { projectId: 5 }, ['/projectId']],
    ['a faulty body and a faulty url', { url: 'http://x.example/', types: ['moon'] }, ['/types/0']],
  ])('%s', async (what, body, expected) => {
    const answer = await post(what === 'nothing' ? body : { url: URL, types: ['*'], ...body });
    expect(answer.status).toBe(400);
    expect(answer.body.error.fields.map((field: { path: string }) => field.path).sort()).toEqual(expected);
  });

  test.each([
    ['http', 'http://hooks.example.com/'],
    ['another scheme', 'ftp://hooks.example.com/'],
    ['a script', 'javascript:alert(1)'],
    ['a file', 'file:///etc/passwd'],
    ['a relative address', '/relative'],
    ['no host', 'https://'],
    ['a user', 'https://user@hooks.example.com/'],
    ['a user and a password', 'https://user:pass@hooks.example.com/'],
    ['an empty user', 'https://@hooks.example.com/'],
    ['a fragment', 'https://hooks.example.com/#part'],
    ['an empty fragment', 'https://hooks.example.com/#'],
    ['an address that is too long', `https://hooks.example.com/${'x'.repeat(2048)}`],
    ['loopback', 'https://127.0.0.1/'],
    ['loopback with a last dot', 'https://127.0.0.1./'],
    ['loopback, encoded', 'https://%31%32%37.0.0.1/'],
    ['loopback in hexadecimal', 'https://0x7f.1/'],
    ['loopback in octal', 'https://017700000001/'],
    ['loopback in decimal', 'https://2130706433/'],
    ['loopback, shortened', 'https://127.1/'],
    ['nowhere', 'https://0.0.0.0/'],
    ['a private network', 'https://10.1.2.3/'],
    ['metadata', 'https://169.254.169.254/latest/meta-data'],
    ['loopback of IPv6', 'https://[::1]/'],
    ['link-local', 'https://[fe80::1]/'],
    ['unique local', 'https://[fd00::1]/'],
    ['mapped loopback', 'https://[::ffff:127.0.0.1]/'],
    ['mapped loopback in hexadecimal', 'https://[::ffff:7f00:1]/'],
    ['translated loopback', 'https://[64:ff9b::7f00:1]/'],
  ])('the url is %s', async (_what, url) => {
    expect(await refusal(post({ url, types: ['*'] }))).toBe('400 invalid_request /url');
  });

  test('addresses of the open internet and names are taken', async () => {
    for (const url of [
      'https://93.184.216.34/x',
      'https://[2606:4700::1111]/x',
      'https://hooks.example.com:8443/x?y=z',
      'HTTPS://HOOKS.example.com',
    ])
      expect((await subscribe({ url })).url).toBe(url);
  });

  test('with private addresses allowed, http and loopback are taken; users and fragments are not', async () => {
    const own = await startTestServer({ HEADRACE_ROLES: 'api', HEADRACE_WEBHOOK_ALLOW_PRIVATE: '1' }, s);
    try {
      const call = (url: string) => own.call('POST', WEBHOOKS, { url, types: ['*'] }, { key });
      for (const url of ['http://127.0.0.1:3000/', 'https://[::1]/']) await ok(call(url));
      for (const url of ['http://a@127.0.0.1/', 'http://127.0.0.1/#a', 'ftp://127.0.0.1/'])
        expect(await refusal(call(url))).toBe('400 invalid_request /url');
    } finally {
      await own.close();
    }
  });
});

describe('404', () => {
  test('the project is no Direct project of the organization', async () => {
    const { app } = await ok(s.call('POST', '/api/platform/v1/apps', { name: 'App' }, { key }));
    const gone = await newProject();
    await ok(s.call('DELETE', `/api/projects/${gone}`, undefined, { key }));
    for (const projectId of [app.id, gone, await newProject(s.key), newId('prj'), 'x'])
      expect(await refusal(post({ url: URL, types: ['*'], projectId }))).toBe('404 project_not_found');
  });

  test('a deleted webhook, or one of another organization, gets 404', async () => {
    const [gone, strange] = [await subscribe(), await subscribe({}, s.key)];
    await ok(remove(gone.id));
    const nobodys = await get(newId('wh'));
    for (const id of [gone.id, strange.id, 'none']) {
      for (const answer of [await get(id), await remove(id)]) {
        expect(answer.status).toBe(404);
        expect({ ...answer.body.error, requestId: '' }).toEqual({ ...nobodys.body.error, requestId: '' });
      }
    }
  });
});

describe('a key that is restricted to projects', () => {
  test('creates and sees only webhooks of its own projects', async () => {
    const [mine, other] = [await newProject(), await newProject()];
    const { key: limited } = await newAccount(s, cookie, { projectIds: [mine] });
    const make = (fields: Json) => post({ url: URL, types: ['*'], ...fields }, { key: limited });
    expect(await refusal(make({}))).toBe('400 invalid_request /projectId');
    expect(await refusal(make({ projectId: other }))).toBe('404 project_not_found');
    const own = await subscribe({ projectId: mine }, limited);
    const hidden = [await subscribe(), await subscribe({ projectId: other })];
    expect(await listed(limited)).toEqual([own.id]);
    for (const { id } of hidden) {
      expect(await refusal(get(id, limited))).toBe('404 webhook_not_found');
      expect(await refusal(remove(id, limited))).toBe('404 webhook_not_found');
    }
    await ok(remove(own.id, limited));
  });
});

describe('409', () => {
  test('an organization has at most 100, also with concurrent calls; a deleted one makes room', async () => {
    const { key: as } = await newTenant();
    const answers = await Promise.all(
      Array.from({ length: 104 }, () => post({ url: URL, types: ['*'] }, { key: as })),
    );
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.map(({ status, body }) => `${status} ${body.error.code}`)).toEqual(
      Array.from({ length: 4 }, () => '409 conflict'),
    );
    await ok(remove((await listed(as))[0]!, as));
    await subscribe({}, as);
  });
});

describe('deletion', () => {
  test('a deleted project ends the webhooks of its events, and no other', async () => {
    const projectId = await newProject();
    const [scoped, wide] = [await subscribe({ projectId }), await subscribe()];
    await ok(s.call('DELETE', `/api/projects/${projectId}`, undefined, { key }));
    expect(await refusal(get(scoped.id))).toBe('404 webhook_not_found');
    expect(await rowOf(scoped.id)).toMatchObject({ secret_sealed: null });
    await ok(get(wide.id));
  });

  test('a deleted organization leaves no secret', async () => {
    const { session, organization, key: as } = await newTenant();
    const { id } = await subscribe({}, as);
    await sql`update webhook_subscriptions set former_secret_sealed = secret_sealed, former_secret_until = 'infinity'
      where id = ${id}`.execute(s.service.ctx.db);
    await ok(s.call('DELETE', `/api/organizations/${organization.id}`, undefined, { cookie: session }));
    expect(await rowOf(id)).toMatchObject({
      secret_sealed: null,
      former_secret_sealed: null,
      deleted_at: expect.any(Date),
    });
  });
});
