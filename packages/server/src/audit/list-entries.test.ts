import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectStatus, invited, newAccount, signedIn, tenant } from '../accounts/callers.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
});
afterAll(async () => {
  await s?.close();
});

interface Entry {
  id: string;
  action: string;
  actorId: string;
  targetId: string;
  address: string;
  createdAt: string;
}
const entriesOf = async (cookie: string, query = '?limit=200'): Promise<Entry[]> =>
  expectStatus(await s.call('GET', `/api/audit${query}`, undefined, { cookie }), 200).body.entries;

describe('200', () => {
  test('every change is told, newest first: who, what, when, from where', async () => {
    const { cookie, organization } = await tenant(s);
    const owner = (await s.call('GET', '/api/session', undefined, { cookie })).body.user.id;
    const kim = await invited(s, cookie, 'member');
    const { account, credential, key } = await newAccount(s, cookie);
    const { app } = expectStatus(
      await s.call('POST', '/api/platform/v1/apps', { name: 'x' }, { key }),
      201,
    ).body;
    await signedIn(s, kim);
    const calls: [string, string, unknown?][] = [
      ['PATCH', `/api/service-accounts/${account.id}`, { name: 'y' }],
      ['DELETE', `/api/service-accounts/${account.id}/credentials/${credential.id}`],
      ['DELETE', `/api/service-accounts/${account.id}`],
      ['PATCH', `/api/members/${kim.user.id}`, { role: 'admin' }],
      ['DELETE', `/api/members/${kim.user.id}`],
      ['PATCH', '/api/settings', { idleTimeoutMinutes: 7 }],
      ['PATCH', `/api/platform/v1/apps/${app.id}/settings`, { idleTimeoutMinutes: 7 }],
      ['DELETE', `/api/projects/${app.id}`],
      ['PUT', '/api/model-keys/anthropic', { key: 'k' }],
      ['DELETE', '/api/model-keys/anthropic'],
    ];
    for (const [method, path, body] of calls) expectStatus(await s.call(method, path, body, { cookie }), 200);
    const entries = await entriesOf(cookie);
    expect(entries.toReversed().map((e) => [e.action, e.actorId, e.targetId])).toEqual([
      ['organization.created', owner, organization.id],
      ['session.switched', owner, organization.id],
      ['member.invited', owner, expect.stringMatching(/^inv_/)],
      ['member.joined', kim.user.id, kim.user.id],
      ['service_account.created', owner, account.id],
      ['session.created', kim.user.id, kim.user.id],
      ['service_account.updated', owner, account.id],
      ['credential.revoked', owner, credential.id],
      ['service_account.deleted', owner, account.id],
      ['member.updated', owner, kim.user.id],
      ['member.removed', owner, kim.user.id],
      ['settings.updated', owner, organization.id],
      ['settings.updated', owner, app.id],
      ['project.deleted', owner, app.id],
      ['model_key.set', owner, 'anthropic'],
      ['model_key.deleted', owner, 'anthropic'],
    ]);
    for (const entry of entries)
      expect(entry).toMatchObject({
        address: '127.0.0.1',
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/),
        id: expect.stringMatching(/^aud_/),
      });
    const pages = [
      ...(await entriesOf(cookie, '?limit=1')),
      ...(
        await s.call(
          'GET',
          `/api/audit?limit=200&cursor=${(await s.call('GET', '/api/audit?limit=1', undefined, { cookie })).body.nextCursor}`,
          undefined,
          { cookie },
        )
      ).body.entries,
    ];
    expect(pages).toEqual(entries);
  });

  test('refused writes are not in it, and no other organization is', async () => {
    const { cookie } = await tenant(s);
    const before = await entriesOf(cookie);
    expectStatus(await s.call('POST', '/api/service-accounts', { name: '' }, { cookie }), 400);
    expectStatus(await s.call('DELETE', '/api/model-keys/anthropic', undefined, { cookie }), 404);
    await tenant(s);
    expect(await entriesOf(cookie)).toEqual(before);
  });
});

describe('401 and 403', () => {
  test('keys and members do not read it', async () => {
    const { cookie } = await tenant(s);
    expectStatus(
      await s.call('GET', '/api/audit', undefined, { key: (await newAccount(s, cookie)).key }),
      401,
    );
    expectStatus(
      await s.call('GET', '/api/audit', undefined, { cookie: (await invited(s, cookie, 'member')).cookie }),
      403,
    );
  });
});
