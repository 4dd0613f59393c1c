import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newAccount, signedIn, tenant } from '../accounts/callers.fixture.ts';
import type { AutomationRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import { takeBatch } from '../events/index.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestAnswer, TestServer } from '../service.fixture.ts';
import { openSigningSecrets } from '../signing-secrets.ts';
import { ok, refusal, until } from '../threads/threads.fixture.ts';
import { automationNow, newAutomation, newProject, REFUSED, YEARLY } from './automations.fixture.ts';
import { moveExecution } from './execution-store.ts';
import { PURPOSE } from './secrets.ts';

type Json = TestAnswer['body'];

let s: TestServer;
let projectId: string;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  projectId = await newProject(s);
});
afterAll(() => s?.close());

const P = '/api/platform/v1';
const HOOK = { trigger: { kind: 'webhook' } };
const at = (id: string, path = '') => `/api/automations/${id}${path}`;
const patch = (id: string, body: Json) => s.call('PATCH', at(id), body);
const patched = async (id: string, body: Json): Promise<Json> => (await ok(patch(id, body))).automation;
const rotate = (id: string, body: Json = {}) => ok(s.call('POST', at(id, '/secret'), body));
const run = async (id: string): Promise<Json> => (await ok(s.call('POST', at(id, '/run'), {}))).execution;
const rowOf = (id: string): Promise<AutomationRow> =>
  s.service.ctx.db.selectFrom('automations').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
/** The secrets that prove a sender at this time. */
const validAt = async (id: string, ms = Date.now()): Promise<string[]> =>
  openSigningSecrets(s.service.ctx.secretKey, PURPOSE, await rowOf(id), new Date(ms));
const statusesOf = async (id: string): Promise<string[]> =>
  (await ok(s.call('GET', at(id, '/executions')))).executions.map((one: Json) => one.status);

/** The project's events while `act` runs. Writes of the project mark the start and the end. */
async function during(act: () => Promise<unknown>): Promise<string[]> {
  const mark = async () =>
    (await s.call('PATCH', `/api/projects/${projectId}`, { name: randomUUID() })).headers.get(
      'x-operation-id',
    )!;
  let { cursor } = await ok(s.call('GET', `/api/events/head?projectId=${projectId}`));
  const begin = await mark();
  await act();
  const end = await mark();
  const seen: string[] = [];
  while (!seen.includes(end)) {
    const query = `projectId=${projectId}&limit=500&waitSeconds=10&cursor=${encodeURIComponent(cursor)}`;
    const page = await ok(s.call('GET', `/api/events?${query}`));
    expect(page.events.length).toBeGreaterThan(0);
    cursor = page.nextCursor;
    for (const { type, data } of page.events)
      seen.push(data.id === begin || data.id === end ? data.id : `${type} ${data.status}`);
  }
  return seen.slice(seen.indexOf(begin) + 1, seen.indexOf(end));
}
const SUCCEEDED = 'operation.updated succeeded';

