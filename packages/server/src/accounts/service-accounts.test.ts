import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { PERMISSIONS } from './permissions.ts';
import { expectStatus, invited, newAccount, signedIn, tenant } from './callers.fixture.ts';

let s: TestServer;
let cookie: string;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  cookie = await signedIn(s);
});
afterAll(async () => {
  await s?.close();
});

const PATH = '/api/service-accounts';
const apps = (key: string) => s.call('GET', '/api/platform/v1/apps', undefined, { key });
const fieldsOf = (answer: { body: { error: { fields: { path: string }[] } } }) =>
  answer.body.error.fields.map((f) => f.path);

describe('201', () => {
  test('creation tells the account, its credential and, once, the key', async () => {
    const body = {
      name: 'Reader',
      permissions: { project: ['read', 'read'], thread: ['stop', 'read'] },
      projectIds: ['prj_unknown'],
    };
    const idem = randomUUID();
    const first = expectStatus(await s.call('POST', PATH, body, { cookie, idem }), 201);
    expect(first.body.account).toMatchObject({
      name: 'Reader',
      permissions: { project: ['read'], thread: ['stop', 'read'] },
      projectIds: ['prj_unknown'],
      disabled: false,
    });
    expect(first.body.credential).toMatchObject({ accountId: first.body.account.id, revoked: false });
    expect(first.body.key.slice(4, 30)).toBe(first.body.credential.id.slice(5));
    expect(first.body.secretUnavailable).toBe(false);
    const again = expectStatus(await s.call('POST', PATH, body, { cookie, idem }), 201);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body).toEqual({
      ok: true,
      account: first.body.account,
      credential: first.body.credential,
      secretUnavailable: true,
    });
    const receipt = await s.call('GET', `/api/operations/${first.headers.get('x-operation-id')}`, undefined, {
      cookie,
    });
    expect(receipt.text).not.toContain(first.body.key.slice(31));
    expectStatus(await s.call('GET', '/api/platform/v1/apps', undefined, { key: first.body.key }), 200);
  });

  test('rotation adds a key; the old one lives until it is revoked', async () => {
    const { account, key, credential } = await newAccount(s, cookie);
    const idem = randomUUID();
    const rotated = expectStatus(
      await s.call('POST', `${PATH}/${account.id}/credentials`, { expiresInSeconds: 60 }, { cookie, idem }),
      201,
    ).body;
    expect(Date.parse(rotated.credential.expiresAt) - Date.parse(rotated.credential.createdAt)).toBe(60_000);
    expect(
      (await s.call('POST', `${PATH}/${account.id}/credentials`, { expiresInSeconds: 60 }, { cookie, idem }))
        .body,
    ).toEqual({
      ok: true,
      account: rotated.account,
      credential: rotated.credential,
      secretUnavailable: true,
    });
    expect([(await apps(key)).status, (await apps(rotated.key)).status]).toEqual([200, 200]);
    const revoked = expectStatus(
      await s.call('DELETE', `${PATH}/${account.id}/credentials/${credential.id}`, undefined, { cookie }),
      200,
    );
    expect(revoked.body.credential).toEqual({ ...credential, revoked: true });
    expect([(await apps(key)).status, (await apps(rotated.key)).status]).toEqual([401, 200]);
    const list = await s.call('GET', `${PATH}/${account.id}/credentials`, undefined, { cookie });
    expect(list.body.credentials).toEqual([rotated.credential, { ...credential, revoked: true }]);
    expect(rotated.account).toEqual(account);
  });
});

describe('200', () => {
  test('PATCH changes what it names, for the very next request', async () => {
    const { account, key } = await newAccount(s, cookie, { permissions: { project: ['read', 'create'] } });
    const path = `${PATH}/${account.id}`;
    const create = () => s.call('POST', '/api/platform/v1/apps', { name: 'x' }, { key });
    expectStatus(await create(), 201);
    const narrowed = expectStatus(
      await s.call('PATCH', path, { permissions: { project: ['read'] } }, { cookie }),
      200,
    ).body.account;
    expect(narrowed).toEqual({
      ...account,
      permissions: { project: ['read'] },
      updatedAt: narrowed.updatedAt,
    });
    expect(narrowed.updatedAt > account.updatedAt).toBe(true);
    expectStatus(await create(), 403);
    expectStatus(await s.call('PATCH', path, { disabled: true }, { cookie }), 200);
    expectStatus(await apps(key), 401);
    expectStatus(await s.call('PATCH', path, { disabled: false, projectIds: ['prj_x'] }, { cookie }), 200);
    expect(expectStatus(await apps(key), 200).body.apps).toEqual([]);
    expect((await s.call('GET', path, undefined, { cookie })).body.account.projectIds).toEqual(['prj_x']);
  });

  test('DELETE ends its keys, and it is gone', async () => {
    const { account, key } = await newAccount(s, cookie);
    expect(
      expectStatus(await s.call('DELETE', `${PATH}/${account.id}`, undefined, { cookie }), 200).body.account,
    ).toEqual(account);
    expectStatus(await apps(key), 401);
    for (const [method, path, body] of [
      ['GET', ''],
      ['PATCH', '', { name: 'x' }],
      ['DELETE', ''],
      ['GET', '/credentials'],
      ['POST', '/credentials', {}],
    ] as const) {
      expect(
        expectStatus(await s.call(method, `${PATH}/${account.id}${path}`, body, { cookie }), 404).body.error
          .code,
      ).toBe('service_account_not_found');
    }
  });

  test('the list is newest first and of one organization', async () => {
    const { cookie: own } = await tenant(s);
    const ids: string[] = [];
    for (let i = 0; i < 3; i++) ids.unshift((await newAccount(s, own)).account.id);
    const first = (await s.call('GET', `${PATH}?limit=2`, undefined, { cookie: own })).body;
    expect([first.accounts.map((a: { id: string }) => a.id), first.hasMore]).toEqual([ids.slice(0, 2), true]);
    const second = (
      await s.call('GET', `${PATH}?limit=2&cursor=${first.nextCursor}`, undefined, { cookie: own })
    ).body;
    expect([second.accounts.map((a: { id: string }) => a.id), second.nextCursor]).toEqual([
      ids.slice(2),
      null,
    ]);
    expectStatus(await s.call('GET', `${PATH}?cursor=${first.nextCursor}`, undefined, { cookie }), 400);
  });
});

