import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newAccount, signedIn, tenant } from '../accounts/callers.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestAnswer, TestServer } from '../service.fixture.ts';
import { ok, refusal } from '../threads/threads.fixture.ts';
import { automationNow, newAutomation, newProject, REFUSED, YEARLY } from './automations.fixture.ts';

type Json = TestAnswer['body'];

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
});
afterAll(() => s?.close());

const create = (fields: Json, key = s.key) =>
  s.call('POST', '/api/automations', { name: 'n', prompt: 'p', trigger: YEARLY, ...fields }, { key });
const listed = async (query: string, key = s.key): Promise<string[]> =>
  (await ok(s.call('GET', `/api/automations?limit=200${query}`, undefined, { key }))).automations.map(
    (one: Json) => one.id,
  );

describe('201 and 200', () => {
  test('a schedule has every field, its defaults and its next time, and a read returns the same', async () => {
    const projectId = await newProject(s);
    const { automation, ...rest } = await newAutomation(s, projectId);
    const year = new Date().getUTCFullYear();
    const next = [year, year + 1]
      .map((y) => `${y}-01-01T03:00:00.000Z`)
      .find((at) => new Date(at) > new Date());
    expect([rest, automation]).toEqual([
      { ok: true },
      {
        id: expect.stringMatching(/^aut_/),
        orgId: expect.stringMatching(/^org_/),
        projectId,
        name: 'Tidy',
        prompt: 'Tidy up.',
        trigger: YEARLY,
        filter: [],
        modelId: null,
        baseBranch: null,
        pullRequest: 'none',
        overlap: 'skip',
        catchUp: true,
        spendLimitMicros: null,
        monthlyLimitMicros: null,
        disableAfterFailures: 5,
        disabled: false,
        disabledReason: null,
        consecutiveFailures: 0,
        nextRunAt: next,
        lastExecutionAt: null,
        hookUrl: null,
        createdByUserId: expect.stringMatching(/^sa_/),
        createdAt: expect.stringMatching(/Z$/),
        updatedAt: automation.createdAt,
      },
    ]);
    expect(await automationNow(s, automation.id)).toEqual(automation);
  });

  test('given fields are stored, types without duplicates, and a disabled schedule has no next time', async () => {
    const projectId = await newProject(s);
    const given = {
      name: 'n'.repeat(200),
      prompt: 'p'.repeat(20_000),
      filter: [{ path: 'payload.a', op: 'in', value: ['x', 1] }],
      modelId: 'scripted',
      overlap: 'queue',
      catchUp: false,
      spendLimitMicros: 5,
      monthlyLimitMicros: 9_007_199_254_740_991,
      disableAfterFailures: null,
      disabled: true,
    };
    const { automation } = await newAutomation(s, projectId, given);
    expect(automation).toMatchObject({ ...given, disabledReason: 'user', nextRunAt: null });
    const types = ['run.failed', 'thread.updated'];
    const onEvents = await newAutomation(s, projectId, {
      trigger: { kind: 'event', types: [...types, 'run.failed'] },
    });
    expect(onEvents.automation).toMatchObject({ trigger: { kind: 'event', types }, nextRunAt: null });
  });

  test('a generated secret of a hook is only in the first response, and a given one in none', async () => {
    const projectId = await newProject(s);
    const idem = randomUUID();
    const body = { projectId, name: 'n', prompt: 'p', trigger: { kind: 'webhook' } };
    const make = () => s.call('POST', '/api/automations', body, { idem });
    const [first, again] = [await make(), await make()];
    const { secret, automation } = first.body;
    expect(first.body).toMatchObject({
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      secretUnavailable: false,
      automation: {
        trigger: { kind: 'webhook', source: 'generic' },
        hookUrl: `${s.base}/api/hooks/automations/${automation.id}`,
      },
    });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body).toEqual({ ok: true, automation, secretUnavailable: true });
    const own = `own-${randomUUID()}`;
    const defaults = { organizationSlug: 'acme', projectSlug: 'web', projectId: '12' };
    const trigger = { kind: 'webhook', source: 'error_tracker', defaults };
    const second = await newAutomation(s, projectId, { trigger: { ...trigger, secret: own } });
    expect(second).toEqual({ ok: true, automation: second.automation, secretUnavailable: true });
    expect(second.automation.trigger).toEqual(trigger);
    const places = [
      await s.call('GET', '/api/automations?limit=200'),
      await s.call('GET', `/api/automations/${automation.id}`),
      await s.call('GET', `/api/operations/${first.headers.get('x-operation-id')}`),
    ];
    for (const { text } of places)
      expect([text.includes(secret.slice(6)), text.includes(own)]).toEqual([false, false]);
  });

  test('lists are newest first and by project; a restricted key sees only its own projects', async () => {
    const [one, other] = [await newProject(s), await newProject(s)];
    const ids: string[] = [];
    for (const projectId of [one, one, other]) ids.unshift((await newAutomation(s, projectId)).automation.id);
    const [c, b, a] = ids;
    expect((await listed('')).filter((id) => ids.includes(id))).toEqual(ids);
    expect(await listed(`&projectId=${one}`)).toEqual([b, a]);
    const first = await ok(s.call('GET', `/api/automations?limit=1&projectId=${one}`));
    expect(await listed(`&projectId=${one}&cursor=${first.nextCursor}`)).toEqual([a]);
    const { key } = await newAccount(s, await signedIn(s), { projectIds: [other] });
    expect(await listed('', key)).toEqual([c]);
    expect(await refusal(s.call('GET', `/api/automations/${a}`, undefined, { key }))).toBe(
      '404 automation_not_found',
    );
    expect(await refusal(s.call('GET', `/api/automations?projectId=${one}`, undefined, { key }))).toBe(
      '404 project_not_found',
    );
  });
});

