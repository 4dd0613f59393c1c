import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectStatus, signedIn } from '../accounts/callers.fixture.ts';
import { findPullRequestById } from '../pull-requests/index.ts';
import { newThread, record } from '../pull-requests/records.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { startGithubStandIn } from './github/stand-in.fixture.ts';
import type { GithubStandIn } from './github/stand-in.fixture.ts';

const INSTALLATIONS = '/api/source-control/scm/installations';
let first: TestServer;
let github: GithubStandIn;
let folder: string;
beforeAll(async () => {
  github = await startGithubStandIn();
  folder = await mkdtemp(join(tmpdir(), 'headrace-config-'));
  await configure('A', 'the secret of hooks');
  first = await start();
});
afterAll(async () => {
  await first?.close();
  await github?.close();
  await rm(folder, { recursive: true, force: true });
});

const file = () => join(folder, 'config.json');
async function configure(name: string | null, webhookSecret: string): Promise<void> {
  await writeFile(join(folder, 'hook'), webhookSecret);
  const one = {
    name,
    provider: 'github',
    baseUrl: github.baseUrl,
    token: { env: 'GITHUB_TOKEN_OF_TEST' },
    webhookSecret: { file: 'hook' },
  };
  await writeFile(file(), JSON.stringify({ scm: { installations: name === null ? [] : [one] } }));
}
const start = (beside?: TestServer) =>
  startTestServer(
    {
      HEADRACE_ROLES: beside ? 'api' : 'api,worker',
      HEADRACE_SCM_ALLOW_PRIVATE: '1',
      HEADRACE_CONFIG_FILE: file(),
      GITHUB_TOKEN_OF_TEST: github.token,
    },
    beside,
  );
/** Starts another process, which follows the file as it is now. */
const restart = async () => (await start(first)).close();
const others = async () =>
  (await first.call('GET', INSTALLATIONS)).body.installations.filter(
    ({ provider }: { provider: string }) => provider !== 'local',
  );

test('the rows of installations follow the configuration file, which alone changes them', async () => {
  const [made] = await others();
  expect(made).toMatchObject({ name: 'A', managedBy: 'config', auth: 'token', baseUrl: github.baseUrl });
  await expect.poll(async () => (await others())[0].syncedAt, { timeout: 10_000 }).not.toBeNull();
  const cookie = await signedIn(first);
  for (const [method, body] of [
    ['PATCH', { name: 'Mine' }],
    ['DELETE', undefined],
  ] as const) {
    const refused = await first.call(method, `${INSTALLATIONS}/${made.id}`, body, { cookie });
    expect([refused.status, refused.body.error.code]).toEqual([409, 'managed_by_config']);
  }
  const deliver = async (secret: string) =>
    (
      await github.deliver(`${first.base}/api/source-control/scm/webhooks/${made.id}`, {
        secret,
        event: 'ping',
        payload: {},
      })
    ).status;
  expect(await deliver('the secret of hooks')).toBe(202);

  await restart();
  expect(
    (await others()).map(({ id, updatedAt }: { id: string; updatedAt: string }) => [id, updatedAt]),
  ).toEqual([[made.id, (await others())[0].updatedAt]]);
  await configure('A', 'another secret of hooks');
  await restart();
  expect(await others()).toMatchObject([{ id: made.id }]);
  expect([await deliver('the secret of hooks'), await deliver('another secret of hooks')]).toEqual([
    401, 202,
  ]);

  const { ctx } = first.service;
  const threadId = await newThread(first);
  const statusOf = async () => (await first.call('GET', `/api/threads/${threadId}`)).body.thread.status;
  await expect.poll(statusOf, { timeout: 10_000 }).toBe('ready');
  const looped = await record(ctx, threadId, {}, { enabled: true, status: 'ready' });
  await ctx.db
    .updateTable('repositories')
    .set({ installation_id: made.id })
    .where('id', '=', (await findPullRequestById(ctx.db, looped))!.row.repository_id)
    .execute();
  await configure('B', 'another secret of hooks');
  await restart();
  const { loop } = (await findPullRequestById(ctx.db, looped))!;
  expect([loop!.status, loop!.disabled_by]).toEqual(['disabled', 'system']);
  expect(await others()).toMatchObject([{ name: 'B' }]);
  expect((await others())[0].id).not.toBe(made.id);
  await configure(null, '-');
  await restart();
  expect(await others()).toEqual([]);
  const kept = await ctx.db
    .selectFrom('installations')
    .selectAll()
    .where('managed_by', '=', 'config')
    .execute();
  expect(kept.map((row) => [row.credential_sealed, row.webhook_secret_sealed])).toEqual([
    [null, null],
    [null, null],
  ]);
  expectStatus(await first.call('GET', '/health'), 200);
  const [a, b] = kept.map(({ id }) => id).toSorted();
  const { entries } = (await first.call('GET', '/api/audit', undefined, { cookie })).body;
  expect(
    entries
      .filter(({ action }: { action: string }) => action.startsWith('installation.'))
      .map((e: Record<string, unknown>) => [e.action, e.targetId, e.actorId, e.address])
      .toReversed(),
  ).toEqual(
    [
      ['created', a],
      ['updated', a],
      ['created', b],
      ['deleted', a],
      ['deleted', b],
    ].map(([what, id]) => [`installation.${what!}`, id, null, null]),
  );
});

test('an address that may not be used ends the start', async () => {
  await configure('C', 'another secret of hooks');
  const env = { HEADRACE_CONFIG_FILE: file(), GITHUB_TOKEN_OF_TEST: github.token, HEADRACE_ROLES: 'api' };
  await expect(startTestServer(env, first)).rejects.toThrow(
    'scm.installations.0.baseUrl: has to be an https address',
  );
});
