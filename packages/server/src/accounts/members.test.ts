import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import {
  accept,
  cookieOf,
  expectStatus,
  invite,
  invited,
  newAccount,
  signedIn,
  tenant,
} from './callers.fixture.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
});
afterAll(async () => {
  await s?.close();
});

const me = async (cookie: string) => (await s.call('GET', '/api/session', undefined, { cookie })).body;
const change = (cookie: string, userId: string, role: string) =>
  s.call('PATCH', `/api/members/${userId}`, { role }, { cookie });
const remove = (cookie: string, userId: string) =>
  s.call('DELETE', `/api/members/${userId}`, undefined, { cookie });
const KIM = { name: 'Kim', password: 'a long password' };

describe('an invitation', () => {
  test('makes a user with a session, who can sign in; it works once', async () => {
    const { cookie, organization } = await tenant(s);
    const { email, token } = await invite(s, cookie, 'member');
    const answer = expectStatus(await accept(s, token, KIM), 200);
    expect(answer.body).toMatchObject({
      user: { email, name: 'Kim' },
      organizations: [{ id: organization.id, name: organization.name, role: 'member' }],
      activeOrganizationId: organization.id,
    });
    expect(await me(cookieOf(answer))).toEqual(answer.body);
    expect(await me(await signedIn(s, { email, password: KIM.password }))).toEqual(answer.body);
    expect(expectStatus(await accept(s, token, KIM), 404).body.error.code).toBe('invitation_not_found');
    expect((await s.call('GET', '/api/members', undefined, { cookie })).body.members[0]).toEqual({
      userId: answer.body.user.id,
      email,
      name: 'Kim',
      role: 'member',
      createdAt: expect.stringMatching(/Z$/),
    });
  });

  test("leads to the console's page for it, at the address by which the member was invited", async () => {
    const { cookie } = await tenant(s);
    const { body } = await s.call(
      'POST',
      '/api/members',
      { email: 'lee@example.test', role: 'member' },
      { cookie },
    );
    expect(body.invitation.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/console\/invitations\/[\w-]{43}$/);
    expect(new URL(body.invitation.url).origin).toBe(s.base);
  });

  test('accepted twice at once makes one member', async () => {
    const { cookie } = await tenant(s);
    const { token } = await invite(s, cookie, 'member');
    const answers = await Promise.all([accept(s, token, KIM), accept(s, token, KIM), accept(s, token, KIM)]);
    expect(answers.filter((a) => a.status === 200)).toHaveLength(1);
    expect((await s.call('GET', '/api/members', undefined, { cookie })).body.members).toHaveLength(2);
  });

  test('of an address that has a user takes the password of that user', async () => {
    const { cookie, organization } = await tenant(s);
    const kim = await invited(s, (await tenant(s)).cookie, 'member');
    const { token } = await invite(s, cookie, 'admin', kim.email.toUpperCase());
    expectStatus(await accept(s, token, { name: 'Other', password: 'not this one' }), 401);
    const answer = expectStatus(await accept(s, token, { name: 'Other', password: kim.password }), 200);
    expect(answer.body.user).toMatchObject({ id: kim.user.id, name: 'Kim' });
    expect(answer.body.organizations.map((o: { role: string }) => o.role)).toEqual(['member', 'admin']);
    expect(answer.body.organizations[1].id).toBe(organization.id);
  });

  test('has bounds: 400, and an unknown, expired or orphaned one is 404', async () => {
    const { cookie } = await tenant(s);
    for (const [body, path] of [
      [{ email: 'none', role: 'member' }, '/email'],
      [{ email: 'a@example.test', role: 'emperor' }, '/role'],
      [{ role: 'member' }, '/email'],
    ] as const) {
      expect(
        expectStatus(await s.call('POST', '/api/members', body, { cookie }), 400).body.error.fields[0].path,
      ).toBe(path);
    }
    const { token } = await invite(s, cookie, 'member');
    expect(
      (await accept(s, token, { password: 'short' })).body.error.fields
        .map((f: { path: string }) => f.path)
        .sort(),
    ).toEqual(['/name', '/password']);
    expectStatus(await accept(s, 'unknown', KIM), 404);
    const expired = await invite(s, cookie, 'member');
    await s.service.ctx.db
      .updateTable('invitations')
      .set({ expires_at: sql<Date>`now()` })
      .where('email', '=', expired.email)
      .execute();
    expectStatus(await accept(s, expired.token, KIM), 404);
    const admin = await invited(s, cookie, 'admin');
    const orphan = await invite(s, admin.cookie, 'member');
    expectStatus(await change(cookie, admin.user.id, 'member'), 200);
    expectStatus(await accept(s, orphan.token, KIM), 404);
    expectStatus(await accept(s, token, KIM), 200);
  });

  test('of a member is 409', async () => {
    const { cookie } = await tenant(s);
    const kim = await invited(s, cookie, 'member');
    expect(
      expectStatus(await s.call('POST', '/api/members', { email: kim.email, role: 'admin' }, { cookie }), 409)
        .body.error.code,
    ).toBe('conflict');
  });
});

