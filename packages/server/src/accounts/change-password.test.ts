import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { transaction } from '../db/transaction.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { browser, expectStatus, invite, accept, invited, signedIn, tenant } from './callers.fixture.ts';
import { findUser, requirePasswordHash } from './sessions.ts';
import { accountOf, attempt } from './sign-in-limits.ts';

let s: TestServer;
let other: TestServer;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  other = await startTestServer({ HEADRACE_ROLES: 'api' }, s);
});
afterAll(async () => {
  await other?.close();
  await s?.close();
});

const somebody = async () => invited(s, (await tenant(s)).cookie, 'member');
const change = (cookie: string, currentPassword: string, newPassword: string, idem?: string) =>
  s.call(
    'PATCH',
    '/api/session/password',
    { currentPassword, newPassword },
    { cookie, ...(idem ? { idem } : {}) },
  );
const isOpen = async (server: TestServer, cookie: string) =>
  (
    await server.call('GET', '/api/session', undefined, {
      headers: { cookie, origin: server.base },
      key: null,
    })
  ).status === 200;
const signIn = (email: string, password: string) =>
  s.call('POST', '/api/auth/sign-in/email', { email, password }, browser(s));

describe('200', () => {
  test('the new password is in force, and every other session ends at once, in other processes too', async () => {
    const kim = await somebody();
    const another = await signedIn(s, kim);
    const stream = await fetch(`${s.base}/api/events/stream`, { headers: { cookie: another } });
    // Both processes know all of them: nothing is looked up again within a second.
    for (const cookie of [kim.cookie, another])
      for (const server of [s, other]) expect(await isOpen(server, cookie)).toBe(true);
    const answer = expectStatus(await change(kim.cookie, kim.password, 'a new long password'), 200);
    expect(await isOpen(s, another)).toBe(false);
    await expect.poll(() => isOpen(other, another), { timeout: 500, interval: 10 }).toBe(false);
    await stream.text();
    for (const server of [s, other]) expect(await isOpen(server, kim.cookie)).toBe(true);
    const session = await s.call('GET', '/api/session', undefined, { cookie: kim.cookie });
    expect(answer.body).toEqual(session.body);
    expectStatus(await signIn(kim.email, kim.password), 401);
    expectStatus(await signIn(kim.email, 'a new long password'), 200);
  });

  test('a retry is answered by the receipt, which has no password; the change is audited in each organization', async () => {
    const { cookie: owner } = await tenant(s);
    const { cookie: secondOwner } = await tenant(s);
    const kim = await invited(s, owner, 'admin');
    const { token } = await invite(s, secondOwner, 'member', kim.email);
    expectStatus(await accept(s, token, { name: 'Kim', password: kim.password }), 200);
    const [idem, next] = [randomUUID(), randomUUID()];
    const first = expectStatus(await change(kim.cookie, kim.password, next, idem), 200);
    const again = expectStatus(await change(kim.cookie, kim.password, next, idem), 200);
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([first.text, 'true']);
    expect(
      expectStatus(await change(kim.cookie, kim.password, randomUUID(), idem), 409).body.error.code,
    ).toBe('idempotency_conflict');
    const receipt = await s.call('GET', `/api/operations/${first.headers.get('x-operation-id')}`, undefined, {
      cookie: kim.cookie,
    });
    for (const password of [kim.password, next]) expect(receipt.text).not.toContain(password);
    for (const cookie of [owner, secondOwner]) {
      const [newest] = (await s.call('GET', '/api/audit', undefined, { cookie })).body.entries;
      expect(newest).toMatchObject({
        action: 'user.password_changed',
        actorId: kim.user.id,
        targetId: kim.user.id,
        address: '127.0.0.1',
      });
    }
  });
});

test('a network that the old password came from has to wait again, but the one that changed it', async () => {
  const kim = await somebody();
  const { limits, db, bus } = s.service.ctx;
  const known = async () =>
    (
      await db
        .selectFrom('sign_in_networks')
        .select('network')
        .where('account', '=', accountOf(kim.email))
        .where('is_known', '=', true)
        .execute()
    ).map((row) => row.network);
  await signedIn(s, kim);
  await attempt({ limits, db, bus }, kim.email, '203.0.113.7', () => Promise.resolve(true));
  expect((await known()).toSorted()).toEqual(['127.0.0.1', '203.0.113.7']);
  expectStatus(await change(kim.cookie, kim.password, 'a new long password'), 200);
  expect(await known()).toEqual(['127.0.0.1']);
});

describe('400', () => {
  test('a new password has 12 to 200 characters', async () => {
    const kim = await somebody();
    for (const wrong of ['x'.repeat(11), '😀'.repeat(11), 'x'.repeat(201)]) {
      const answer = expectStatus(await change(kim.cookie, kim.password, wrong), 400);
      expect(answer.body.error.fields[0].path).toBe('/newPassword');
    }
  });
});

describe('403', () => {
  test('a wrong current password changes nothing, releases the key, and counts as a failed sign-in', async () => {
    const kim = await somebody();
    const another = await signedIn(s, kim);
    const idem = randomUUID();
    const answer = expectStatus(
      await change(kim.cookie, 'not the password', 'a new long password', idem),
      403,
    );
    expect(answer.body.error.code).toBe('forbidden');
    expect(await isOpen(s, another)).toBe(true);
    const failures = await s.service.ctx.db.selectFrom('sign_in_failures').select('failures').execute();
    expect(failures.map((row) => row.failures)).toContain(1);
    expectStatus(await change(kim.cookie, kim.password, 'a new long password', idem), 200);
  });

  test('of two changes at once one holds', async () => {
    const kim = await somebody();
    const answers = await Promise.all(
      ['first new password', 'second new password'].map((next) => change(kim.cookie, kim.password, next)),
    );
    expect(answers.map((a) => a.status).sort()).toEqual([200, 403]);
  });
});

test('a sign-in whose password is changed while it is looked at opens no session', async () => {
  const kim = await somebody();
  const looked = (await findUser(s.service.ctx.db, kim.email))!;
  const open = () =>
    transaction(s.service.ctx, (tx) => requirePasswordHash(tx, looked, () => new Error('changed meanwhile')));
  await open();
  expectStatus(await change(kim.cookie, kim.password, 'a new long password'), 200);
  await expect(open()).rejects.toThrow('changed meanwhile');
});
