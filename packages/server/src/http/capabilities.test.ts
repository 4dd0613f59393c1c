import { afterAll, beforeAll, expect, test } from 'vitest';
import { newAccount, signedIn, tenant } from '../accounts/callers.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestAnswer, TestServer } from '../service.fixture.ts';

const REPOSITORIES = '/api/source-control/scm/repositories';
let s: TestServer;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
});
afterAll(() => s?.close());

const codeOf = ({ status, body }: TestAnswer) => [status, body.error?.code];

test('402 for reads and writes of an organization without it, and for no other; 401 goes before it', async () => {
  const { organization, cookie } = await tenant(s);
  const { key } = await newAccount(s, cookie);
  const { db } = s.service.ctx;
  await db
    .updateTable('organizations')
    .set({ without: ['sourceControl'] })
    .where('id', '=', organization.id)
    .execute();
  // A further key: what is known of the first one may be a second old.
  const other = await newAccount(s, cookie);
  for (const [method, path, body] of [
    ['GET', REPOSITORIES],
    ['POST', REPOSITORIES, { name: 'a' }],
    ['GET', `${REPOSITORIES}/x`],
    ['GET', '/api/threads/x/pull-requests'],
  ] as const)
    expect(codeOf(await s.call(method, path, body, { key: other.key }))).toEqual([402, 'payment_required']);
  expect(codeOf(await s.call('GET', REPOSITORIES, undefined, { key: null }))).toEqual([401, 'unauthorized']);
  expect((await s.call('GET', '/api/projects', undefined, { key })).status).toBe(200);
  expect((await s.call('GET', REPOSITORIES)).status).toBe(200);
  const session = await s.call('GET', '/api/session', undefined, { cookie });
  expect(session.body.entitlements).toMatchObject({ sourceControl: false, hosts: true });
});

test('501 where the deployment has switched it off; 401 goes before it', async () => {
  const off = await startTestServer({ HEADRACE_ROLES: 'api', HEADRACE_DISABLED: 'sourceControl' });
  try {
    expect(codeOf(await off.call('GET', REPOSITORIES))).toEqual([501, 'not_configured']);
    expect(codeOf(await off.call('POST', REPOSITORIES, { name: 'a' }))).toEqual([501, 'not_configured']);
    expect(codeOf(await off.call('GET', REPOSITORIES, undefined, { key: null }))).toEqual([
      401,
      'unauthorized',
    ]);
    const cookie = await signedIn(off);
    const session = await off.call('GET', '/api/session', undefined, { cookie });
    expect(session.body.entitlements).toMatchObject({ sourceControl: false, hosts: true });
  } finally {
    await off.close();
  }
});