describe('refusals', () => {
  test.each(REFUSED)('%j: 400', async (fields, ...paths) => {
    const projectId = await newProject(s);
    const answer = await create({ projectId, ...fields });
    expect([answer.status, answer.body.error.fields.map((f: Json) => f.path).toSorted()]).toEqual([
      400,
      paths.toSorted(),
    ]);
    expect(await listed(`&projectId=${projectId}`)).toEqual([]);
  });

  test('an app has no event triggers, and branches and pull requests need a repository', async () => {
    const { app } = await ok(s.call('POST', '/api/platform/v1/apps', { name: 'App' }));
    const onEvent = { trigger: { kind: 'event', types: ['run.completed'] } };
    expect(await refusal(create({ projectId: app.id, ...onEvent }))).toBe(
      '400 invalid_request /trigger/kind',
    );
    await newAutomation(s, app.id, { trigger: { kind: 'webhook' } });
    const projectId = await newProject(s);
    for (const fields of [{ baseBranch: 'main' }, { pullRequest: 'draft' }, { pullRequest: 'open' }])
      expect(await refusal(create({ projectId, ...fields }))).toBe('409 repository_not_bound');
  });

  test('a project that is unknown, deleted or not of a restricted key is 404', async () => {
    const [own, gone] = [await newProject(s), await newProject(s)];
    await ok(s.call('DELETE', `/api/projects/${gone}`));
    const { key } = await newAccount(s, await signedIn(s), { projectIds: [own] });
    expect([
      await refusal(create({ projectId: gone })),
      await refusal(create({ projectId: 'prj_unknown' })),
      await refusal(create({ projectId: await newProject(s) }, key)),
    ]).toEqual(Array(3).fill('404 project_not_found'));
  });

  test('an organization has at most 200, also with concurrent calls', async () => {
    const { cookie } = await tenant(s);
    const { key } = await newAccount(s, cookie);
    const projectId = await newProject(s, key);
    const { automation } = await newAutomation(s, projectId, {}, key);
    await sql`
      insert into automations (org_id, id, project_id, name, prompt, kind, trigger, pull_request, overlap, catch_up, after_sequence, created_by)
      select org_id, id || n, project_id, name, prompt, kind, trigger, pull_request, overlap, catch_up, after_sequence, created_by
      from automations, generate_series(1, 195) n where id = ${automation.id}`.execute(s.service.ctx.db);
    const answers = await Promise.all(Array.from({ length: 8 }, () => create({ projectId }, key)));
    expect(answers.map((a) => a.body.error?.code ?? a.status).toSorted()).toEqual([
      ...Array(4).fill(201),
      ...Array(4).fill('conflict'),
    ]);
  });
});