describe('400', () => {
  test('each wrong field with its path, and nothing is changed', async () => {
    const cases: [unknown, string][] = [
      [{ name: '', permissions: {} }, '/name'],
      [{ permissions: {} }, '/name'],
      [{ name: 'n' }, '/permissions'],
      [{ name: 'n', permissions: { moon: ['read'] } }, '/permissions/moon'],
      [{ name: 'n', permissions: { project: ['fly'] } }, '/permissions/project/0'],
      [{ name: 'n', permissions: { usage: ['read', 'read'] } }, '/permissions/usage'],
      [{ name: 'n', permissions: {}, projectIds: [] }, '/projectIds'],
      [{ name: 'n', permissions: {}, projectIds: ['p'.repeat(129)] }, '/projectIds/0'],
      [{ name: 'n', permissions: {}, orgId: 'x' }, '/orgId'],
    ];
    for (const [body, path] of cases)
      expect(
        fieldsOf(expectStatus(await s.call('POST', PATH, body, { cookie }), 400)),
        JSON.stringify(body),
      ).toContain(path);
    const { account } = await newAccount(s, cookie);
    expect(
      fieldsOf(
        expectStatus(
          await s.call('PATCH', `${PATH}/${account.id}`, { name: 'new', disabled: 'no' }, { cookie }),
          400,
        ),
      ),
    ).toEqual(['/disabled']);
    expect((await s.call('GET', `${PATH}/${account.id}`, undefined, { cookie })).body.account).toEqual(
      account,
    );
    for (const expiresInSeconds of [0, 315_360_001, 1.5, null])
      expectStatus(
        await s.call('POST', `${PATH}/${account.id}/credentials`, { expiresInSeconds }, { cookie }),
        400,
      );
  });

  test('a lifecycle write without an Idempotency-Key', async () => {
    expect(
      (await s.call('POST', PATH, { name: 'n', permissions: {} }, { cookie, idem: false })).body.error.code,
    ).toBe('idempotency_key_required');
  });
});

describe('401 and 403', () => {
  test('a key with every permission is 401, a member 403, and nothing happens', async () => {
    const { cookie: own } = await tenant(s);
    const { account, credential, key } = await newAccount(s, own, { permissions: PERMISSIONS });
    const member = await invited(s, own, 'member');
    for (const [method, path, body] of [
      ['POST', '', { name: 'n', permissions: {} }],
      ['GET', ''],
      ['GET', `/${account.id}`],
      ['PATCH', `/${account.id}`, { disabled: true }],
      ['DELETE', `/${account.id}`],
      ['POST', `/${account.id}/credentials`, {}],
      ['GET', `/${account.id}/credentials`],
      ['DELETE', `/${account.id}/credentials/${credential.id}`],
    ] as const) {
      expectStatus(await s.call(method, PATH + path, body, { key }), 401);
      expectStatus(await s.call(method, PATH + path, body, { key: null }), 401);
      expectStatus(await s.call(method, PATH + path, body, { cookie: member.cookie }), 403);
    }
    expect((await s.call('GET', PATH, undefined, { cookie: own })).body.accounts).toEqual([account]);
  });
});

describe('404', () => {
  test('accounts and credentials of others do not exist', async () => {
    const { account, credential } = await newAccount(s, cookie);
    const { cookie: foreign } = await tenant(s);
    const own = (await newAccount(s, foreign)).account;
    for (const [method, path] of [
      ['GET', `/${account.id}`],
      ['DELETE', `/${account.id}`],
      ['GET', `/${account.id}/credentials`],
      ['DELETE', `/${account.id}/credentials/${credential.id}`],
      ['GET', '/x'],
    ] as const) {
      expect(
        expectStatus(await s.call(method, PATH + path, undefined, { cookie: foreign }), 404).body.error.code,
      ).toBe('service_account_not_found');
    }
    expect(
      expectStatus(
        await s.call('DELETE', `${PATH}/${own.id}/credentials/${credential.id}`, undefined, {
          cookie: foreign,
        }),
        404,
      ).body.error.code,
    ).toBe('credential_not_found');
  });
});
