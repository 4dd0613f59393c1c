import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { appendEvent, transaction } from '../db/transaction.ts';
import { takeBatch } from '../events/index.ts';
import { newId } from '../ids.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { ok } from '../threads/threads.fixture.ts';
import { newAutomation, newProject } from './automations.fixture.ts';
import { beginExecution } from './begin-execution.ts';
import { findExecution } from './execution-store.ts';
import { automationsConsumer } from './on-events.ts';

let s: TestServer;
let projectId: string;
/** A thread of a person, in the project of the automations. */
let person: { projectId: string; threadId: string };
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
});
beforeEach(async () => {
  projectId = await newProject(s);
  person = await newThread(projectId);
});
afterAll(() => s?.close());

const newThread = async (of: string) => ({
  projectId: of,
  threadId: (await ok(s.call('POST', '/api/threads', { projectId: of }))).thread.id as string,
});
const newListener = async (fields: Record<string, unknown> = {}, types = ['tool.updated']): Promise<string> =>
  (
    await newAutomation(s, projectId, {
      trigger: { kind: 'event', types },
      overlap: 'allow',
      ...fields,
    })
  ).automation.id;

interface Published {
  type?:
    | 'tool.updated'
    | 'run.failed'
    | 'run.running'
    | 'run.completed'
    | 'thread.updated'
    | 'thread.deleted';
  threadId?: string | null;
  runId?: string | null;
  status?: string;
  of?: { projectId: string; threadId: string };
}

/** Publishes events, and has the reader take all that there is. Returns their ids. */
async function publish(...events: Published[]): Promise<string[]> {
  const { ctx } = s.service;
  const orgId = await orgOf();
  const ids = await transaction(ctx, async (tx) =>
    events.map(({ type = 'tool.updated', of = person, ...given }) => {
      const [resource, last] = type.split('.') as [string, string];
      const threadId = given.threadId ?? of.threadId;
      const runId = resource === 'thread' ? null : (given.runId ?? newId('run'));
      const id = { thread: threadId, run: runId, tool: newId('tool') }[resource];
      const data = { id, status: given.status ?? (last === 'updated' ? 'completed' : last) };
      return appendEvent(tx, { orgId, projectId: of.projectId, feed: 'direct', threadId, runId }, type, data);
    }),
  );
  await taken(ids.at(-1)!);
  return ids;
}
async function taken(eventId: string): Promise<void> {
  const { ctx } = s.service;
  await vi.waitFor(
    async () =>
      expect(
        await ctx.db.selectFrom('events').select('sequence').where('event_id', '=', eventId).execute(),
      ).toHaveLength(1),
    { timeout: 10_000 },
  );
  while (await takeBatch(ctx, automationsConsumer(ctx)));
}
const orgOf = async () =>
  (
    await s.service.ctx.db
      .selectFrom('projects')
      .select('org_id')
      .where('id', '=', projectId)
      .executeTakeFirstOrThrow()
  ).org_id;

const executionsOf = (id: string) =>
  s.service.ctx.db
    .selectFrom('executions')
    .selectAll()
    .where('automation_id', '=', id)
    .orderBy('id')
    .execute();
const made = async (id: string) =>
  (await executionsOf(id)).map((row) => [row.event_id, row.skipped_reason ?? row.status, row.depth]);

/** Begins what is queued, as a worker does: the execution has a thread then. */
async function begun(id: string) {
  const [row] = (await executionsOf(id)).filter(({ status }) => status === 'queued').slice(-1);
  await beginExecution(s.service.ctx, { fence: async () => {} }, row!);
  return (await findExecution(s.service.ctx.db, row!.id))!;
}

