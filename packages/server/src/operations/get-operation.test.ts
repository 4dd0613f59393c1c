import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectStatus, invited, newAccount, tenant } from '../accounts/callers.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';

let s: TestServer;
let cookie: string;
let key: string;
let receipt: string;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  ({ cookie } = await tenant(s));
  ({ key } = await newAccount(s, cookie));
  receipt = receiptOf(await s.call('POST', '/api/platform/v1/apps', { name: 'x' }, { key, idem: 'make' }));
});
afterAll(async () => {
  await s?.close();
});

const receiptOf = (answer: { headers: Headers }) => answer.headers.get('x-operation-id')!;
const read = (id: string, as: { key?: string | null; cookie?: string }) =>
  s.call('GET', `/api/operations/${id}`, undefined, as);

describe('200', () => {
  test('what was asked and answered', async () => {
    const { operation } = expectStatus(await read(receipt, { key }), 200).body;
    expect(operation).toMatchObject({
      id: receipt,
      idempotencyKey: 'make',
      method: 'POST',
      path: '/api/platform/v1/apps',
      status: 'succeeded',
      responseStatus: 201,
      response: { ok: true, app: { name: 'x' } },
    });
  });

  test('what only a session may do is told to its actor and to owners and admins', async () => {
    const [admin, member] = [await invited(s, cookie, 'admin'), await invited(s, cookie, 'member')];
    const home = (await s.call('GET', '/api/session', undefined, { cookie: member.cookie })).body
      .activeOrganizationId;
    const own = receiptOf(
      await s.call('PUT', '/api/session/organization', { organizationId: home }, { cookie: member.cookie }),
    );
    expectStatus(await read(own, { cookie: member.cookie }), 200);
    const ofAdmin = receiptOf(
      await s.call('POST', '/api/service-accounts', { name: 'n', permissions: {} }, { cookie: admin.cookie }),
    );
    expectStatus(await read(ofAdmin, { cookie }), 200);
    expectStatus(await read(ofAdmin, { cookie: member.cookie }), 403);
    expectStatus(await read(ofAdmin, { key }), 401);
  });
});

describe('401 and 404', () => {
  test('without the permission of the operation 401; outside the organization and the projects 404', async () => {
    expectStatus(
      await read(receipt, { key: (await newAccount(s, cookie, { permissions: { project: ['read'] } })).key }),
      401,
    );
    expectStatus(await read(receipt, { key: null }), 401);
    for (const as of [{ key: s.key }, { key: (await newAccount(s, cookie, { projectIds: ['prj_x'] })).key }])
      expect(expectStatus(await read(receipt, as), 404).body.error.code).toBe('operation_not_found');
    expectStatus(await read('op_x', { key }), 404);
  });
});
