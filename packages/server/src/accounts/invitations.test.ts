import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { accept, expectStatus, invite, invited, newAccount, signedIn, tenant } from './callers.fixture.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
});
afterAll(async () => {
  await s?.close();
});

interface Invitation {
  id: string;
  email: string;
  url: string | null;
}
const KIM = { name: 'Kim', password: 'a long password' };
const list = async (cookie: string, query = ''): Promise<Invitation[]> =>
  expectStatus(await s.call('GET', `/api/invitations${query}`, undefined, { cookie }), 200).body.invitations;
const revoke = (cookie: string, id: string) =>
  s.call('DELETE', `/api/invitations/${id}`, undefined, { cookie });
const acceptAs = (cookie: string, token: string, body: unknown) =>
  s.call('POST', `/api/invitations/${token}/accept`, body, { cookie, idem: false });

describe('the open invitations', () => {
  test('are listed newest first, without their links: not those accepted, expired or by whom may invite no more', async () => {
    const { cookie } = await tenant(s);
    const first = await invite(s, cookie, 'member');
    const second = await invite(s, cookie, 'admin');
    const accepted = await invite(s, cookie, 'member');
    expectStatus(await accept(s, accepted.token, KIM), 200);
    const expired = await invite(s, cookie, 'member');
    await s.service.ctx.db
      .updateTable('invitations')
      .set({ expires_at: sql<Date>`now()` })
      .where('email', '=', expired.email)
      .execute();
    const admin = await invited(s, cookie, 'admin');
    await invite(s, admin.cookie, 'member');
    expectStatus(await s.call('PATCH', `/api/members/${admin.user.id}`, { role: 'member' }, { cookie }), 200);
    const time = expect.stringMatching(/Z$/);
    expect(await list(cookie)).toEqual([
      { id: expect.stringMatching(/^inv_/), email: second.email, role: 'admin', url: null, expiresAt: time },
      { id: expect.stringMatching(/^inv_/), email: first.email, role: 'member', url: null, expiresAt: time },
    ]);
    expect((await list(cookie, '?limit=1')).map((i) => i.email)).toEqual([second.email]);
    expect(await list((await tenant(s)).cookie)).toEqual([]);
    expectStatus(await s.call('GET', '/api/invitations', undefined, { cookie: admin.cookie }), 403);
    const { key } = await newAccount(s, cookie);
    expectStatus(await s.call('GET', '/api/invitations', undefined, { key }), 401);
  });

  test('can be revoked: the link is dead, and it is in the audit log', async () => {
    const { cookie } = await tenant(s);
    const { email, token } = await invite(s, cookie, 'member');
    const [invitation] = await list(cookie);
    expectStatus(await revoke((await tenant(s)).cookie, invitation!.id), 404);
    const answer = expectStatus(await revoke(cookie, invitation!.id), 200);
    expect(answer.body.invitation).toEqual(invitation);
    expect(expectStatus(await accept(s, token, KIM), 404).body.error.code).toBe('invitation_not_found');
    expect(await list(cookie)).toEqual([]);
    expectStatus(await revoke(cookie, invitation!.id), 404);
    const { entries } = (await s.call('GET', '/api/audit?limit=1', undefined, { cookie })).body;
    expect(entries[0]).toMatchObject({ action: 'invitation.revoked', targetId: invitation!.id });
    // The same address can be invited again.
    expectStatus(await accept(s, (await invite(s, cookie, 'member', email)).token, KIM), 200);
  });

  test('of one address end with the first that is accepted: nobody who was removed comes back by another', async () => {
    const { cookie } = await tenant(s);
    const { email, token } = await invite(s, cookie, 'member');
    const other = await invite(s, cookie, 'admin', email.toUpperCase());
    const { user } = expectStatus(await accept(s, token, KIM), 200).body;
    expect(await list(cookie)).toEqual([]);
    expectStatus(await s.call('DELETE', `/api/members/${user.id}`, undefined, { cookie }), 200);
    expectStatus(await accept(s, other.token, KIM), 404);
  });

  test('an accepted one stays accepted', async () => {
    const { cookie } = await tenant(s);
    const { token } = await invite(s, cookie, 'member');
    const [invitation] = await list(cookie);
    expectStatus(await accept(s, token, KIM), 200);
    expectStatus(await revoke(cookie, invitation!.id), 404);
  });
});

describe('who accepts', () => {
  test('is not the one who invites, or another user who is signed in', async () => {
    const { cookie } = await tenant(s);
    const stranger = await invite(s, cookie, 'member');
    const kim = await invited(s, (await tenant(s)).cookie, 'member');
    for (const other of [cookie, kim.cookie])
      expect(expectStatus(await acceptAs(other, stranger.token, KIM), 403).body.error.code).toBe('forbidden');
    const own = await invite(s, cookie, 'member', kim.email);
    expectStatus(await acceptAs(kim.cookie, own.token, { name: 'Kim', password: kim.password }), 200);
  });

  test('needs the password of the user who has the address, whoever made that user: guesses are counted', async () => {
    const claimed = `${randomUUID()}@example.test`;
    const { cookie: claimant } = await tenant(s);
    expectStatus(
      await accept(s, (await invite(s, claimant, 'member', claimed)).token, {
        name: 'Not Kim',
        password: 'known to the claimant',
      }),
      200,
    );
    const { cookie } = await tenant(s);
    const { token } = await invite(s, cookie, 'member', claimed);
    // Without the link of the other organization, what the claimant knows opens nothing there.
    const session = await signedIn(s, { email: claimed, password: 'known to the claimant' });
    expect(
      (await s.call('GET', '/api/session', undefined, { cookie: session })).body.organizations,
    ).toHaveLength(1);
    for (let i = 0; i < 2; i++) expectStatus(await accept(s, token, KIM), 401);
    expect((await s.call('GET', '/api/members', undefined, { cookie })).body.members).toHaveLength(1);
    const failures = await s.service.ctx.db.selectFrom('sign_in_failures').select('failures').execute();
    expect(failures.map((row) => row.failures)).toContain(2);
  });
});
