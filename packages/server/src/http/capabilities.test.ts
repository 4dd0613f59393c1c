import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newAccount, signedIn, tenant } from '../accounts/callers.fixture.ts';
import { routes } from '../app.ts';
import { newId } from '../ids.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestAnswer, TestServer } from '../service.fixture.ts';
import type { Capability } from './capabilities.ts';
import { PARAM_PREFIX } from './path-params.ts';

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

/** Every call of a capability's own paths, with ids that nothing has. */
const callsOf = (path: string) =>
  routes
    .filter((route) => route.path.startsWith(path))
    .map((route) => ({
      method: route.method,
      path: route.path.replace(/:(\w+)/g, (_, name: string) => newId(PARAM_PREFIX[name]!)),
    }));

describe.each<[Capability, string]>([
  ['webhooks', '/api/webhooks'],
  ['automations', '/api/automations'],
])('%s', (capability, path) => {
  const answersOf = async (server: TestServer, options: { key?: string | null } = {}) => {
    const found = new Set<string>();
    for (const call of callsOf(path)) {
      const body = call.method === 'GET' || call.method === 'DELETE' ? undefined : {};
      const answer = await server.call(call.method, call.path, body, options);
      found.add(`${answer.status} ${answer.body.error?.code}`);
    }
    return [...found];
  };
  const entitlementOf = async (server: TestServer, cookie: string) =>
    (await server.call('GET', '/api/session', undefined, { cookie })).body.entitlements[capability];

  test('taken from an organization, every operation is 402, reads too, and as before elsewhere', async () => {
    const { organization, cookie } = await tenant(s);
    await s.service.ctx.db
      .updateTable('organizations')
      .set({ without: [capability] })
      .where('id', '=', organization.id)
      .execute();
    const { key } = await newAccount(s, cookie);
    expect(await answersOf(s, { key })).toEqual(['402 payment_required']);
    expect(await answersOf(s, { key: null })).toEqual(['401 unauthorized']);
    expect(await entitlementOf(s, cookie)).toBe(false);
    expect((await s.call('GET', path)).status).toBe(200);
    expect(await entitlementOf(s, await signedIn(s))).toBe(true);
  });

  test('switched off, every operation is 501, reads too', async () => {
    const off = await startTestServer({ HEADRACE_ROLES: 'api', HEADRACE_DISABLED: capability });
    try {
      expect(await answersOf(off)).toEqual(['501 not_configured']);
      expect(await answersOf(off, { key: null })).toEqual(['401 unauthorized']);
      expect(await entitlementOf(off, await signedIn(off))).toBe(false);
    } finally {
      await off.close();
    }
  });
});
