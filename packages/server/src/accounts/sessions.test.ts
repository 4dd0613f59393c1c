import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OWNER, startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { browser, cookieOf, expectStatus, invited, newAccount, signedIn, tenant } from './callers.fixture.ts';
import { PERMISSIONS } from './permissions.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api', HEADRACE_TRUSTED_PROXIES: '127.0.0.1' });
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

  test('a session has the permissions of its role in the organization that it acts in', async () => {
    const { cookie } = await tenant(s);
    const permissionsOf = async (of: string) =>
      expectStatus(await s.call('GET', '/api/session', undefined, { cookie: of }), 200).body.permissions;
    const { cookie: kim, user } = await invited(s, cookie, 'member');
    expect(await permissionsOf(cookie)).toEqual(PERMISSIONS);
    expect(await permissionsOf((await invited(s, cookie, 'admin')).cookie)).toEqual(PERMISSIONS);
    const ofMembers = {
      project: ['create', 'read', 'update'],
      thread: PERMISSIONS.thread,
      repo: ['read'],
      usage: ['read'],
    };
    expect(await permissionsOf(kim)).toEqual(ofMembers);
    expectStatus(await s.call('DELETE', `/api/members/${user.id}`, undefined, { cookie }), 200);
    expect(await permissionsOf(kim)).toEqual({});
  });

  test('only in the first organization a session is the operator’s', async () => {
    const first = await s.call('GET', '/api/session', undefined, { cookie: cookieOf(await signIn(OWNER)) });
    expect(first.body.isOperator).toBe(true);
    const { cookie } = await tenant(s);
    const other = await s.call('GET', '/api/session', undefined, { cookie });
    expect(other.body.isOperator).toBe(false);
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

describe('the list of open sessions', () => {
  const list = async (cookie: string) =>
    expectStatus(await s.call('GET', '/api/sessions', undefined, { cookie }), 200).body.sessions;
  const end = (cookie: string, id: string) => s.call('DELETE', `/api/sessions/${id}`, undefined, { cookie });

  test("shows the user's own ones, newest first: which one asks, from where and by what they were opened", async () => {
    const kim = await invited(s, await signedIn(s), 'member');
    const second = cookieOf(
      expectStatus(
        await signIn(
          { email: kim.email, password: kim.password },
          { 'user-agent': `Second/2.0 ${'x'.repeat(600)}`, 'x-forwarded-for': '203.0.113.7' },
        ),
        200,
      ),
    );
    const sessions = await list(second);
    expect(sessions).toEqual([
      {
        id: expect.stringMatching(/^ses_/),
        current: true,
        address: '203.0.113.7',
        userAgent: `Second/2.0 ${'x'.repeat(489)}`,
        createdAt: expect.stringMatching(/Z$/),
        lastSeenAt: sessions[0].createdAt,
      },
      expect.objectContaining({ current: false, address: '127.0.0.1' }),
    ]);
    expect((await list(kim.cookie)).map((x: { current: boolean }) => x.current)).toEqual([false, true]);
    const first = (await s.call('GET', '/api/sessions?limit=1', undefined, { cookie: second })).body;
    expect([first.sessions, first.hasMore]).toEqual([sessions.slice(0, 1), true]);
    const rest = (
      await s.call('GET', `/api/sessions?cursor=${first.nextCursor}`, undefined, { cookie: second })
    ).body;
    expect([rest.sessions, rest.hasMore]).toEqual([sessions.slice(1), false]);
  });

  test('ending one refuses its next request and ends its streams; its user alone may, whatever their role', async () => {
    const owner = await signedIn(s);
    const kim = await invited(s, owner, 'member');
    const second = await signedIn(s, kim);
    const [, first] = await list(second);
    expect(expectStatus(await end(owner, first.id), 404).body.error.code).toBe('session_not_found');
    expectStatus(await end(second, 'nonsense'), 404);
    const stream = await fetch(`${s.base}/api/events/stream`, { headers: { cookie: kim.cookie } });
    expect(stream.status).toBe(200);
    const ended = expectStatus(await end(second, first.id), 200);
    expect(ended.body.session).toEqual(first);
    await stream.text();
    expectStatus(await s.call('GET', '/api/session', undefined, { cookie: kim.cookie }), 401);
    expectStatus(await end(second, first.id), 404);
    const [own] = await list(second);
    expectStatus(await end(second, own.id), 200);
    expectStatus(await s.call('GET', '/api/session', undefined, { cookie: second }), 401);
    const { entries } = (await s.call('GET', '/api/audit', undefined, { cookie: owner })).body;
    expect(
      entries
        .filter((entry: { action: string }) => entry.action === 'session.ended')
        .map((entry: { actorId: string; targetId: string }) => [entry.actorId, entry.targetId]),
    ).toEqual([
      [kim.user.id, own.id],
      [kim.user.id, first.id],
    ]);
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
  const from = (address: string) => ({ 'x-forwarded-for': address });

  test('however many wrong passwords come from everywhere, the right one is let through where it was before', async () => {
    const member = await invited(s, await signedIn(s), 'member');
    const right = { email: member.email, password: member.password };
    expectStatus(await signIn(right, from('10.1.0.1')), 200);
    const wrong = await Promise.all(
      Array.from({ length: 60 }, (_, i) => signIn({ ...right, password: 'guess' }, from(`10.2.0.${i}`))),
    );
    expect(new Set(wrong.map((a) => a.status))).toEqual(new Set([401, 429]));
    expectStatus(await signIn(right, from('10.1.0.1')), 200);
    const elsewhere = expectStatus(await signIn(right, from('10.3.0.1')), 429);
    expect(elsewhere.body.error.code).toBe('rate_limited');
    expect(Number(elsewhere.headers.get('retry-after'))).toBeLessThanOrEqual(300);
  });
});
