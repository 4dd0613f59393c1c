/** A change of the secret key, by the steps of the guide. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { signedIn } from '@headrace/server/accounts/callers.fixture.ts';
import { openValue } from '@headrace/server/environment/values.ts';
import { openSecrets } from '@headrace/server/mcp-servers/secrets.ts';
import { existingSecretKeys, readSecretKeys, replaceSecretKey } from '@headrace/server/secret-keys.ts';
import { startTestServer } from '@headrace/server/service.fixture.ts';
import type { TestServer } from '@headrace/server/service.fixture.ts';
import { openSigningSecrets } from '@headrace/server/signing-secrets.ts';
import { openModelKey } from '@headrace/server/usage/index.ts';
import { PURPOSE } from '@headrace/server/webhooks/secrets.ts';
import { PURPOSE as OF_AUTOMATIONS } from '@headrace/server/automations/secrets.ts';

vi.setConfig({ testTimeout: 60_000 });

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url));
const [FIRST, SECOND, OTHER] = ['first', 'second', 'other'].map(
  (name) => `the ${name} secret key of the service`,
) as [string, string, string];
const INVITED = { email: 'kim@example.test', role: 'member' };

let first: TestServer;
/** The service that runs now. */
let s: TestServer;
let cookie: string;
let folder: string;
const invite = () => s.call('POST', '/api/members', INVITED, { cookie, idem: 'invitation' });
const page = (cursor: string) => s.call('GET', `/api/platform/v1/events?cursor=${cursor}`);

async function restartWith(keys: Record<string, string>): Promise<void> {
  await s.service.stop();
  s.service.stop = () => Promise.resolve();
  if (s !== first) await s.close();
  s = await startTestServer({ HEADRACE_ROLES: 'api', ...keys }, first);
}

function headrace(args: string[], keys: Record<string, string>) {
  const env = {
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    DATABASE_URL: first.service.ctx.config.databaseUrl!,
    HEADRACE_DATA_DIR: folder,
    ...keys,
  };
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    execFile(
      process.execPath,
      [MAIN, 'secrets', ...args],
      { env, timeout: 40_000 },
      (error, stdout, stderr) => resolve({ code: error ? Number(error.code ?? 99) : 0, stdout, stderr }),
    );
  });
}

/** The model key, and the secrets of the MCP server, the webhook, the automation and a variable, as the service opens them. */
async function opened() {
  const { ctx } = s.service;
  const { org_id: orgId } = await ctx.db.selectFrom('model_keys').select('org_id').executeTakeFirstOrThrow();
  const server = await ctx.db.selectFrom('mcp_servers').selectAll().executeTakeFirstOrThrow();
  const webhook = await ctx.db.selectFrom('webhook_subscriptions').selectAll().executeTakeFirstOrThrow();
  const automation = await ctx.db.selectFrom('automations').selectAll().executeTakeFirstOrThrow();
  const variable = await ctx.db.selectFrom('variables').selectAll().executeTakeFirstOrThrow();
  return [
    await openModelKey(ctx, orgId, 'anthropic'),
    openSecrets(ctx.secretKey, server),
    openSigningSecrets(ctx.secretKey, PURPOSE, webhook, new Date()),
    openSigningSecrets(ctx.secretKey, OF_AUTOMATIONS, automation, new Date()),
    openValue(ctx.secretKey, variable),
  ];
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headrace-test-'));
  first = await startTestServer({ HEADRACE_ROLES: 'api', HEADRACE_SECRET_KEY: FIRST });
  s = first;
  cookie = await signedIn(s);
});
afterAll(async () => {
  if (s !== first) await s.close();
  await first.close();
  await rm(folder, { recursive: true, force: true });
});

