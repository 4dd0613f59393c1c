import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  browser,
  expectStatus,
  invited,
  signedIn,
  tenant,
} from '@headrace/server/accounts/callers.fixture.ts';
import { startTestServer } from '@headrace/server/service.fixture.ts';
import type { TestServer } from '@headrace/server/service.fixture.ts';
import { headraceOn } from './headrace.fixture.ts';

let s: TestServer;
let headrace: ReturnType<typeof headraceOn>;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  headrace = headraceOn(s);
});
afterAll(() => s?.close());

const reset = (email: string, ...rest: string[]) => ['users', 'reset-password', '--email', email, ...rest];
const signIn = (email: string, password: string) =>
  s.call('POST', '/api/auth/sign-in/email', { email, password }, browser(s));

describe('exit code 0', () => {
  test('a generated password is shown once; all sessions end, with their streams; each organization has it in its log', async () => {
    const { cookie: owner } = await tenant(s);
    const kim = await invited(s, owner, 'member');
    const stream = await fetch(`${s.base}/api/events/stream`, { headers: { cookie: kim.cookie } });
    const { code, stdout, stderr } = await headrace(reset(kim.email.toUpperCase()));
    expect([code, stderr]).toEqual([0, '']);
    const password = /\(shown once\): (\S{24})\n/.exec(stdout)![1]!;
    await stream.text();
    expectStatus(await s.call('GET', '/api/session', undefined, { cookie: kim.cookie }), 401);
    expectStatus(await signIn(kim.email, kim.password), 401);
    expectStatus(await signIn(kim.email, password), 200);
    const { entries } = (await s.call('GET', '/api/audit', undefined, { cookie: owner })).body;
    expect(entries.find((entry: { action: string }) => entry.action === 'user.password_reset')).toMatchObject(
      {
        actorId: null,
        targetId: kim.user.id,
        address: null,
      },
    );
  });

  test('a password from stdin is not shown', async () => {
    const kim = await invited(s, await signedIn(s), 'member');
    const ended = await headrace(reset(kim.email, '--password-stdin'), {}, 'twelve  chars\n');
    expect([ended.code, ended.stdout]).toEqual([0, expect.not.stringContaining('twelve')]);
    expectStatus(await signIn(kim.email, 'twelve  chars'), 200);
  });
});

test('exit code 1: nobody has the address', async () => {
  const { code, stdout, stderr } = await headrace(reset('nobody@example.test'));
  expect([code, stdout, stderr]).toEqual([1, '', 'headrace: no user has the address nobody@example.test.\n']);
});

test('exit code 2: no address, or a password of the wrong length', async () => {
  const kim = await invited(s, await signedIn(s), 'member');
  for (const [args, stdin] of [
    [['users', 'reset-password'], ''],
    [reset(kim.email, '--password-stdin'), 'x'.repeat(11)],
    [reset(kim.email, '--password-stdin'), 'x'.repeat(201)],
  ] as const)
    expect((await headrace([...args], {}, stdin)).code).toBe(2);
  expectStatus(await signIn(kim.email, kim.password), 200);
});
