import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectStatus, newAccount, tenant } from '@headrace/server/accounts/callers.fixture.ts';
import { startTestServer } from '@headrace/server/service.fixture.ts';
import type { TestServer } from '@headrace/server/service.fixture.ts';
import { until } from '@headrace/server/threads/threads.fixture.ts';
import { headraceOn } from './headrace.fixture.ts';

let s: TestServer;
let headrace: ReturnType<typeof headraceOn>;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  headrace = headraceOn(s);
});
afterAll(() => s?.close());

test('an organization without local hosts gets 402 for a thread on one, and no other does', async () => {
  const { cookie, organization } = await tenant(s);
  const { key } = await newAccount(s, cookie);
  const set = (...options: string[]) =>
    headrace(['organizations', 'set', '--id', organization.id, ...options]);
  const statusFor = async (by: string) => {
    const { project } = expectStatus(
      await s.call('POST', '/api/projects', { name: 'n' }, { key: by }),
      201,
    ).body;
    const executionTarget = {
      kind: 'local',
      bindingId: 'b',
      hostId: 'h',
      provider: 'agent_a',
      workspaceMode: 'direct',
    };
    const answer = await s.call(
      'POST',
      '/api/threads',
      { projectId: project.id, executionTarget },
      { key: by },
    );
    return `${answer.status} ${answer.body.error.code}`;
  };
  const entitlements = async () =>
    expectStatus(await s.call('GET', '/api/session', undefined, { cookie }), 200).body.entitlements;
  const all = await entitlements();
  expect(all).toMatchObject({ platformApi: true, hosts: true });
  expect((await set('--without', 'hosts')).code).toBe(0);
  await until('the change', async () => (await statusFor(key)) === '402 payment_required');
  expect(await statusFor(s.key)).toBe('404 host_not_found');
  expect(await entitlements()).toEqual({ ...all, hosts: false });
  expect((await set('--without', '')).code).toBe(0);
  await until('the change back', async () => (await statusFor(key)) === '404 host_not_found');
  const refused = await set('--platform-api=false', '--without', 'hosts,teleport');
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('teleport')]);
  expect(await entitlements()).toEqual(all);
});
