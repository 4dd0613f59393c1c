import { randomUUID } from 'node:crypto';
import { CompiledQuery, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signedIn } from '../accounts/callers.fixture.ts';
import { ApiError } from '../http/errors.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestAnswer, TestServer } from '../service.fixture.ts';
import { ok, refusal } from '../threads/threads.fixture.ts';
import { newAutomation, newProject } from './automations.fixture.ts';
import { executionDied } from './execute.job.ts';
import { listExecutions } from './store.ts';

type Json = TestAnswer['body'];

let s: TestServer;
let projectId: string;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  projectId = await newProject(s);
});
afterAll(() => s?.close());

const newPath = async (fields: Json = { overlap: 'allow' }): Promise<string> =>
  `/api/automations/${(await newAutomation(s, projectId, fields)).automation.id}`;
const run = (path: string, body: Json = {}, idem: string = randomUUID()) =>
  s.call('POST', `${path}/run`, body, { idem });
const ran = async (path: string, body: Json = {}): Promise<Json> => (await ok(run(path, body))).execution;
const listed = async (path: string, query = 'limit=200'): Promise<Json[]> =>
  (await ok(s.call('GET', `${path}/executions?${query}`))).executions;

describe('a run by hand', () => {
  test('is queued, shows its payload by itself, and is listed without it', async () => {
    const path = await newPath();
    const execution = await ran(path, { payload: { a: [1, { b: null }] } });
    expect(execution).toEqual({
      id: expect.stringMatching(/^exe_/),
      automationId: path.split('/').at(-1),
      projectId,
      trigger: { kind: 'manual', scheduledFor: null, eventId: null, eventType: null, deliveryId: null },
      status: 'queued',
      skippedReason: null,
      threadId: null,
      runId: null,
      pullRequestId: null,
      error: null,
      createdAt: expect.stringMatching(/Z$/),
      startedAt: null,
      finishedAt: null,
    });
    expect(await ok(s.call('GET', `${path}/executions/${execution.id}`))).toEqual({
      ok: true,
      execution: { ...execution, payload: { a: [1, { b: null }] } },
    });
    expect(await listed(path)).toEqual([execution]);
  });

  test('of an automation with skip is refused while an execution is open, and its idempotency key stays unused', async () => {
    const path = await newPath({ overlap: 'skip' });
    await ran(path);
    const idem = randomUUID();
    expect(await refusal(run(path, {}, idem))).toBe('409 execution_active');
    await ok(s.call('PATCH', path, { disabled: true }));
    const taken = await run(path, {}, idem);
    expect([taken.status, taken.headers.get('idempotent-replayed')]).toEqual([202, null]);
  });

  test('takes an object of up to 256 KiB', async () => {
    const path = await newPath();
    const pad = 'p'.repeat(256 * 1024 - '{"pad":""}'.length);
    await ran(path, { payload: { pad } });
    expect(await refusal(run(path, { payload: { pad: `${pad}p` } }))).toBe('400 invalid_request /payload');
    expect(await refusal(run(path, { payload: { pad: pad.repeat(5) } }))).toBe('413 request_too_large');
    for (const payload of [[], 'x', 5, null])
      expect(await refusal(run(path, { payload }))).toBe('400 invalid_request /payload');
  });
});

test('an execution that waits for its turn counts in the system state, also without a job', async () => {
  const cookie = await signedIn(s);
  const waiting = async (): Promise<number> => {
    const { system } = await ok(s.call('GET', '/api/system', undefined, { cookie }));
    return system.queues.find((queue: Json) => queue.name === 'executions').waiting;
  };
  const before = await waiting();
  const { id } = await ran(await newPath());
  await sql`delete from jobs where kind = 'automation.execute' and payload ->> 'executionId' = ${id}`.execute(
    s.service.ctx.db,
  );
  expect(await waiting()).toBe(before + 1);
});

test('one that cannot begin waits for workers for an hour; another fault fails it at once', async () => {
  const { ctx } = s.service;
  const path = await newPath();
  const away = new ApiError('source_workspace_unavailable', 'No worker.');
  const after = async (error: Error, ageMinutes: number) => {
    const { id } = await ran(path);
    await sql`update executions set created_at = now() - ${ageMinutes} * interval '1 minute' where id = ${id}`.execute(
      ctx.db,
    );
    await executionDied(ctx, { executionId: id }, error);
    const { execution } = await ok(s.call('GET', `${path}/executions/${id}`));
    return [execution.status, execution.error?.code];
  };
  expect(await after(away, 59)).toEqual(['queued', undefined]);
  expect(await after(away, 61)).toEqual(['failed', 'source_workspace_unavailable']);
  expect(await after(new Error('broken'), 0)).toEqual(['failed', 'unavailable']);
});

