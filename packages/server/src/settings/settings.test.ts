import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectStatus, newAccount, tenant } from '../accounts/callers.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { effectiveSettings } from './effective.ts';
import { sandboxOf } from './sandbox.ts';

const folder = await mkdtemp(join(tmpdir(), 'headrace-settings-'));
let s: TestServer;
let cookie: string;
let key: string;
let appId: string;
let organizationId: string;
beforeAll(async () => {
  const file = join(folder, 'config.json');
  const runtimes = [
    { name: 'tools', description: 'Tools', root: folder, env: { A: 'b' } },
    { name: 'imaged', image: 'localhost/tools:1' },
    { name: 'other', root: folder },
  ];
  await writeFile(file, JSON.stringify({ runtimes }));
  s = await startTestServer({ HEADRACE_ROLES: 'api', HEADRACE_CONFIG_FILE: file });
  const founder = await tenant(s);
  ({ cookie } = founder);
  organizationId = founder.organization.id;
  ({ key } = await newAccount(s, cookie));
  appId = (await s.call('POST', '/api/platform/v1/apps', { name: 'x' }, { key })).body.app.id;
});
afterAll(async () => {
  await s?.close();
  await rm(folder, { recursive: true, force: true });
});

const NOTHING = {
  idleTimeoutMinutes: null,
  modelId: null,
  spendLimitMicros: null,
  budgetMicros: null,
  approvals: null,
  egress: null,
  concurrency: null,
  runtime: null,
  preview: null,
  instructions: null,
  pullRequests: null,
  reviewLoop: null,
};
const path = (form = 'apps', id = appId) => `/api/platform/v1/${form}/${id}/settings`;
const ofApp = (body?: unknown) => s.call(body ? 'PATCH' : 'GET', path(), body, { key });
const ofOrganization = (body?: unknown) => s.call(body ? 'PATCH' : 'GET', '/api/settings', body, { cookie });
const effective = () => effectiveSettings(s.service.ctx.db, { project_id: appId });

describe('200', () => {
  test('what is stored, every field; PATCH changes what it names, null takes it back', async () => {
    for (const [ask, read] of [
      [ofApp, () => s.call('GET', path('projects'), undefined, { key })],
      [ofOrganization, ofOrganization],
    ] as const) {
      expect(expectStatus(await ask(), 200).body.settings).toEqual(NOTHING);
      const all = {
        idleTimeoutMinutes: 5,
        modelId: 'anthropic/some-model',
        spendLimitMicros: 0,
        budgetMicros: 9_007_199_254_740_991,
        approvals: [
          { tool: 'sh', pattern: 'rm *', decision: 'ask' },
          { tool: 'sh', decision: 'allow' },
        ],
        egress: { mode: 'list', hosts: ['api.example.com', '*.example.com'] },
        concurrency: { runs: 2, builds: 1 },
        runtime: 'tools',
        preview: { frameAncestors: ["'self'", 'https://*.example.com:8443'] },
        instructions: '🔑'.repeat(20_000),
        pullRequests: { draft: true },
        reviewLoop: {
          enabled: true,
          autoMerge: true,
          maxPasses: 20,
          mergeMethod: 'rebase',
          instructions: 'i'.repeat(20_000),
          reply: false,
        },
      };
      expect(expectStatus(await ask(all), 200).body.settings).toEqual(all);
      expect(expectStatus(await ask({ idleTimeoutMinutes: 6, approvals: [] }), 200).body.settings).toEqual({
        ...all,
        idleTimeoutMinutes: 6,
        approvals: [],
      });
      expect((await ask({ egress: { mode: 'none' }, concurrency: { runs: 1 } })).body.settings).toMatchObject(
        { egress: { mode: 'none', hosts: [] }, concurrency: { runs: 1, builds: null } },
      );
      const { settings } = (await ask({ pullRequests: {}, reviewLoop: { maxPasses: 1 } })).body;
      expect([settings.pullRequests, settings.reviewLoop]).toEqual([
        { draft: null },
        { enabled: null, autoMerge: null, maxPasses: 1, mergeMethod: null, instructions: null, reply: null },
      ]);
      expect((await read()).body.settings.idleTimeoutMinutes).toBe(6);
      expect(expectStatus(await ask(NOTHING), 200).body.settings).toEqual(NOTHING);
    }
  });

  test("an app's setting holds before its organization's, that before the service's default", async () => {
    expect(await effective()).toEqual({
      idleTimeoutMinutes: null,
      modelId: 'scripted',
      spendLimitMicros: null,
      budgetMicros: null,
      organizationBudgetMicros: null,
      approvals: [],
      egress: { mode: 'none', hosts: [] },
      concurrency: { runs: null, builds: null },
      organizationConcurrency: { runs: null, builds: null },
      runtime: null,
      frameAncestors: null,
      pullRequests: { draft: false },
      reviewLoop: {
        enabled: false,
        autoMerge: false,
        maxPasses: 5,
        mergeMethod: null,
        instructions: '',
        reply: true,
      },
    });
    await ofOrganization({
      spendLimitMicros: 7000,
      budgetMicros: 10,
      approvals: [{ tool: 'sh', decision: 'deny' }],
      concurrency: { runs: 3, builds: 2 },
      pullRequests: { draft: true },
      reviewLoop: { enabled: true, autoMerge: true, maxPasses: 2, mergeMethod: 'squash', reply: false },
    });
    expect(await effective()).toMatchObject({
      pullRequests: { draft: true },
      reviewLoop: { enabled: true, autoMerge: true, maxPasses: 2, mergeMethod: 'squash', reply: false },
      spendLimitMicros: 7000,
      budgetMicros: null,
      organizationBudgetMicros: 10,
      approvals: [{ tool: 'sh', decision: 'deny' }],
      concurrency: { runs: 3, builds: 2 },
    });
    await ofApp({
      spendLimitMicros: 0,
      approvals: [],
      concurrency: { runs: 1 },
      pullRequests: { draft: false },
      reviewLoop: { enabled: false, maxPasses: 3, instructions: '' },
    });
    expect(await effective()).toMatchObject({
      pullRequests: { draft: false },
      reviewLoop: {
        enabled: false,
        autoMerge: true,
        maxPasses: 3,
        mergeMethod: 'squash',
        instructions: '',
        reply: false,
      },
      spendLimitMicros: 0,
      approvals: [],
      concurrency: { runs: 1, builds: 2 },
      organizationConcurrency: { runs: 3, builds: 2 },
    });
    await ofApp(NOTHING);
    expect((await effective()).spendLimitMicros).toBe(7000);
    await ofOrganization(NOTHING);
  });
});