describe('an event', () => {
  test('creates one execution of each automation of its project with its type, in the log’s order', async () => {
    const other = await newThread(await newProject(s));
    const [one, both] = [await newListener(), await newListener({}, ['tool.updated', 'run.failed'])];
    const ids = await publish({}, { of: other }, { type: 'run.failed' }, {});
    expect(await made(one)).toEqual([ids[0], ids[3]].map((event) => [event, 'queued', 1]));
    expect(await made(both)).toEqual([ids[0], ids[2], ids[3]].map((event) => [event, 'queued', 1]));
    expect((await executionsOf(both))[1]).toMatchObject({
      kind: 'event',
      event_type: 'run.failed',
      event: { type: 'run.failed', data: { status: 'failed' }, threadId: person.threadId },
    });
  });

  test('creates none if the filter excludes it, if it is earlier, or while the automation is disabled', async () => {
    await publish({});
    const filter = [{ path: 'event.data.status', op: 'eq', value: 'failed' }];
    const [filtered, disabled] = [await newListener({ filter }), await newListener({ disabled: true })];
    const ids = await publish({}, { status: 'failed' });
    await ok(s.call('PATCH', `/api/automations/${disabled}`, { disabled: false }));
    const [last] = await publish({});
    expect(await made(filtered)).toEqual([[ids[1], 'queued', 1]]);
    expect(await made(disabled)).toEqual([[last, 'queued', 1]]);
  });

  test('creates none while the organization lacks automations, and none later', async () => {
    const id = await newListener();
    const { ctx } = s.service;
    const orgId = await orgOf();
    const without = (names: string[]) =>
      ctx.db.updateTable('organizations').set({ without: names }).where('id', '=', orgId).execute();
    await without(['automations']);
    await publish({});
    await without([]);
    await publish({ type: 'run.failed' });
    expect(await made(id)).toEqual([]);
  });

  test('of the automation’s own thread creates none; of another automation’s thread it adds one to the depth, up to three', async () => {
    const [one, two] = [await newListener(), await newListener()];
    let threadId: string | null = null;
    const words: unknown[] = [];
    for (const [maker, listener] of [
      [one, two],
      [two, one],
      [one, two],
      [two, one],
    ] as const) {
      if (threadId === null) await publish({});
      threadId = (await begun(maker)).thread_id;
      await publish({ threadId });
      const last = (await executionsOf(listener)).at(-1)!;
      words.push([last.skipped_reason ?? last.status, last.depth]);
      if (last.status === 'skipped') break;
    }
    expect(words).toEqual(
      [
        ['queued', 2],
        ['queued', 3],
        ['skipped', 4],
      ].map(([word, depth]) => [word === 'skipped' ? 'loop' : word, depth]),
    );
    // The first one's own threads made nothing more of it.
    expect([(await made(one)).length, (await made(two)).length]).toEqual([2, 3]);
  });

  test('of an execution counts like one of its thread, and a chain of two automations on each other ends', async () => {
    const types = ['automation.execution.updated'];
    const [one, two] = [await newListener({}, types), await newListener({}, types)];
    await newListener();
    await publish({});
    // Each round takes the events of the executions before it; the last one's make nothing more.
    for (let round = 0; round < 6; round++) await publish({ type: 'run.failed' });
    for (const id of [one, two])
      expect((await made(id)).map(([, ...rest]) => rest)).toEqual([
        ['queued', 2],
        ['queued', 3],
        ['loop', 4],
      ]);
  });
});

test('the end of a run or thread enqueues the job of its execution', async () => {
  const id = await newListener();
  await publish({});
  const { id: executionId, thread_id: threadId, run_id: runId } = await begun(id);
  const { ctx } = s.service;
  const jobs = () =>
    ctx.db.selectFrom('jobs').select('id').where('key', '=', `execution:${executionId}`).execute();
  await ctx.db.deleteFrom('jobs').where('key', '=', `execution:${executionId}`).execute();
  await publish({ type: 'run.running', threadId, runId });
  expect(await jobs()).toHaveLength(0);
  const ends: Published[] = [
    { type: 'run.completed', runId },
    { type: 'thread.updated', status: 'archived' },
    { type: 'thread.deleted', status: 'ready' },
  ];
  for (const [n, event] of ends.entries()) {
    await publish({ ...event, threadId });
    expect(await jobs()).toHaveLength(n + 1);
  }
});