describe('reads', () => {
  test('by status and page by page, newest first', async () => {
    const path = await newPath();
    const ids = [(await ran(path)).id, (await ran(path)).id];
    await ok(s.call('PATCH', path, { disabled: true }));
    ids.push((await ran(path)).id);
    const all = (await listed(path)).map((one) => one.id);
    expect(all).toEqual(ids.toReversed());
    expect((await listed(path, 'status=cancelled')).map((one) => one.id)).toEqual([ids[1], ids[0]]);
    expect((await listed(path, 'status=queued')).map((one) => one.id)).toEqual([ids[2]]);
    const { nextCursor } = await ok(s.call('GET', `${path}/executions?limit=1`));
    expect((await listed(path, `cursor=${nextCursor}`)).map((one) => one.id)).toEqual([ids[1], ids[0]]);
    expect(await refusal(s.call('GET', `${path}/executions?status=queued&cursor=${nextCursor}`))).toBe(
      '400 invalid_cursor',
    );
    for (const query of ['status=done', 'kind=manual'])
      expect(await refusal(s.call('GET', `${path}/executions?${query}`))).toBe(
        `400 invalid_request /query/${query.split('=')[0]}`,
      );
  });

  test('a rare status is found through an index, however many other executions exist', async () => {
    const { db } = s.service.ctx;
    const id = (await newPath()).split('/').at(-1)!;
    await sql`insert into executions (org_id, id, automation_id, project_id, kind, status, overlap_key, depth, finished_at)
      select org_id, id || n, id, project_id, 'webhook', 'completed', 'k', 1, now()
      from automations, generate_series(1, 5000) n where id = ${id}`.execute(db);
    await sql`analyze executions`.execute(db);
    const statements: CompiledQuery[] = [];
    const watched = db.withPlugin({
      transformQuery({ node, queryId }) {
        statements.push(db.getExecutor().compileQuery(node, queryId));
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    expect(await listExecutions(watched, { automationId: id, status: 'failed' }, null, 50)).toEqual([]);
    const { rows } = await db.executeQuery<{ 'QUERY PLAN': string }>(
      CompiledQuery.raw(`explain ${statements[0]!.sql}`, [...statements[0]!.parameters]),
    );
    expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toMatch(/using executions_status/);
  });

  test("another automation's is not found", async () => {
    const [own, other] = [await newPath(), await newPath()];
    const { id } = await ran(other);
    for (const one of [id, 'exe_01k9x3v5e8f7arh2m4t6w8y0zb', 'x'])
      expect(await refusal(s.call('GET', `${own}/executions/${one}`))).toBe('404 execution_not_found');
  });

  test('waitSeconds returns when the execution has ended', async () => {
    const path = await newPath();
    const { id } = await ran(path);
    const woken: string[] = [];
    const unlisten = s.service.ctx.bus.listen('resources', (one) => woken.push(one));
    const waiting = ok(s.call('GET', `${path}/executions/${id}?waitSeconds=20`));
    await ok(s.call('PATCH', path, { disabled: true }));
    expect((await waiting).execution).toMatchObject({ id, status: 'cancelled', error: null });
    unlisten();
    expect(woken).toContain(id);
    for (const wait of ['31', '-1', '1.5'])
      expect(await refusal(s.call('GET', `${path}/executions/${id}?waitSeconds=${wait}`))).toBe(
        '400 invalid_request /query/waitSeconds',
      );
  });
});

describe('the next times of a schedule', () => {
  const ask = (query: Record<string, string>) =>
    s.call('GET', `/api/automations/schedule?${new URLSearchParams(query).toString()}`);
  const DAILY = { cron: '0 3 * * *', timeZone: 'UTC' };

  test('are ten from now, or the given count from a given time, however close', async () => {
    const { times } = await ok(ask(DAILY));
    expect([times.length, new Date(times[0]) > new Date()]).toEqual([10, true]);
    const from = '2027-03-27T12:00:00.000Z';
    const berlin = { cron: '30 2 * * *', timeZone: 'Europe/Berlin', from, count: '2' };
    expect((await ok(ask(berlin))).times).toEqual(['2027-03-28T01:00:00.000Z', '2027-03-29T00:30:00.000Z']);
    expect((await ok(ask({ ...DAILY, cron: '* * * * *', count: '50' }))).times.length).toBe(50);
  });

  test.each([
    [{ timeZone: 'UTC' }, 'cron'],
    [{ cron: '0 3 * * *' }, 'timeZone'],
    [{ ...DAILY, cron: '' }, 'cron'],
    [{ ...DAILY, cron: '0 25 * * *' }, 'cron'],
    [{ ...DAILY, cron: '0 0 30 2 *' }, 'cron'],
    [{ ...DAILY, timeZone: 'Mars/Olympus' }, 'timeZone'],
    [{ ...DAILY, count: '0' }, 'count'],
    [{ ...DAILY, count: '51' }, 'count'],
    [{ ...DAILY, from: 'soon' }, 'from'],
    [{ ...DAILY, from: '2027-13-01T00:00:00Z' }, 'from'],
    [{ ...DAILY, until: 'x' }, 'until'],
  ])('%j: 400', async (query, path) => {
    expect(await refusal(ask(query as Record<string, string>))).toBe(`400 invalid_request /query/${path}`);
  });
});
