import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { createAuthenticator } from './authenticate.ts';
import { setPlatformApi } from './store.ts';
import { onAccessChanged, recheck } from './index.ts';
import { makeServiceKey } from './keys.ts';
import { invited, newAccount, signedIn, tenant } from './callers.fixture.ts';

let s: TestServer;
let owner: string;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  owner = await signedIn(s);
});
afterAll(async () => {
  await s?.close();
});

const PATHS = ['/api/platform/v1/apps', '/api/projects'];
const statuses = async (key: string) =>
  Promise.all(PATHS.map(async (path) => (await s.call('GET', path, undefined, { key })).status));
const authenticate = (headers: Record<string, string | undefined>) =>
  createAuthenticator(s.service.ctx).authenticate(headers, '203.0.113.7');

describe('200', () => {
  test('a key counts as itself in either header, and twice as one', async () => {
    const { key, credential, account } = await newAccount(s, owner);
    for (const headers of [
      { 'x-api-key': key },
      { authorization: `Bearer ${key}` },
      { authorization: `bearer ${key}` },
      { 'x-api-key': key, authorization: `Bearer ${key}` },
    ]) {
      const known = await authenticate(headers);
      expect(known.refusal).toBeUndefined();
      expect(known.bucket).toBe(`key ${credential.id}`);
      expect(known.principal).toMatchObject({
        kind: 'key',
        accountId: account.id,
        actorId: account.id,
        credentialId: credential.id,
        role: null,
        projectIds: null,
        platformApi: true,
      });
    }
  });

  test('a session counts as its user, and a key goes before a cookie', async () => {
    const known = await authenticate({ cookie: `other=1; ${owner}; more=2` });
    expect(known.principal).toMatchObject({ kind: 'session', role: 'owner' });
    expect(known.bucket).toBe(`user ${known.principal!.userId}`);
    expect((await authenticate({ cookie: owner, 'x-api-key': s.key })).principal?.kind).toBe('key');
    expect((await authenticate({ cookie: owner, 'x-api-key': makeServiceKey() })).refusal?.status).toBe(401);
  });

  test('a known caller costs no database round trip', async () => {
    const { key } = await newAccount(s, owner);
    await authenticate({ 'x-api-key': key });
    const queries = vi.spyOn(s.service.ctx.db, 'selectFrom');
    for (let i = 0; i < 20; i++) expect((await authenticate({ 'x-api-key': key })).principal).toBeDefined();
    expect(queries.mock.calls.filter(([from]) => from === 'credentials as c').length).toBeLessThanOrEqual(1);
    queries.mockRestore();
  });
});

describe('400', () => {
  test('two different keys', async () => {
    const { key } = await newAccount(s, owner);
    const known = await authenticate({ 'x-api-key': key, authorization: `Bearer ${s.key}` });
    expect(known.refusal).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(known.bucket).toBe('address 203.0.113.7');
  });
});

describe('401', () => {
  test('no key, an unknown one, a wrong secret, something else', async () => {
    const { key, credential } = await newAccount(s, owner);
    const forged = makeServiceKey(credential.id);
    await authenticate({ 'x-api-key': key });
    for (const headers of [
      {},
      { 'x-api-key': makeServiceKey() },
      { 'x-api-key': forged },
      { 'x-api-key': 'x' },
      { authorization: `Basic ${key}` },
      { cookie: 'headrace_session=nonsense' },
      { cookie: `headrace_session=${'a'.repeat(43)}` },
    ]) {
      const known = await authenticate(headers);
      expect(known.refusal).toMatchObject({ status: 401, code: 'unauthorized' });
      expect(known.principal).toBeUndefined();
      expect(known.bucket).toBe('address 203.0.113.7');
    }
  });

  test('an expired credential, from that moment on', async () => {
    const { account } = await newAccount(s, owner);
    const { key, credential } = (
      await s.call(
        'POST',
        `/api/service-accounts/${account.id}/credentials`,
        { expiresInSeconds: 3600 },
        { cookie: owner },
      )
    ).body;
    expect(await statuses(key)).toEqual([200, 200]);
    await s.service.ctx.db
      .updateTable('credentials')
      .set({ expires_at: sql<Date>`clock_timestamp() + interval '1200 milliseconds'` })
      .where('id', '=', credential.id)
      .execute();
    await vi.waitFor(async () => expect(await statuses(key)).toEqual([401, 401]), {
      timeout: 4_000,
      interval: 50,
    });
  });

  test('a change whose notification was lost is noticed within a second', async () => {
    const { key, account } = await newAccount(s, owner);
    expect(await statuses(key)).toEqual([200, 200]);
    await s.service.ctx.db
      .updateTable('service_accounts')
      .set({ disabled: true })
      .where('id', '=', account.id)
      .execute();
    await vi.waitFor(async () => expect(await statuses(key)).toEqual([401, 401]), {
      timeout: 1_000,
      interval: 20,
    });
  });
});