describe('PATCH', () => {
  test('changes the given fields and keeps the rest', async () => {
    const { automation } = await newAutomation(s, projectId);
    const next = {
      name: 'Renamed',
      prompt: 'Other.',
      trigger: { kind: 'schedule', cron: '30 4 2 1 *', timeZone: 'Asia/Kolkata' },
      modelId: 'scripted',
      overlap: 'allow',
      catchUp: false,
      spendLimitMicros: 1,
      monthlyLimitMicros: 2,
      disableAfterFailures: null,
    };
    const changed = await patched(automation.id, next);
    expect(changed).toEqual({
      ...automation,
      ...next,
      nextRunAt: expect.stringMatching(/-01-01T23:00:00\.000Z$/),
      updatedAt: changed.updatedAt,
    });
    expect(changed.updatedAt > automation.updatedAt).toBe(true);
    const { updatedAt: _, ...rest } = changed;
    expect(await patched(automation.id, { modelId: null, spendLimitMicros: null })).toMatchObject({
      ...rest,
      modelId: null,
      spendLimitMicros: null,
    });
  });

  test.each([
    ...REFUSED,
    [{ projectId: 'prj_1' }, '/projectId'],
    [{ trigger: { kind: 'event', types: ['run.failed'] } }, '/trigger/kind'],
    [HOOK, '/trigger/kind'],
    [{ hookUrl: null, nextRunAt: null }, '/hookUrl', '/nextRunAt'],
  ] as typeof REFUSED)('%j: 400, and nothing changes', async (fields, ...paths) => {
    const { automation } = await newAutomation(s, projectId);
    const answer = await patch(automation.id, { overlap: 'allow', ...fields });
    expect([answer.status, answer.body.error.fields.map((f: Json) => f.path).toSorted()]).toEqual([
      400,
      paths.toSorted(),
    ]);
    expect(await automationNow(s, automation.id)).toEqual(automation);
  });

  test('a branch and a pull request need a repository', async () => {
    const { automation } = await newAutomation(s, projectId);
    for (const fields of [{ baseBranch: 'main' }, { pullRequest: 'open' }])
      expect(await refusal(patch(automation.id, fields))).toBe('409 repository_not_bound');
    await patched(automation.id, { baseBranch: null, pullRequest: 'none' });
  });

  test('disabling cancels queued executions and publishes this before the receipt', async () => {
    const { automation } = await newAutomation(s, projectId, { overlap: 'queue' });
    await run(automation.id);
    await run(automation.id);
    let off: Json;
    const events = await during(async () => {
      off = await patched(automation.id, { disabled: true });
    });
    expect(off).toMatchObject({ disabled: true, disabledReason: 'user', nextRunAt: null });
    const cancelled = 'automation.execution.updated cancelled';
    expect([await statusesOf(automation.id), events]).toEqual([
      ['cancelled', 'cancelled'],
      [cancelled, cancelled, SUCCEEDED],
    ]);
    // One by hand goes on, whatever is said again.
    await run(automation.id);
    await patched(automation.id, { disabled: true });
    expect((await statusesOf(automation.id))[0]).toBe('queued');
  });

  test('enabling clears the failures; only later times and events count', async () => {
    const { automation } = await newAutomation(s, projectId);
    await s.service.ctx.db
      .updateTable('automations')
      .set({ disabled_reason: 'failures', next_run_at: null, consecutive_failures: 5 })
      .where('id', '=', automation.id)
      .execute();
    expect(await patched(automation.id, { disabled: true })).toMatchObject({
      disabledReason: 'failures',
      consecutiveFailures: 5,
    });
    // An event of the time in which it was disabled.
    const ended = async () =>
      (await s.service.ctx.db.selectFrom('log_state').select('last_sequence').executeTakeFirstOrThrow())
        .last_sequence;
    const before = await ended();
    await newProject(s);
    const later = await until('the event', async () => (await ended()) > before && ended());
    expect(await patched(automation.id, { disabled: false })).toMatchObject({
      disabled: false,
      disabledReason: null,
      consecutiveFailures: 0,
      nextRunAt: automation.nextRunAt,
    });
    expect((await rowOf(automation.id)).after_sequence).toBeGreaterThanOrEqual(later);
  });

  test('while it is enabled, its next time and its place in the log stay, unless the schedule changes', async () => {
    const { automation } = await newAutomation(s, projectId);
    const due = new Date(0);
    await s.service.ctx.db
      .updateTable('automations')
      .set({ next_run_at: due, after_sequence: 0, consecutive_failures: 2 })
      .where('id', '=', automation.id)
      .execute();
    await patched(automation.id, { name: 'Other', trigger: YEARLY, disabled: false });
    expect(await rowOf(automation.id)).toMatchObject({
      next_run_at: due,
      after_sequence: 0,
      consecutive_failures: 0,
    });
    const moved = await patched(automation.id, { trigger: { ...YEARLY, timeZone: 'Asia/Kolkata' } });
    expect(moved.nextRunAt > new Date().toISOString()).toBe(true);
  });

  test('earlier events are matched with the old state', async () => {
    const trigger = (type: string) => ({ kind: 'event', types: [type] });
    const { automation } = await newAutomation(s, projectId, { trigger: trigger('run.failed') });
    const { ctx } = s.service;
    const changing = patched(automation.id, { trigger: trigger('run.completed') });
    await Promise.race([changing, sleep(200)]);
    const met: AutomationRow['trigger'][] = [];
    const take = async () => {
      met.push((await rowOf(automation.id)).trigger);
    };
    await until(
      'the end',
      async () => (await takeBatch(ctx, { name: 'automations', take })) === 0 && met.length,
    );
    expect((await changing).trigger).toEqual(trigger('run.completed'));
    expect(met[0]).toEqual(trigger('run.failed'));
  });
});

