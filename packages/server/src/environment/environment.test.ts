import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { expectStatus, invited, newAccount, tenant } from '../accounts/callers.fixture.ts';
import { until } from '../builds/builds.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { rotateSecrets } from '../rotate-secrets.ts';
import { replaceKeys } from '../sealing.ts';
import { variablesOf } from './of-project.ts';
import { openValue } from './values.ts';

let s: TestServer;
let cookie: string;
let key: string;
let appId: string;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
});
afterAll(async () => {
  await s?.close();
});
beforeEach(async () => {
  ({ cookie } = await tenant(s));
  ({ key } = await newAccount(s, cookie));
  appId = (await s.call('POST', '/api/platform/v1/apps', { name: 'x' }, { key })).body.app.id;
});

const SECRET = 'correct horse "battery" staple';
const path = (name = '', form = 'apps') =>
  `/api/platform/v1/${form}/${appId}/environment${name && `/${name}`}`;
const set = (name: string, body: unknown, idem = randomUUID()) =>
  s.call('PUT', path(name), body, { key, idem });
const list = async (query = '') =>
  expectStatus(await s.call('GET', path() + query, undefined, { key }), 200).body.variables;
const ofOrganization = (method: string, name = '', body?: unknown) =>
  s.call(method, `/api/environment${name && `/${name}`}`, body, { cookie });
const fieldsOf = (answer: { status: number; body: { error?: { fields?: { path: string }[] } } }) => [
  answer.status,
  ...(answer.body.error?.fields?.map((field) => field.path) ?? []),
];
const rows = () =>
  s.service.ctx.db.selectFrom('variables').selectAll().where('project_id', '=', appId).execute();

