import { createHmac, generateKeyPairSync, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { expectStatus, newAccount, signedIn, tenant } from '../accounts/callers.fixture.ts';
import { transaction } from '../db/transaction.ts';
import { newId } from '../ids.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestAnswer, TestServer } from '../service.fixture.ts';
import { startGithubStandIn } from './github/stand-in.fixture.ts';
import type { GithubStandIn } from './github/stand-in.fixture.ts';
import { insertRepository } from './store.ts';
import { syncSoon } from './sync-soon.ts';

const SCM = '/api/source-control/scm';
let s: TestServer;
let github: GithubStandIn;
beforeAll(async () => {
  [s, github] = await Promise.all([
    startTestServer({ HEADRACE_ROLES: 'api,worker', HEADRACE_SCM_ALLOW_PRIVATE: '1' }),
    startGithubStandIn(),
  ]);
});
afterAll(async () => {
  await s?.close();
  await github?.close();
});
afterEach(() => {
  github.trouble = null;
  github.instead = null;
  github.isInstalled = true;
  github.repositories.splice(0);
});

/** An organization of its own, with an installation of the stand-in by App. */
async function open() {
  const made = await tenant(s);
  const { key } = await newAccount(s, made.cookie);
  const call = (method: string, path: string, body?: unknown, idem?: string) =>
    s.call(method, `${SCM}${path}`, body, { cookie: made.cookie, ...(idem ? { idem } : {}) });
  return {
    ...made,
    key: key as string,
    call,
    connect: (fields: Record<string, unknown> = {}, idem?: string) =>
      call(
        'POST',
        '/installations',
        { provider: 'github', name: 'Stand-in', baseUrl: github.baseUrl, app: github.app, ...fields },
        idem,
      ),
    async repositories(): Promise<{ id: string; fullName: string; installationId: string }[]> {
      return (await call('GET', '/repositories?limit=200')).body.repositories;
    },
    async synced(id: string) {
      await expect
        .poll(async () => (await call('GET', `/installations/${id}`)).body.installation.syncedAt, {
          timeout: 10_000,
        })
        .not.toBeNull();
    },
    async resync(id: string) {
      const { syncedAt } = (await call('GET', `/installations/${id}`)).body.installation;
      expectStatus(await call('POST', `/installations/${id}/sync`), 202);
      await expect
        .poll(async () => (await call('GET', `/installations/${id}`)).body.installation.syncedAt, {
          timeout: 10_000,
        })
        .not.toBe(syncedAt);
    },
  };
}
const fieldsOf = ({ status, body }: TestAnswer) => [
  status,
  body.error?.fields?.map(({ path }: { path: string }) => path),
];

describe('201', () => {
  test('an App is connected, tried first, and its repositories are read', async () => {
    const org = await open();
    const made = await github.makeRepository({ name: 'site' });
    const { body } = expectStatus(await org.connect(), 201);
    expect(body).toMatchObject({
      secretUnavailable: false,
      webhookSecret: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(body.installation).toMatchObject({
      provider: 'github',
      accountLogin: 'acme',
      baseUrl: github.baseUrl,
      auth: 'app',
      managedBy: 'api',
      status: 'connected',
      error: null,
      webhookUrl: `${s.base}${SCM}/webhooks/${body.installation.id}`,
    });
    await org.synced(body.installation.id);
    expect(await org.repositories()).toMatchObject([
      {
        fullName: 'acme/site',
        provider: 'github',
        installationId: body.installation.id,
        cloneUrl: `${github.origin}/acme/site.git`,
        mergeMethods: ['merge', 'squash', 'rebase'],
        private: true,
      },
    ]);
    expect(github.repositories).toContain(made);
  });

  test('a token is connected by whose it is; a replay has no webhook secret', async () => {
    const org = await open();
    const idem = randomUUID();
    const fields = { token: github.token, app: undefined, webhookSecret: 'a secret of ours' };
    const first = expectStatus(await org.connect(fields, idem), 201).body;
    expect(first).toMatchObject({
      webhookSecret: 'a secret of ours',
      installation: { auth: 'token', accountLogin: 'ada' },
    });
    const again = await org.connect(fields, idem);
    const { webhookSecret: _, ...rest } = first;
    expect([again.status, again.body]).toEqual([201, { ...rest, secretUnavailable: true }]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });
});

describe('400', () => {
  const otherKey = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  }).privateKey;

  test('a credential that is refused, at its place; nothing is stored', async () => {
    const org = await open();
    const app = (change: Record<string, unknown>) => ({ app: { ...github.app, ...change } });
    for (const [fields, path] of [
      [{ token: 'ghp_wrong', app: undefined }, '/token'],
      [app({ privateKey: otherKey }), '/app'],
      [app({ privateKey: 'no key' }), '/app'],
      [app({ privateKey: '-----BEGIN RSA PRIVATE KEY-----' }), '/app'],
      [app({ appId: '999' }), '/app'],
      [app({ installationId: 999 }), '/app'],
    ] as const)
      expect(fieldsOf(await org.connect(fields))).toEqual([400, [path]]);
    expect((await org.call('GET', '/installations')).body.installations).toHaveLength(1);
  });

  test('an address that is none, or that may not be used, before anything is tried', async () => {
    const org = await open();
    const before = github.seen.length;
    const refuse = async (baseUrl: string) =>
      expect([baseUrl, ...fieldsOf(await org.connect({ baseUrl }))]).toEqual([baseUrl, 400, ['/baseUrl']]);
    for (const baseUrl of [
      'nonsense',
      'ftp://host/api/v3',
      'https://user@host/api/v3',
      'https://user:word@host/api/v3',
      'https://host/api/v3?x=1',
      'https://host/api/v3#x',
      'https://host/?',
    ])
      await refuse(baseUrl);
    expect(github.seen.length).toBe(before);
  });

  test('both credentials, or none', async () => {
    const org = await open();
    expect(fieldsOf(await org.connect({ token: 'x' }))).toEqual([400, ['/app']]);
    expect(fieldsOf(await org.connect({ app: undefined }))).toEqual([400, ['/token']]);
  });
});

test('503: a host that is away, and nothing is stored; the key is free', async () => {
  const org = await open();
  const idem = randomUUID();
  github.trouble = () => '502';
  const away = await org.connect({}, idem);
  expect([away.status, away.body.error.code, away.headers.get('retry-after')]).toEqual([
    503,
    'unavailable',
    '5',
  ]);
  expect((await org.connect({ baseUrl: 'http://127.0.0.1:9/api/v3' })).status).toBe(503);
  github.trouble = null;
  expectStatus(await org.connect({}, idem), 201);
});

describe('private addresses', () => {
  let strict: TestServer;
  beforeAll(async () => {
    strict = await startTestServer({ HEADRACE_ROLES: 'api' });
  });
  afterAll(() => strict?.close());

  test('are refused as such, and when a name has one', async () => {
    const cookie = await signedIn(strict);
    for (const baseUrl of [
      github.baseUrl,
      'http://api.github.com',
      'https://127.0.0.1/api/v3',
      'https://[::1]/api/v3',
      'https://10.1.2.3/api/v3',
      'https://169.254.169.254',
      'https://localhost/api/v3',
      'https://git.internal/api/v3',
    ]) {
      const body = { provider: 'github', name: 'Inside', baseUrl, token: 'x' };
      const answer = await strict.call('POST', `${SCM}/installations`, body, { cookie });
      expect([baseUrl, ...fieldsOf(answer)]).toEqual([baseUrl, 400, ['/baseUrl']]);
    }
  });
});

describe('PATCH', () => {
  test('changes name, credential and webhook secret; a refused credential changes nothing', async () => {
    const org = await open();
    const { id } = expectStatus(await org.connect(), 201).body.installation;
    const named = expectStatus(await org.call('PATCH', `/installations/${id}`, { name: 'Other' }), 200).body;
    expect(named.installation).toMatchObject({ name: 'Other', auth: 'app' });
    expect(fieldsOf(await org.call('PATCH', `/installations/${id}`, { name: 'No', token: 'wrong' }))).toEqual(
      [400, ['/token']],
    );
    expect((await org.call('GET', `/installations/${id}`)).body.installation).toMatchObject({
      ...named.installation,
      syncedAt: expect.anything(),
      updatedAt: expect.anything(),
    });
    const changed = await org.call('PATCH', `/installations/${id}`, {
      token: github.token,
      webhookSecret: 'x'.repeat(16),
    });
    expect(expectStatus(changed, 200).body.installation).toMatchObject({
      name: 'Other',
      auth: 'token',
      accountLogin: 'ada',
    });
    expect(changed.text).not.toContain('x'.repeat(16));
    const delivered = await github.deliver(`${s.base}${SCM}/webhooks/${id}`, {
      secret: 'x'.repeat(16),
      event: 'ping',
      payload: {},
    });
    expect(delivered).toEqual({ status: 202, body: { ok: true, duplicate: false } });
  });
});

describe('DELETE', () => {
  test('secrets are gone at once; the installation is not there, and what needs it is refused', async () => {
    const org = await open();
    await github.makeRepository();
    const { id } = expectStatus(await org.connect(), 201).body.installation;
    await org.synced(id);
    const [repository] = await org.repositories();
    const gone = expectStatus(await org.call('DELETE', `/installations/${id}`), 200).body.installation;
    expect(gone).toMatchObject({ id, name: 'Stand-in' });
    expect((await org.call('GET', `/installations/${id}`)).body.error.code).toBe('installation_not_found');
    const { rows } =
      await sql`select credential_sealed, webhook_secret_sealed from installations where id = ${id}`.execute(
        s.service.ctx.db,
      );
    expect(rows).toEqual([{ credential_sealed: null, webhook_secret_sealed: null }]);
    const branches = await org.call('GET', `/repositories/${repository!.id}/branches`);
    expect([404, 409]).toContain(branches.status);
  });
});

describe('sync', () => {
  test('a renamed repository keeps its id; one that is gone is live again when it is seen again', async () => {
    const org = await open();
    const made = await github.makeRepository({ name: 'before' });
    const { id } = expectStatus(await org.connect(), 201).body.installation;
    await org.synced(id);
    const [first] = await org.repositories();
    const project = await s.call(
      'POST',
      '/api/projects',
      { name: 'Site', repositoryId: first!.id },
      { key: org.key },
    );
    github.rename(made, 'after');
    made.mergeMethods.delete('merge');
    await org.resync(id);
    // Lists do not tell; one that a project is bound to is read by itself.
    await expect
      .poll(() => org.repositories(), { timeout: 10_000 })
      .toMatchObject([{ mergeMethods: ['squash', 'rebase'] }]);
    expect(await org.repositories()).toMatchObject([{ id: first!.id, fullName: 'acme/after' }]);
    const shown = await s.call('GET', `/api/projects/${project.body.project.id}`, undefined, {
      key: org.key,
    });
    expect([project.body.project.repoFullName, shown.body.project.repoFullName]).toEqual([
      'acme/before',
      'acme/after',
    ]);
    github.remove(made);
    await org.resync(id);
    expect(await goneAt(first!.id)).not.toBeNull();
    github.repositories.push(made);
    await org.resync(id);
    expect(await goneAt(first!.id)).toBeNull();
  });

  const goneAt = async (id: string) =>
    (
      await s.service.ctx.db
        .selectFrom('repositories')
        .select('gone_at')
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
    ).gone_at;

  test('of two installations the older one has a repository; when it goes, the other has it', async () => {
    const org = await open();
    await github.makeRepository();
    const older = expectStatus(await org.connect(), 201).body.installation.id;
    await org.synced(older);
    const newer = expectStatus(await org.connect({ token: github.token, app: undefined }), 201).body
      .installation.id;
    await org.synced(newer);
    const [repository] = await org.repositories();
    expect(repository!.installationId).toBe(older);
    expectStatus(await org.call('DELETE', `/installations/${older}`), 200);
    await expect
      .poll(() => org.repositories(), { timeout: 10_000 })
      .toMatchObject([{ id: repository!.id, installationId: newer }]);
  });

  test('an installation has an error from a refused call to the next good one', async () => {
    const org = await open();
    const { id } = expectStatus(await org.connect({ token: github.token, app: undefined }), 201).body
      .installation;
    await org.synced(id);
    const known = github.tokens.get(github.token)!;
    github.tokens.delete(github.token);
    const state = async () => (await org.call('GET', `/installations/${id}`)).body.installation;
    expectStatus(await org.call('POST', `/installations/${id}/sync`), 202);
    await expect
      .poll(state, { timeout: 10_000 })
      .toMatchObject({ status: 'error', error: { code: 'access_denied' } });
    const again = expectStatus(await org.call('POST', `/installations/${id}/sync`), 202).body.installation;
    await expect
      .poll(async () => (await state()).updatedAt > again.updatedAt, { timeout: 10_000 })
      .toBe(true);
    github.tokens.set(github.token, known);
    await org.resync(id);
    expect(await state()).toMatchObject({ status: 'connected', error: null });
  });

  test('hostile names are left out, and 100 MB or no JSON are an error', async () => {
    const org = await open();
    const { id } = expectStatus(await org.connect(), 201).body.installation;
    await org.synced(id);
    const names = ['../../etc', 'a/b/c', 'acme/..', 'acme/-x\u0000', 'acme/<b>', ' /x'];
    const listed = names.map((full_name, index) => ({
      id: index + 1,
      full_name,
      name: 'x',
      default_branch: 'main',
    }));
    const hostile = [
      ...listed,
      { id: 90, full_name: 'acme/branch', name: 'branch', default_branch: '--upload-pack=x' },
      { id: 91, full_name: 'acme/fine', name: 'fine', default_branch: 'main' },
    ];
    const list = '/api/v3/installation/repositories';
    const answer = (body: unknown) => {
      github.instead = ({ path }) => (path === list ? (body as { raw: string }) : undefined);
    };
    answer({ status: 200, body: { total_count: 8, repositories: hostile } });
    await org.resync(id);
    expect((await org.repositories()).map(({ fullName }) => fullName)).toEqual(['acme/fine']);
    const state = async () => (await org.call('GET', `/installations/${id}`)).body.installation;
    for (const raw of ['<html>', `{"repositories": ["${'x'.repeat(34_000_000)}"]}`]) {
      answer({ raw });
      expectStatus(await org.call('POST', `/installations/${id}/sync`), 202);
      await expect.poll(state, { timeout: 20_000 }).toMatchObject({ error: { code: 'unreachable' } });
      github.instead = null;
      await org.resync(id);
    }
  });
});

describe('webhooks', () => {
  test('are taken once, note their time, and have what they name looked at', async () => {
    // Without a worker: jobs stay where they can be counted.
    const api = await startTestServer({ HEADRACE_ROLES: 'api', HEADRACE_SCM_ALLOW_PRIVATE: '1' });
    try {
      const cookie = await signedIn(api);
      const body = { provider: 'github', name: 'Stand-in', baseUrl: github.baseUrl, token: github.token };
      const made = await api.call('POST', `${SCM}/installations`, body, { cookie });
      const { installation, webhookSecret: secret } = expectStatus(made, 201).body;
      const { ctx } = api.service;
      const columns = { external_id: '77', full_name: 'acme/site', name: 'site', default_branch: 'main' };
      await transaction(ctx, (tx) =>
        insertRepository(tx, {
          ...columns,
          org_id: installation.orgId,
          id: newId('repo'),
          installation_id: installation.id,
          provider: 'github',
          base_url: github.baseUrl,
        }),
      );
      const url = `${api.base}${SCM}/webhooks/${installation.id}`;
      const payload = { action: 'opened', repository: { id: 77 }, pull_request: { number: 1 } };
      const delivery = { secret, event: 'pull_request', payload, id: randomUUID() };
      const looks = async () => {
        const { rows } = await sql`
          with taken as (delete from jobs where kind = 'scm.look-repository' and (payload ->> 'number')::int = 1 returning 1) select from taken`.execute(
          ctx.db,
        );
        return rows.length;
      };
      expect(await github.deliver(url, delivery)).toEqual({
        status: 202,
        body: { ok: true, duplicate: false },
      });
      expect(await looks()).toBe(1);
      expect(await github.deliver(url, delivery)).toEqual({
        status: 202,
        body: { ok: true, duplicate: true },
      });
      expect(await looks()).toBe(0);
      const { webhookReceivedAt } = (await api.call('GET', `${SCM}/installations/${installation.id}`)).body
        .installation;
      expect(Date.now() - Date.parse(webhookReceivedAt)).toBeLessThan(60_000);
      await sql`update scm_deliveries set received_at = now() - interval '7 days 1 second'`.execute(ctx.db);
      expect((await github.deliver(url, delivery)).body).toMatchObject({ duplicate: false });
      expect(await looks()).toBe(1);
      // One job is for the pull request, the other one for the branch with this name.
      expect((await github.deliver(url, { ...delivery, id: randomUUID() })).status).toBe(202);
      const push = { repository: { id: 77 }, ref: 'refs/heads/1' };
      await github.deliver(url, { ...delivery, event: 'push', payload: push, id: randomUUID() });
      const { rows: ofBranch } =
        await sql`select from jobs where kind = 'scm.look-repository' and payload ->> 'branch' = '1'`.execute(
          ctx.db,
        );
      expect([ofBranch.length, await looks()]).toEqual([1, 1]);
      const foreign = { ...delivery, id: randomUUID(), payload: { repository: { id: 78 } } };
      expect((await github.deliver(url, foreign)).status).toBe(202);
      expect(await looks()).toBe(0);
    } finally {
      await api.close();
    }
  });

  test('of what an App is installed on have the repositories read', async () => {
    const org = await open();
    const { installation, webhookSecret: secret } = expectStatus(await org.connect(), 201).body;
    await org.synced(installation.id);
    await github.makeRepository({ name: 'added' });
    const url = `${s.base}${SCM}/webhooks/${installation.id}`;
    await github.deliver(url, { secret, event: 'installation_repositories', payload: { action: 'added' } });
    await expect
      .poll(() => org.repositories(), { timeout: 10_000 })
      .toMatchObject([{ fullName: 'acme/added' }]);
  });

  test('without source control deliveries are refused, and nothing is read unasked', async () => {
    const org = await open();
    const { installation, webhookSecret: secret } = expectStatus(await org.connect(), 201).body;
    await org.synced(installation.id);
    const url = `${s.base}${SCM}/webhooks/${installation.id}`;
    const deliver = (given: string) =>
      github.deliver(url, {
        secret: given,
        event: 'installation_repositories',
        payload: { action: 'added' },
      });
    const { db } = s.service.ctx;
    const take = (without: string[]) =>
      db.updateTable('organizations').set({ without }).where('id', '=', org.organization.id).execute();
    await take(['sourceControl']);
    await github.makeRepository({ name: 'added' });
    expect((await deliver(secret)).status).toBe(402);
    expect((await deliver('another secret, as long')).status).toBe(401);
    await transaction(s.service.ctx, (tx) =>
      syncSoon(tx, { id: installation.id, org_id: installation.orgId }),
    );
    const waiting = () =>
      sql`select from jobs where payload->>'installationId' = ${installation.id}`.execute(db);
    await expect.poll(async () => (await waiting()).rows, { timeout: 10_000 }).toEqual([]);
    const known = () =>
      sql`select name from repositories where installation_id = ${installation.id}`.execute(db);
    expect((await known()).rows).toEqual([]);
    await take([]);
    expect((await deliver(secret)).status).toBe(202);
    await expect.poll(async () => (await known()).rows, { timeout: 10_000 }).toEqual([{ name: 'added' }]);
  });

  test('401 alike for a wrong signature, none, an unknown and a deleted installation', async () => {
    const org = await open();
    const { installation, webhookSecret: secret } = expectStatus(await org.connect(), 201).body;
    const body = JSON.stringify({ zen: 'Keep it simple.' });
    const right = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
    const deliver = (id: string, signature?: string) =>
      s.call('POST', `${SCM}/webhooks/${id}`, body, {
        key: null,
        idem: false,
        headers: {
          'x-github-event': 'ping',
          'x-github-delivery': randomUUID(),
          'x-request-id': 'same',
          ...(signature === undefined ? {} : { 'x-hub-signature-256': signature }),
        },
      });
    expect((await deliver(installation.id, right)).status).toBe(202);
    const wrong = [
      right.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
      right.toUpperCase(),
      '',
      'sha256=',
      `${right}ü`,
    ];
    const answers = [];
    for (const signature of wrong) answers.push(await deliver(installation.id, signature));
    answers.push(await deliver(installation.id), await deliver('ins_unknown', right));
    expectStatus(await org.call('DELETE', `/installations/${installation.id}`), 200);
    answers.push(await deliver(installation.id, right));
    const [local] = (await org.call('GET', '/installations')).body.installations;
    answers.push(await deliver(local.id, right));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]!.status).toBe(401);
  });

  test('413 over 25 MiB', async () => {
    const { status } = await s.call('POST', `${SCM}/webhooks/ins_x`, Buffer.alloc(25 * 1024 * 1024 + 1), {
      key: null,
      idem: false,
    });
    expect(status).toBe(413);
  });
});