describe('the secret of a hook', () => {
  test('is kept if the trigger omits it, and replaced at once by a given one', async () => {
    const { automation, secret } = await newAutomation(s, projectId, HOOK);
    await patched(automation.id, { trigger: { kind: 'webhook', source: 'tracker' } });
    const { secret: second } = await rotate(automation.id);
    expect(await validAt(automation.id)).toEqual([second, secret]);
    const own = `own-secret-${randomUUID()}`;
    const answer = await patch(automation.id, { trigger: { kind: 'webhook', secret: own } });
    expect([answer.text.includes(own), answer.body.automation.trigger]).toEqual([
      false,
      { kind: 'webhook', source: 'generic' },
    ]);
    expect(await validAt(automation.id)).toEqual([own]);
  });

  test('after a rotation both are valid for a day or the given time; a second rotation drops the oldest', async () => {
    const { automation, secret: first } = await newAutomation(s, projectId, HOOK);
    const { secret: second } = await rotate(automation.id);
    const hours = (n: number) => Date.now() + n * 3_600_000;
    expect([await validAt(automation.id, hours(23)), await validAt(automation.id, hours(25))]).toEqual([
      [second, first],
      [second],
    ]);
    const { secret: third } = await rotate(automation.id, { overlapSeconds: 7200 });
    expect([await validAt(automation.id, hours(1)), await validAt(automation.id, hours(3))]).toEqual([
      [third, second],
      [third],
    ]);
    const { secret: last } = await rotate(automation.id, { overlapSeconds: 0 });
    expect(await validAt(automation.id)).toEqual([last]);
  });

  test('is only in the first response to a rotation', async () => {
    const { automation } = await newAutomation(s, projectId, HOOK);
    const idem = randomUUID();
    const call = () => s.call('POST', at(automation.id, '/secret'), {}, { idem });
    const [first, again] = [await call(), await call()];
    const { updatedAt } = first.body.automation;
    expect([first.body, again.body]).toEqual([
      {
        ok: true,
        automation: { ...automation, updatedAt },
        secret: expect.stringMatching(/^whsec_/),
        secretUnavailable: false,
      },
      { ok: true, automation: { ...automation, updatedAt }, secretUnavailable: true },
    ]);
  });

  test('cannot be rotated for other triggers, or with an overlap of more than a week', async () => {
    const [{ automation }, hook] = [
      await newAutomation(s, projectId),
      await newAutomation(s, projectId, HOOK),
    ];
    expect(await refusal(s.call('POST', at(automation.id, '/secret'), {}))).toBe('409 conflict');
    for (const overlapSeconds of [-1, 604_801, 1.5])
      expect(await refusal(s.call('POST', at(hook.automation.id, '/secret'), { overlapSeconds }))).toBe(
        '400 invalid_request /overlapSeconds',
      );
  });
});