describe('200: runtimes', () => {
  const list = (query = '') => s.call('GET', `/api/runtimes${query}`, undefined, { key });

  test("by name, with the organization's default", async () => {
    const plain = { description: null, isDefault: false, available: true };
    const { runtimes, ...rest } = expectStatus(await list(), 200).body;
    expect([runtimes, rest]).toEqual([
      [
        { ...plain, name: 'imaged', available: false },
        { ...plain, name: 'other' },
        { ...plain, name: 'tools', description: 'Tools' },
      ],
      { ok: true, nextCursor: null, hasMore: false },
    ]);
    await ofOrganization({ runtime: 'other' });
    const first = expectStatus(await list('?limit=2'), 200).body;
    const second = expectStatus(await list(`?limit=2&cursor=${first.nextCursor}`), 200).body;
    expect(
      [...first.runtimes, ...second.runtimes].map((one: { name: string; isDefault: boolean }) => [
        one.name,
        one.isDefault,
      ]),
    ).toEqual([
      ['imaged', false],
      ['other', true],
      ['tools', false],
    ]);
    expect((await effective()).runtime).toBe('other');
    await ofOrganization({ runtime: null });
  });

  test("a sandbox gets the runtime with its variables; one that is gone is the runner's to refuse", async () => {
    const { ctx } = s.service;
    const of = { org_id: organizationId, project_id: appId };
    const given = () => sandboxOf(ctx, of, 'build');
    expect(await given()).toEqual({});
    await ofApp({ runtime: 'tools' });
    expect(await given()).toEqual({
      runtime: { name: 'tools', root: folder, image: null },
      env: { A: 'b' },
    });
    const without = { ...ctx, config: { ...ctx.config, runtimes: [] } };
    expect(await sandboxOf(without, of, 'build')).toEqual({
      runtime: { name: 'tools', root: null, image: null },
    });
    await ofApp({ runtime: null });
  });
});

