import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../db/database.ts';
import type { DatabaseHandle } from '../db/database.ts';
import { createTestDatabase } from '../db/database.fixture.ts';
import type { TestDatabase } from '../db/database.fixture.ts';
import { appendEvent, transaction } from '../db/transaction.ts';
import { newId } from '../ids.ts';
import { startTestServer } from '../service.fixture.ts';
import { auditLog } from './audit.fixture.ts';

let database: TestDatabase;
let handle: DatabaseHandle;
const [org, app, project] = [newId('org'), newId('prj'), newId('prj')];
beforeAll(async () => {
  database = await createTestDatabase();
  handle = openDatabase(database.connection, { max: 2 });
  await sql`insert into organizations (id, name) values (${org}, 'org')`.execute(handle.db);
  for (const [id, kind] of [
    [app, 'platform'],
    [project, 'direct'],
  ])
    await sql`insert into projects (org_id, id, kind, name) values (${org}, ${id}, ${kind}, 'name')`.execute(
      handle.db,
    );
});
afterAll(async () => {
  await handle?.close();
  await database?.drop();
});

interface Row {
  type: string;
  data: Record<string, unknown>;
  feed?: string;
  projectId?: string | null;
  threadId?: string | null;
  runId?: string | null;
}
const [threadId, runId] = [newId('thr'), newId('run')];
const RUN: Row = { type: 'run.queued', data: { id: runId, status: 'queued' }, threadId, runId };
const OPERATION: Row = {
  type: 'operation.updated',
  data: { id: newId('op'), status: 'succeeded' },
  feed: 'direct',
  projectId: null,
};

/** The audit's answer to an outbox with these events alone. */
async function audit(...rows: Row[]): Promise<string> {
  await sql`delete from outbox`.execute(handle.db);
  for (const row of rows) {
    const {
      type,
      data,
      feed = 'platform',
      projectId = app,
      threadId: thread = null,
      runId: run = null,
    } = row;
    await sql`insert into outbox (event_id, org_id, feed, type, project_id, thread_id, run_id, data) values (${newId('evt')}, ${org}, ${feed}, ${type}, ${projectId}, ${thread}, ${run}, ${JSON.stringify(data)}::jsonb)`.execute(
      handle.db,
    );
  }
  return auditLog(database.connection).then(
    () => 'passed',
    (error: Error) => error.message.split('\n').slice(1).join('\n'),
  );
}

test('what is as it must be passes, on both feeds', async () => {
  expect(
    await audit(RUN, { ...RUN, feed: 'direct', projectId: project }, OPERATION, {
      ...OPERATION,
      projectId: project,
    }),
  ).toBe('passed');
});

test.each<[string, Row]>([
  ['run.queued: data/content: is not a known field', { ...RUN, data: { ...RUN.data, content: 'a message' } }],
  ['run.queued: data/status: is required', { ...RUN, data: { id: runId } }],
  ['run.queued: data/status: must be one of queued', { ...RUN, data: { id: runId, status: 'running' } }],
  ['run.queued: runId: differs from data.id', { ...RUN, runId: newId('run') }],
  ['run.queued: threadId: is missing', { ...RUN, threadId: null }],
  ['run.queued: feed: direct, of a project that is platform', { ...RUN, feed: 'direct' }],
  ['run.queued: feed: platform, of a project that is direct', { ...RUN, projectId: project }],
  ['run.finished: type: there is none of this name', { ...RUN, type: 'run.finished' }],
  [
    'operation.updated: feed: receipts of an app are published nowhere',
    { ...OPERATION, feed: 'platform', projectId: app },
  ],
  [
    'checkpoint.created: data/id: must match pattern "^chk_[0-7][0-9a-hjkmnp-tv-z]{25}$"',
    { type: 'checkpoint.created', data: { id: 'chk_ the text of a message' }, threadId },
  ],
])('%s', async (fault, row) => {
  expect(await audit(RUN, row)).toBe(fault);
});

test('a test’s server says so at its end, published or not, and is gone all the same', async () => {
  const server = await startTestServer({ HEADRACE_ROLES: 'api' });
  const made = await server.call('POST', '/api/platform/v1/apps', { name: 'App' });
  const id = made.body.app.id as string;
  const data = {
    id,
    externalId: null,
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
    name: 'App',
  };
  const { rows } = await sql<{ org_id: string }>`select org_id from projects where id = ${id}`.execute(
    server.service.ctx.db,
  );
  await transaction(server.service.ctx, async (tx) => {
    appendEvent(
      tx,
      { orgId: rows[0]!.org_id, projectId: id, feed: 'platform' },
      'platform.app.updated',
      data,
    );
  });
  await expect(server.close()).rejects.toThrow('platform.app.updated: data/name: is not a known field');
  await expect(fetch(server.base)).rejects.toThrow('fetch failed');
});
