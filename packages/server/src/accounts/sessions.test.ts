import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OWNER, startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { browser, cookieOf, expectStatus, invited, newAccount, signedIn, tenant } from './callers.fixture.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
});
afterAll(async () => {
  await s?.close();
});

const signIn = (body: unknown, headers: Record<string, string> = {}) =>
  s.call('POST', '/api/auth/sign-in/email', body, { ...browser(s), headers: { origin: s.base, ...headers } });

describe('200', () => {
  test('signing in tells the session and sets a cookie that only a browser here sends back', async () => {
    const answer = expectStatus(await signIn(OWNER), 200);
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^headrace_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=\d+$/),
    ]);
    const read = await s.call('GET', '/api/session', undefined, { cookie: cookieOf(answer) });
    expect(read.body).toEqual(answer.body);
    expect(read.body).toMatchObject({
      ok: true,
      user: { email: OWNER.email, name: 'Owner' },
      activeOrganizationId: read.body.organizations[0].id,
    });
    expect(answer.headers.get('x-operation-id')).toBeNull();
  });

  test('behind TLS the cookie is Secure', async () => {
    expect((await signIn(OWNER, { 'x-forwarded-proto': 'https' })).headers.getSetCookie()[0]).toMatch(
      /; Secure$/,
    );
  });

  test('an address is the same in any case of its letters', async () => {
    expectStatus(await signIn({ ...OWNER, email: OWNER.email.toUpperCase() }), 200);
  });

  test('only a hash of the token is stored', async () => {
    const token = (await signedIn(s)).split('=')[1]!;
    const rows = await sql<{ row: string }>`select t::text as row from sessions t`.execute(s.service.ctx.db);
    expect(rows.rows.map((r) => r.row).join()).not.toContain(token);
  });

  test('signing out ends that session at once, clears the cookie, and no other', async () => {
    const [one, other] = [await signedIn(s), await signedIn(s)];
    expectStatus(await s.call('GET', '/api/session', undefined, { cookie: one }), 200);
    const out = expectStatus(
      await s.call('POST', '/api/auth/sign-out', {}, { cookie: one, idem: false }),
      200,
    );
    expect(out.headers.getSetCookie()[0]).toMatch(/^headrace_session=; .*Max-Age=0/);
    expectStatus(await s.call('GET', '/api/session', undefined, { cookie: one }), 401);
    expectStatus(await s.call('GET', '/api/session', undefined, { cookie: other }), 200);
  });

  test('a session acts where it was sent, a new one in the first organization', async () => {
    const before = (await s.call('GET', '/api/session', undefined, { cookie: await signedIn(s) })).body;
    const { cookie, organization } = await tenant(s);
    expect((await s.call('GET', '/api/session', undefined, { cookie })).body.activeOrganizationId).toBe(
      organization.id,
    );
    expect((await s.call('GET', '/api/service-accounts', undefined, { cookie })).body.accounts).toEqual([]);
    expect((await newAccount(s, cookie)).account.orgId).toBe(organization.id);
    expect(
      (await s.call('GET', '/api/session', undefined, { cookie: await signedIn(s) })).body
        .activeOrganizationId,
    ).toBe(before.activeOrganizationId);
  });
});

describe('400', () => {
  test('without an address or a password', async () => {
    expect((await signIn({ email: OWNER.email })).body.error.fields).toEqual([
      { path: '/password', message: 'is required' },
    ]);
    expect(
      (await signIn({ password: 'x', more: 1 })).body.error.fields
        .map((f: { path: string }) => f.path)
        .sort(),
    ).toEqual(['/email', '/more']);
  });
});

describe('401', () => {
  test('a wrong password and an unknown address are told alike, without a cookie', async () => {
    const [wrong, unknown] = [
      await signIn({ ...OWNER, password: 'not this' }),
      await signIn({ email: 'nobody@example.test', password: 'not this' }),
    ];
    for (const answer of [wrong, unknown]) {
      expectStatus(answer, 401);
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
    expect({ ...unknown.body.error, requestId: '' }).toEqual({ ...wrong.body.error, requestId: '' });
  });

  test('an expired session', async () => {
    const member = await invited(s, await signedIn(s), 'member');
    await s.service.ctx.db
      .updateTable('sessions')
      .set({ expires_at: sql<Date>`now()` })
      .where('user_id', '=', member.user.id)
      .execute();
    s.service.ctx.bus.notify('accounts', member.user.id);
    expectStatus(await s.call('GET', '/api/session', undefined, { cookie: member.cookie }), 401);
  });

  test('a key where a session is needed', async () => {
    for (const [method, path] of [
      ['GET', '/api/session'],
      ['POST', '/api/auth/sign-out'],
      ['PUT', '/api/session/organization'],
    ] as const)
      expectStatus(await s.call(method, path, method === 'GET' ? undefined : {}), 401);
  });
});

describe('403', () => {
  test('a write from another site, which changes nothing', async () => {
    const cookie = await signedIn(s);
    for (const origin of [undefined, 'https://evil.example', 'null']) {
      expectStatus(
        await s.call(
          'POST',
          '/api/auth/sign-out',
          {},
          { key: null, headers: { cookie, ...(origin ? { origin } : {}) } },
        ),
        403,
      );
    }
    expectStatus(await s.call('GET', '/api/session', undefined, { cookie }), 200);
  });
});

describe('404', () => {
  test('switching to an organization of others, or none', async () => {
    const { organization } = await tenant(s);
    const member = await invited(s, await signedIn(s), 'member');
    for (const organizationId of [organization.id, 'org_01k9x3v5e8f7arh2m4t6w8y0zb', 'x']) {
      const answer = expectStatus(
        await s.call('PUT', '/api/session/organization', { organizationId }, { cookie: member.cookie }),
        404,
      );
      expect(answer.body.error.code).toBe('organization_not_found');
    }
  });
});

describe('429', () => {
  test('after 50 wrong passwords an account is closed for a while; right ones never count', async () => {
    const member = await invited(s, await signedIn(s), 'member');
    for (let i = 0; i < 4; i++) await signedIn(s, member);
    const wrong = await Promise.all(
      Array.from({ length: 50 }, () => signIn({ email: member.email, password: 'guess' })),
    );
    expect(new Set(wrong.map((a) => a.status))).toEqual(new Set([401]));
    const closed = expectStatus(await signIn({ email: member.email, password: member.password }), 429);
    expect(closed.body.error.code).toBe('rate_limited');
    expect(Number(closed.headers.get('retry-after'))).toBeGreaterThan(200);
    await signedIn(s);
  });
});