describe('roles', () => {
  test('a change holds for the next request', async () => {
    const { cookie } = await tenant(s);
    const kim = await invited(s, cookie, 'admin');
    expectStatus(await s.call('GET', '/api/audit', undefined, { cookie: kim.cookie }), 200);
    expect(expectStatus(await change(cookie, kim.user.id, 'member'), 200).body.member).toMatchObject({
      userId: kim.user.id,
      role: 'member',
    });
    expectStatus(await s.call('GET', '/api/audit', undefined, { cookie: kim.cookie }), 403);
    expectStatus(await s.call('GET', '/api/projects', undefined, { cookie: kim.cookie }), 200);
    expectStatus(await s.call('GET', '/api/models', undefined, { cookie: kim.cookie }), 403);
    expectStatus(await remove(cookie, kim.user.id), 200);
    expectStatus(await s.call('GET', '/api/projects', undefined, { cookie: kim.cookie }), 403);
    expectStatus(await remove(cookie, kim.user.id), 404);
  });

  test('only an owner makes, changes and removes an owner; a member none at all', async () => {
    const { cookie } = await tenant(s);
    const [admin, second, member] = [
      await invited(s, cookie, 'admin'),
      await invited(s, cookie, 'owner'),
      await invited(s, cookie, 'member'),
    ];
    for (const answer of [
      await change(admin.cookie, second.user.id, 'member'),
      await change(admin.cookie, member.user.id, 'owner'),
      await remove(admin.cookie, second.user.id),
      await s.call(
        'POST',
        '/api/members',
        { email: `${randomUUID()}@example.test`, role: 'owner' },
        { cookie: admin.cookie },
      ),
      await change(member.cookie, admin.user.id, 'member'),
      await remove(member.cookie, admin.user.id),
      await s.call(
        'POST',
        '/api/members',
        { email: 'x@example.test', role: 'member' },
        { cookie: member.cookie },
      ),
    ])
      expectStatus(answer, 403);
    expectStatus(await s.call('GET', '/api/members', undefined, { cookie: member.cookie }), 200);
    expectStatus(await change(admin.cookie, member.user.id, 'admin'), 200);
    expect(
      (await s.call('GET', '/api/members?limit=200', undefined, { cookie })).body.members
        .map((m: { role: string }) => m.role)
        .sort(),
    ).toEqual(['admin', 'admin', 'owner', 'owner']);
    expectStatus(
      await s.call('GET', '/api/members', undefined, { key: (await newAccount(s, cookie)).key }),
      401,
    );
  });

  test('the last owner stays, also when two step down at once', async () => {
    const { cookie } = await tenant(s);
    const { user } = await me(cookie);
    for (const answer of [await change(cookie, user.id, 'admin'), await remove(cookie, user.id)])
      expect(expectStatus(answer, 409).body.error.code).toBe('conflict');
    expectStatus(await change(cookie, user.id, 'owner'), 200);
    const second = await invited(s, cookie, 'owner');
    const both = await Promise.all([
      change(cookie, user.id, 'member'),
      change(second.cookie, second.user.id, 'member'),
    ]);
    expect(both.map((a) => a.status).sort()).toEqual([200, 409]);
  });
});