test('former keys open, the current one seals; rotate seals all of it again, after a restart', async () => {
  const put = await s.call('PUT', '/api/model-keys/anthropic', { key: 'sk-secret' }, { cookie });
  const made = await s.call(
    'POST',
    '/api/mcp-servers',
    {
      name: 'docs',
      transport: 'http',
      url: 'https://example.com/mcp',
      headers: { Authorization: 'Bearer mcp' },
    },
    { cookie },
  );
  const webhook = await s.call(
    'POST',
    '/api/webhooks',
    { url: 'https://example.com/hook', types: ['*'] },
    { cookie },
  );
  const turned = await s.call('POST', `/api/webhooks/${webhook.body.subscription.id}/secret`, {}, { cookie });
  const { project } = (await s.call('POST', '/api/projects', { name: 'Garden' }, { cookie })).body;
  const hook = await s.call(
    'POST',
    '/api/automations',
    { projectId: project.id, name: 'Hook', prompt: 'Look.', trigger: { kind: 'webhook' } },
    { cookie },
  );
  const next = await s.call('POST', `/api/automations/${hook.body.automation.id}/secret`, {}, { cookie });
  expect([put.status, made.status, webhook.status, turned.status]).toEqual([200, 201, 201, 200]);
  expect([hook.status, next.status]).toEqual([201, 200]);
  const variable = { value: 'value of a variable', secret: true };
  expect((await s.call('PUT', '/api/environment/TOKEN', variable, { cookie })).status).toBe(200);
  const known = [
    'sk-secret',
    { authorization: 'Bearer mcp' },
    [turned.body.secret, webhook.body.secret],
    [next.body.secret, hook.body.secret],
    'value of a variable',
  ];
  const invitation = (await invite()).text;
  const { cursor } = (await s.call('GET', '/api/platform/v1/events/head')).body;
  const changed = { HEADRACE_SECRET_KEY: SECOND, HEADRACE_FORMER_SECRET_KEYS: FIRST };

  expect(await headrace(['rotate'], changed)).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/1 processes of the service run with another secret key/),
  });

  await restartWith(changed);
  expect([await opened(), (await invite()).text, (await page(cursor)).status]).toEqual([
    known,
    invitation,
    200,
  ]);
  const rotated = await headrace(['rotate', '--json'], changed);
  const of = (resealed: number, current: number) => {
    const [some, none] = [
      { resealed, current, unreadable: [] },
      { resealed: 0, current: 0, unreadable: [] },
    ];
    return [
      { what: 'model keys', ...some },
      { what: "MCP servers' secrets", ...some },
      { what: 'environment variables', ...some },
      { what: "installations' credentials", ...none },
      { what: "installations' webhook secrets", ...none },
      { what: "webhooks' secrets", ...some },
      { what: "webhooks' secrets before their rotation", ...some },
      { what: "automations' secrets", ...some },
      { what: "automations' secrets before their rotation", ...some },
      { what: 'answers of receipts', ...some },
    ];
  };
  expect([rotated.code, rotated.stderr, JSON.parse(rotated.stdout).rotated]).toEqual([0, '', of(1, 0)]);
  expect(JSON.parse((await headrace(['rotate', '--json'], changed)).stdout).rotated).toEqual(of(0, 1));

  await restartWith({ HEADRACE_SECRET_KEY: SECOND });
  expect([await opened(), (await page(cursor)).status]).toEqual([known, 400]);
});

test('what no key opens is named, and left as it is', async () => {
  await s.service.stop();
  s.service.stop = () => Promise.resolve();
  const { code, stdout } = await headrace(['rotate'], { HEADRACE_SECRET_KEY: OTHER });
  expect([code, stdout]).toEqual([
    1,
    expect.stringMatching(
      /unreadable {2}model keys: org_\w+ anthropic: no key opens it[^]*8 remain under a key/,
    ),
  ]);
  expect((await headrace(['rotate'], { HEADRACE_SECRET_KEY: SECOND })).code).toBe(0);
});

describe("the data folder's key", () => {
  test('is replaced by a new one, and is a former one from then on', async () => {
    const where = { secretKey: null, formerSecretKeys: [], dataDir: folder };
    const { current: made } = await readSecretKeys(where);
    await replaceSecretKey(folder);
    const { current: second, former } = await existingSecretKeys(where);
    expect([second.equals(made), former]).toEqual([false, [made]]);
    expect((await headrace(['new-key'], { DATABASE_URL: '' })).code).toBe(0);
    expect((await readSecretKeys(where)).former).toEqual([second, made]);
    for (const file of ['secret.key', 'secret.key.former'])
      expect((await stat(join(folder, file))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(folder, 'secret.key'), 'utf8')).toMatch(/^[0-9a-f]{64}$/);
  });

  test('is not replaced where the environment gives the key', async () => {
    expect(await headrace(['new-key'], { HEADRACE_SECRET_KEY: FIRST })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('HEADRACE_FORMER_SECRET_KEYS'),
    });
  });
});