describe('DELETE', () => {
  test('cancels queued executions, removes the secrets and hides the automation', async () => {
    const { automation } = await newAutomation(s, projectId, { ...HOOK, overlap: 'queue' });
    await rotate(automation.id);
    const { id } = await run(automation.id);
    const last = await automationNow(s, automation.id);
    let answer: Json;
    const events = await during(async () => {
      answer = await ok(s.call('DELETE', at(automation.id)));
    });
    expect([answer, events]).toEqual([
      { ok: true, automation: last },
      ['automation.execution.updated cancelled', SUCCEEDED],
    ]);
    expect(await rowOf(automation.id)).toMatchObject({ secret_sealed: null, former_secret_sealed: null });
    for (const [method, path, body] of [
      ['GET', ''],
      ['PATCH', '', {}],
      ['DELETE', ''],
      ['POST', '/run', {}],
      ['POST', '/secret', {}],
      ['GET', '/executions'],
      ['GET', `/executions/${id}`],
    ] as const)
      expect(await refusal(s.call(method, at(automation.id, path), body))).toBe('404 automation_not_found');
  });
});

describe('the deletion of a project and of an organization', () => {
  test('ends its automations: queued executions are cancelled, and the automations are hidden', async () => {
    const own = await newProject(s);
    const { automation } = await newAutomation(s, own, { ...HOOK, overlap: 'queue' });
    const schedule = (await newAutomation(s, own)).automation;
    const kept = (await newAutomation(s, projectId)).automation;
    const { id } = await run(automation.id);
    await ok(s.call('DELETE', `/api/projects/${own}`));
    const gone = { deleted_at: expect.any(Date), secret_sealed: null, next_run_at: null };
    expect([await rowOf(automation.id), await rowOf(schedule.id)]).toMatchObject([gone, gone]);
    expect(await refusal(s.call('GET', at(automation.id)))).toBe('404 automation_not_found');
    expect(await automationNow(s, kept.id)).toEqual(kept);
    const { rows } = await sql<{ statuses: string[] }>`
      select array_agg(data ->> 'status' order by id) as statuses from (
        select event_id as id, data from outbox union select event_id, data from events
      ) e where data ->> 'id' = ${id}`.execute(s.service.ctx.db);
    expect(rows[0]!.statuses).toEqual(['queued', 'cancelled']);
  });

  test('of an app: what runs is cancelled with its thread, before the app is gone', async () => {
    const app = (await ok(s.call('POST', `${P}/apps`, { name: 'App' }))).app.id;
    const { automation } = await newAutomation(s, app);
    const { id } = await run(automation.id);
    const { ctx } = s.service;
    await transaction(ctx, (tx) => moveExecution(tx, id, 'begin'));
    await ok(s.call('DELETE', `${P}/apps/${app}`));
    await ok(s.call('GET', `${P}/events?types=platform.app.deleted&waitSeconds=10`));
    const types = 'types=platform.app.deleted,automation.execution.updated';
    const { events } = await ok(s.call('GET', `${P}/events?${types}`));
    const last = events.filter((one: Json) => one.projectId === app).slice(-2);
    expect(last.map(({ type, data }: Json) => [type, data.id, data.status])).toEqual([
      ['automation.execution.updated', id, 'cancelled'],
      ['platform.app.deleted', app, undefined],
    ]);
  });

  test('no secret outlives its organization', async () => {
    const { cookie, organization } = await tenant(s);
    const { key } = await newAccount(s, cookie);
    const { automation } = await newAutomation(s, await newProject(s, key), HOOK, key);
    await ok(s.call('DELETE', `/api/organizations/${organization.id}`, undefined, { cookie }));
    expect(await rowOf(automation.id)).toMatchObject({ secret_sealed: null, former_secret_sealed: null });
  });
});

test('each write is in the audit log once', async () => {
  const { automation } = await newAutomation(s, projectId, HOOK);
  await patched(automation.id, { name: 'x' });
  await rotate(automation.id);
  await refusal(patch(automation.id, { name: '' }));
  await ok(s.call('DELETE', at(automation.id)));
  const entries = (await ok(s.call('GET', '/api/audit?limit=200', undefined, { cookie: await signedIn(s) })))
    .entries;
  expect(
    entries.filter((e: Json) => e.targetId === automation.id).map((e: Json) => [e.action, e.actorId]),
  ).toEqual(
    ['deleted', 'secret_rotated', 'updated', 'created'].map((action) => [
      `automation.${action}`,
      automation.createdByUserId,
    ]),
  );
});