describe('over two services', () => {
  test('a key that one of them changes is refused by the other within a second', async () => {
    const other = await startTestServer({ HEADRACE_ROLES: 'api' }, s);
    try {
      for (const change of ['revoke', 'disable', 'narrow'] as const) {
        const { key, account, credential } = await newAccount(s, owner);
        const status = async () => (await other.call('GET', '/api/projects', undefined, { key })).status;
        expect(await status()).toBe(200);
        const path = `/api/service-accounts/${account.id}`;
        const changed = await (change === 'revoke'
          ? s.call('DELETE', `${path}/credentials/${credential.id}`, undefined, { cookie: owner })
          : s.call(
              'PATCH',
              path,
              change === 'disable' ? { disabled: true } : { permissions: { thread: ['read'] } },
              { cookie: owner },
            ));
        expect(changed.status).toBe(200);
        await expect.poll(status, { timeout: 1_000, interval: 5, message: change }).toBe(401);
      }
    } finally {
      await other.close();
    }
  });
});

describe('403', () => {
  test('an organization without the entitlement, by key and by session, on the Platform API only', async () => {
    const { cookie, organization } = await tenant(s);
    const { key } = await newAccount(s, cookie);
    expect(await statuses(key)).toEqual([200, 200]);
    expect(await setPlatformApi(s.service.ctx.db, organization.id, false)).toBe(true);
    await vi.waitFor(async () => expect(await statuses(key)).toEqual([403, 200]), {
      timeout: 1_000,
      interval: 20,
    });
    expect((await s.call('GET', PATHS[0]!, undefined, { cookie })).body.error.code).toBe('forbidden');
    expect((await s.call('GET', PATHS[1]!, undefined, { cookie })).status).toBe(200);
    await setPlatformApi(s.service.ctx.db, organization.id, true);
    await vi.waitFor(async () => expect(await statuses(key)).toEqual([200, 200]), {
      timeout: 1_000,
      interval: 20,
    });
    expect(await setPlatformApi(s.service.ctx.db, 'org_unknown', false)).toBe(false);
  });

  test('the keys of an account whose last saver lost the role, until another saves it', async () => {
    const { cookie } = await tenant(s);
    const admin = await invited(s, cookie, 'admin');
    const { key, account } = await newAccount(s, admin.cookie);
    expect(await statuses(key)).toEqual([200, 200]);
    await s.call('PATCH', `/api/members/${admin.user.id}`, { role: 'member' }, { cookie });
    expect(await statuses(key)).toEqual([403, 403]);
    // Neither a rotation nor a revocation saves the account.
    const rotated = (await s.call('POST', `/api/service-accounts/${account.id}/credentials`, {}, { cookie }))
      .body;
    expect(await statuses(rotated.key)).toEqual([403, 403]);
    await s.call('PATCH', `/api/service-accounts/${account.id}`, { name: 'Mine now' }, { cookie });
    expect(await statuses(key)).toEqual([200, 200]);
  });
});

describe('an open stream', () => {
  const caller = async (headers: Record<string, string | undefined>) =>
    (await authenticate(headers)).principal!;

  test('hears of changes that concern it, and sees its access end', async () => {
    const { cookie } = await tenant(s);
    const { account, key } = await newAccount(s, cookie, { projectIds: ['prj_1'] });
    const principal = await caller({ 'x-api-key': key });
    const heard = vi.fn();
    const stop = onAccessChanged(s.service.ctx, principal, heard);
    await newAccount(s, owner);
    await s.call(
      'PATCH',
      `/api/service-accounts/${(await newAccount(s, owner)).account.id}`,
      { disabled: true },
      { cookie: owner },
    );
    expect(heard).not.toHaveBeenCalled();
    await s.call('PATCH', `/api/service-accounts/${account.id}`, { projectIds: ['prj_2'] }, { cookie });
    expect(heard).toHaveBeenCalledTimes(1);
    expect([...(await recheck(s.service.ctx, principal))!.projectIds!]).toEqual(['prj_2']);
    await s.call('PATCH', `/api/service-accounts/${account.id}`, { disabled: true }, { cookie });
    expect(await recheck(s.service.ctx, principal)).toBeNull();
    stop();
    await s.call('PATCH', `/api/service-accounts/${account.id}`, { disabled: false }, { cookie });
    expect(heard).toHaveBeenCalledTimes(2);
  });

  test('of a session ends with it, and when it goes to act elsewhere', async () => {
    const { cookie } = await tenant(s);
    const principal = await caller({ cookie });
    expect(await recheck(s.service.ctx, principal)).toMatchObject({ orgId: principal.orgId });
    const { body } = await s.call('GET', '/api/session', undefined, { cookie: owner });
    await s.call(
      'PUT',
      '/api/session/organization',
      { organizationId: body.activeOrganizationId },
      { cookie },
    );
    expect(await recheck(s.service.ctx, principal)).toBeNull();
    const elsewhere = await caller({ cookie });
    await s.call('POST', '/api/auth/sign-out', {}, { cookie });
    expect(await recheck(s.service.ctx, elsewhere)).toBeNull();
  });
});