describe('400', () => {
  test('what is out of bounds, with its path, and nothing is changed', async () => {
    const cases: [unknown, string][] = [
      [{ idleTimeoutMinutes: 0 }, '/idleTimeoutMinutes'],
      [{ idleTimeoutMinutes: 61 }, '/idleTimeoutMinutes'],
      [{ idleTimeoutMinutes: '5' }, '/idleTimeoutMinutes'],
      [{ spendLimitMicros: -1 }, '/spendLimitMicros'],
      [{ budgetMicros: 1.5 }, '/budgetMicros'],
      [{ modelId: '' }, '/modelId'],
      [{ approvals: [{ tool: 'sh', decision: 'perhaps' }] }, '/approvals/0/decision'],
      [{ approvals: [{ decision: 'ask' }] }, '/approvals/0/tool'],
      [{ egress: { mode: 'everything', hosts: [] } }, '/egress/mode'],
      [{ egress: { mode: 'list', hosts: ['http://x'] } }, '/egress/hosts/0'],
      [{ concurrency: { runs: 0 } }, '/concurrency/runs'],
      [{ runtime: 'unknown' }, '/runtime'],
      [{ runtime: 'imaged' }, '/runtime'],
      [{ runtime: '' }, '/runtime'],
      [{ preview: { frameAncestors: ["'self'; script-src *"] } }, '/preview/frameAncestors/0'],
      [{ instructions: 'i'.repeat(20_001) }, '/instructions'],
      [{ pullRequests: { draft: 1 } }, '/pullRequests/draft'],
      [{ reviewLoop: { enabled: 'yes' } }, '/reviewLoop/enabled'],
      [{ reviewLoop: { maxPasses: 0 } }, '/reviewLoop/maxPasses'],
      [{ reviewLoop: { maxPasses: 21 } }, '/reviewLoop/maxPasses'],
      [{ reviewLoop: { maxPasses: 1.5 } }, '/reviewLoop/maxPasses'],
      [{ reviewLoop: { mergeMethod: 'octopus' } }, '/reviewLoop/mergeMethod'],
      [{ reviewLoop: { instructions: 'i'.repeat(20_001) } }, '/reviewLoop/instructions'],
      [{ reviewLoop: { reply: 1 } }, '/reviewLoop/reply'],
      [{ reviewLoop: { passes: 3 } }, '/reviewLoop/passes'],
      [{ idleTimeoutMinutes: 5, moon: 1 }, '/moon'],
    ];
    for (const [body, at] of cases) {
      for (const ask of [ofApp, ofOrganization])
        expect(
          expectStatus(await ask(body), 400).body.error.fields.map((f: { path: string }) => f.path),
          JSON.stringify(body),
        ).toEqual([at]);
    }
    expect((await ofApp()).body.settings).toEqual(NOTHING);
  });
});

describe('401, 403, 404', () => {
  test('a loop that merges by itself takes repo:update as well', async () => {
    const { key: owner } = await newAccount(s, cookie, { permissions: { project: ['read', 'update'] } });
    const set = (autoMerge: boolean) =>
      s.call('PATCH', path(), { reviewLoop: { autoMerge } }, { key: owner });
    expect(expectStatus(await set(true), 403).body.error.message).toContain('repo:update');
    expectStatus(await set(false), 200);
    await ofApp(NOTHING);
  });

  test('permissions, app scope and other organizations', async () => {
    const { key: reader } = await newAccount(s, cookie, { permissions: { project: ['read'] } });
    const { key: elsewhere } = await newAccount(s, cookie, { projectIds: ['prj_x'] });
    expectStatus(await s.call('GET', path(), undefined, { key: reader }), 200);
    expectStatus(await s.call('PATCH', path(), {}, { key: reader }), 403);
    expectStatus(await s.call('GET', path(), undefined, { key: elsewhere }), 403);
    expect(expectStatus(await s.call('GET', path(), undefined, { key: s.key }), 404).body.error.code).toBe(
      'app_not_found',
    );
    expectStatus(await s.call('PATCH', path('apps', 'x'), {}, { key }), 404);
    expectStatus(await s.call('GET', '/api/settings', undefined, { key }), 401);
    const { key: other } = await newAccount(s, cookie, { permissions: { thread: ['read'] } });
    expectStatus(await s.call('GET', '/api/runtimes', undefined, { key: reader }), 200);
    expectStatus(await s.call('GET', '/api/runtimes', undefined, { key: other }), 401);
  });
});