describe('200', () => {
  test('a variable is set, shown, listed by the bytes of names, set again and deleted; it keeps its id', async () => {
    const { variable } = expectStatus(
      await set('URL', { value: 'https://x', targets: ['preview', 'run'] }),
      200,
    ).body;
    expect(variable).toEqual({
      id: expect.stringMatching(/^env_/),
      name: 'URL',
      value: 'https://x',
      secret: false,
      targets: ['run', 'preview'],
      level: 'app',
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    await set('_a', { value: '' });
    await set('B', { value: SECRET, secret: true });
    expect((await list()).map((v: { name: string; value: unknown }) => [v.name, v.value])).toEqual([
      ['B', null],
      ['URL', 'https://x'],
      ['_a', ''],
    ]);
    const again = expectStatus(await set('URL', { value: SECRET, secret: true }), 200).body.variable;
    expect(again).toEqual({
      ...variable,
      value: null,
      secret: true,
      targets: ['exec', 'build', 'preview'],
      updatedAt: expect.any(String),
    });
    expect(again.updatedAt > variable.updatedAt).toBe(true);
    const gone = expectStatus(await s.call('DELETE', path('URL', 'projects'), undefined, { key }), 200);
    expect(gone.body.variable).toEqual(again);
    expect((await s.call('GET', path('URL'), undefined, { key })).body.error.code).toBe('variable_not_found');
  });

  test("the organization's: those that the app does not hide are effective in it", async () => {
    expectStatus(await ofOrganization('PUT', 'BOTH', { value: 'theirs' }), 200);
    expectStatus(await ofOrganization('PUT', 'ORG', { value: 'theirs' }), 200);
    await set('BOTH', { value: 'ours', targets: ['build'] });
    const shown = (all: { name: string; value: string; level: string }[]) =>
      all.map(({ name, value, level }) => [name, value, level].join(' '));
    expect(shown(await list('?effective=true'))).toEqual(['BOTH ours app', 'ORG theirs organization']);
    expect(shown(await list('?effective=false'))).toEqual(['BOTH ours app']);
    expect(shown((await ofOrganization('GET')).body.variables)).toEqual([
      'BOTH theirs organization',
      'ORG theirs organization',
    ]);
    expectStatus(await ofOrganization('DELETE', 'ORG'), 200);
    expect((await s.call('GET', path('ORG'), undefined, { key })).status).toBe(404);
  });

  test('a sandbox is given those that are for it; an agent is told what all of them are for', async () => {
    await set('RUN', { value: 'a', targets: ['run'] });
    await set('TOKEN', { value: SECRET, secret: true, targets: ['exec', 'build'] });
    await ofOrganization('PUT', 'ORG', { value: 'b', targets: ['run', 'exec'] });
    await ofOrganization('PUT', 'TOKEN', { value: 'hidden', targets: ['run'] });
    const { ctx } = s.service;
    const of = await ctx.db
      .selectFrom('projects')
      .select(['org_id', 'id as project_id'])
      .where('id', '=', appId)
      .executeTakeFirstOrThrow();
    expect(await variablesOf(ctx, of, 'run')).toEqual({
      variables: { RUN: 'a', ORG: 'b' },
      variableTargets: { RUN: ['run'], TOKEN: ['exec', 'build'], ORG: ['run', 'exec'] },
    });
    expect(await variablesOf(ctx, of, 'exec')).toEqual({
      variables: { TOKEN: SECRET, ORG: 'b' },
      secrets: [SECRET],
    });
    expect(await variablesOf(ctx, of, 'preview')).toEqual({});
  });

  test('a replay repeats the answer and sets nothing; the value is in no receipt and no audit entry', async () => {
    const idem = randomUUID();
    const first = expectStatus(await set('S', { value: SECRET, secret: true }, idem), 200);
    await set('S', { value: 'set by another since', secret: true });
    const again = await set('S', { value: SECRET, secret: true }, idem);
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([first.text, 'true']);
    expect(openValue(s.service.ctx.secretKey, (await rows())[0]!)).toBe('set by another since');

    const plain = randomUUID();
    const shown = expectStatus(await set('P', { value: SECRET }, plain), 200);
    expect(shown.body.variable.value).toBe(SECRET);
    await set('Q', { value: SECRET });
    const gone = expectStatus(await s.call('DELETE', path('Q'), undefined, { key }), 200);
    expect(gone.body.variable.value).toBe(SECRET);
    await set('P', { value: SECRET, secret: true });
    expect((await set('P', { value: SECRET }, plain)).text).toBe(shown.text);
    for (const { headers } of [shown, gone]) {
      const id = headers.get('x-operation-id');
      const read = await s.call('GET', `/api/operations/${id}`, undefined, { cookie });
      expect(expectStatus(read, 200).body.operation.response.variable.value).toBeNull();
    }
    const { db } = s.service.ctx;
    for (const table of ['operations', 'audit_entries', 'variables', 'outbox', 'events'] as const) {
      const stored = await db.selectFrom(table).selectAll().execute();
      const text = JSON.stringify(stored, (_, value) =>
        value?.type === 'Buffer' ? Buffer.from(value.data).toString('latin1') : value,
      );
      expect([table, text.includes('horse')]).toEqual([table, false]);
    }
    const { entries } = (await s.call('GET', '/api/audit', undefined, { cookie })).body;
    expect(entries.filter((e: { action: string }) => e.action === 'variable.set')).toHaveLength(5);
  });

  test('the values of a level are sealed, each for its variable alone, and sealed again with a new key', async () => {
    await set('A', { value: SECRET });
    await set('B', { value: SECRET, secret: true });
    const { ctx } = s.service;
    const [a, b] = await rows();
    expect(() => openValue(ctx.secretKey, { ...a!, value_sealed: b!.value_sealed })).toThrow(/authenticate/);
    expect(() => openValue(ctx.secretKey, { ...a!, org_id: 'org_other' })).toThrow(/authenticate/);
    const next = Buffer.alloc(32, 7);
    replaceKeys(next, [ctx.secretKey]);
    const rotated = await rotateSecrets(ctx.db, next);
    expect(rotated.find(({ what }) => what === 'environment variables')!.resealed).toBeGreaterThanOrEqual(2);
    const alone = Buffer.alloc(32, 7);
    expect((await rows()).map((row) => openValue(alone, row))).toEqual([SECRET, SECRET]);
    replaceKeys(ctx.secretKey, [next]);
  });

  test('one that cannot be opened has no value; it can be listed, set and deleted', async () => {
    await set('A', { value: SECRET });
    await set('B', { value: SECRET });
    await set('C', { value: SECRET });
    const { db } = s.service.ctx;
    await db
      .updateTable('variables')
      .set({ value_sealed: Buffer.alloc(64, 1) })
      .where('project_id', '=', appId)
      .where('name', '<>', 'C')
      .execute();
    expect((await list()).map((v: { value: unknown }) => v.value)).toEqual([null, null, SECRET]);
    const one = expectStatus(await s.call('GET', path('A'), undefined, { key }), 200).body.variable;
    expect([one.value, one.secret]).toEqual([null, false]);
    const gone = expectStatus(await s.call('DELETE', path('A'), undefined, { key }), 200).body.variable;
    expect(gone).toEqual(one);
    expect(expectStatus(await set('B', { value: 'again' }), 200).body.variable.value).toBe('again');
  });

  test('they go with their app at once', async () => {
    await set('A', { value: SECRET, secret: true });
    expectStatus(await s.call('DELETE', `/api/platform/v1/apps/${appId}`, undefined, { key }), 200);
    expect(await rows()).toEqual([]);
  });
});

describe('400', () => {
  test.each([
    '9A',
    'a-b',
    'a.b',
    '%C3%A4',
    'A%00',
    'x'.repeat(129),
    'HEADRACE_X',
    'LD_PRELOAD',
    'no_Proxy',
    'PATH',
    'ENV',
  ])('the name %s', async (name) => {
    expect(fieldsOf(await set(name, { value: 'v' }))).toEqual([400, '/params/name']);
    expect((await s.call('GET', path(name), undefined, { key })).status).toBe(404);
  });
  test.each(['a', '_', 'x'.repeat(128), 'headrace_x', 'path', 'LDX', 'my_proxy_url'])(
    'not the name %s',
    async (name) => {
      expectStatus(await set(name, { value: 'v' }), 200);
    },
  );
  test.each([
    [{}, '/value'],
    [{ value: 'ä'.repeat(16_385) }, '/value'],
    [{ value: 'a\u0000b' }, '/value'],
    [{ value: '🔑'.repeat(7), secret: true }, '/value'],
    [{ value: 'v', secret: 'yes' }, '/secret'],
    [{ value: 'v', targets: [] }, '/targets'],
    [{ value: 'v', targets: ['run', 'moon'] }, '/targets/1'],
    [{ value: 'v', name: 'X' }, '/name'],
  ])('a body: %#', async (body, where) => {
    expect(fieldsOf(await set('X', body))).toEqual([400, where]);
    expect(await rows()).toEqual([]);
  });
});

describe('401, 403', () => {
  test("the organization's take a session of an owner or admin", async () => {
    for (const [method, name, body] of [
      ['GET', ''],
      ['GET', 'A'],
      ['PUT', 'A', { value: 'v' }],
      ['DELETE', 'A'],
    ] as const) {
      const at = `/api/environment${name && `/${name}`}`;
      expect((await s.call(method, at, body, { key })).status).toBe(401);
      const member = await invited(s, cookie, 'member');
      expect((await s.call(method, at, body, { cookie: member.cookie })).status).toBe(403);
    }
  });
});

describe('404', () => {
  test.each([
    ['%00', 404, 'variable_not_found'],
    ['%ED%A0%80', 404, 'not_found'],
    ['none', 404, 'variable_not_found'],
  ])('%s', async (name, status, code) => {
    const answer = await s.call('GET', path(name), undefined, { key });
    expect([answer.status, answer.body.error.code]).toEqual([status, code]);
  });

  test('an organization that is deleted meanwhile', async () => {
    const { db } = s.service.ctx;
    const [{ org_id: orgId }] = (await db
      .selectFrom('projects')
      .select('org_id')
      .where('id', '=', appId)
      .execute()) as [{ org_id: string }];
    const changes = await db.transaction().execute(async (tx) => {
      await tx.updateTable('organizations').set({ deleted_at: new Date() }).where('id', '=', orgId).execute();
      const waiting = [ofOrganization('PUT', 'A', { value: 'v' }), ofOrganization('DELETE', 'A')];
      await until(async () => {
        const { rows: all } =
          await sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%"organizations"%'`.execute(
            db,
          );
        return all.length === 2;
      });
      return waiting;
    });
    for (const answer of await Promise.all(changes))
      expect([answer.status, answer.body.error?.code]).toEqual([404, 'organization_not_found']);
    expect(await db.selectFrom('variables').select('id').where('org_id', '=', orgId).execute()).toEqual([]);
  });
});

describe('409', () => {
  test('a level has at most 100 variables; one that is there can still be set', async () => {
    for (let i = 0; i < 100; i++) expectStatus(await set(`V${i}`, { value: 'v' }), 200);
    expect((await set('MORE', { value: 'v' })).body.error.code).toBe('conflict');
    expectStatus(await set('V7', { value: 'changed' }), 200);
    expectStatus(await ofOrganization('PUT', 'MORE', { value: 'v' }), 200);
  });

  test('a level has at most 65,536 bytes of names and values', async () => {
    await set('a', { value: 'x'.repeat(32_767) });
    await set('b', { value: 'x'.repeat(32_767) });
    expect((await set('c', { value: '' })).body.error.code).toBe('conflict');
    expectStatus(await set('b', { value: `${'x'.repeat(32_763)}ä` }), 200);
    expectStatus(await set('c', { value: 'x' }), 200);
    expect((await set('c', { value: 'xx' })).body.error.code).toBe('conflict');
  });

  test('of two writes at once, the bounds count both', async () => {
    await set('a', { value: 'x'.repeat(32_767) });
    const both = await Promise.all(['b', 'c'].map((name) => set(name, { value: 'x'.repeat(32_767) })));
    expect(both.map((answer) => answer.status).sort()).toEqual([200, 409]);
  });
});
