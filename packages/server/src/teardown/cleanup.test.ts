/** What is deleted goes: markers are planted wherever contents lie, and looked for in every table and object. */
import { randomUUID } from 'node:crypto';
import { CompiledQuery, sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { invited, newAccount, tenant } from '../accounts/callers.fixture.ts';
import type { Context } from '../context.ts';
import { CLEANUP_LOCK } from '../db/advisory-locks.ts';
import { json } from '../db/schema.ts';
import { newId } from '../ids.ts';
import { deleteOverReceipts } from '../receipts/store.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { ok, P } from '../threads/threads.fixture.ts';
import { cleanUp } from './cleanup.ts';

const DAY_MS = 86_400_000;
const RETENTION_MS = 7 * DAY_MS;

let s: TestServer;
let ctx: Context;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  ctx = s.service.ctx;
});
afterAll(async () => {
  await s?.close();
});

interface Column {
  table: string;
  column: string;
  type: string;
}

async function hasText({ table, column, type }: Column, text: string): Promise<boolean> {
  const place: RawBuilder<unknown> =
    type === 'bytea'
      ? sql`position(convert_to(${text}, 'UTF8') in ${sql.ref(column)})`
      : sql`strpos(${sql.ref(column)}::text, ${text})`;
  const { rows } = await sql`select from ${sql.table(table)} where ${place} > 0 limit 1`.execute(ctx.db);
  return rows.length > 0;
}

/** A round of the clean-up, and of the receipts, so long after now. */
async function cleanUpIn(ms: number): Promise<void> {
  const moved = { ...ctx, clock: { offsetMs: ms } };
  await cleanUp(moved);
  await deleteOverReceipts(moved, 10_000);
}

/**
 * `table.column` of the whole database in which the text is, and `objects of the store`. The log's own
 * retention is tested where it is.
 */
async function placesOf(text: string): Promise<string[]> {
  const { rows: columns } = await sql<Column>`
    select c.table_name as table, c.column_name as column, c.data_type as type from information_schema.columns c
    join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.data_type in ('text', 'jsonb', 'bytea', 'ARRAY') and c.table_name not like 'events%'`.execute(
    ctx.db,
  );
  const found: string[] = [];
  const hex = Buffer.from(text).toString('hex');
  for (const [table, own] of Object.entries(Object.groupBy(columns, (column) => column.table))) {
    const whole = sql`${sql.ref(table)}::text`;
    const { rows } =
      await sql`select from ${sql.table(table)} where strpos(${whole}, ${text}) > 0 or strpos(${whole}, ${hex}) > 0 limit 1`.execute(
        ctx.db,
      );
    if (rows.length)
      for (const column of own!) if (await hasText(column, text)) found.push(`${table}.${column.column}`);
  }
  for await (const { key } of ctx.store.list(''))
    if ((await ctx.store.get(key)).includes(text)) found.push('objects of the store');
  return [...new Set(found)].sort();
}

interface Planted {
  key: string;
  appId: string;
  threadId: string;
  /** Of what a thread holds, of its app, and of its app's sources and builds. */
  marks: { thread: string; app: string; stored: string };
}

/** An app with a thread of everything that holds contents. */
async function plant(key: string): Promise<Planted> {
  const id = randomUUID();
  const marks = { thread: `T${id}`, app: `A${id}`, stored: `S${id}` };
  const call = (method: string, path: string, body: object, idem: string = randomUUID()) =>
    ok(s.call(method, path, body, { key, idem }));
  const { app } = await call('POST', `${P}/apps`, {
    name: marks.app,
    externalId: marks.app,
    metadata: { a: marks.app },
  });
  const at = `${P}/apps/${app.id}`;
  await call('PATCH', `${at}/settings`, {
    approvals: [{ tool: 'sh', pattern: marks.app, decision: 'ask' }],
  });
  const { source } = await call('POST', `${at}/sources`, {
    files: [{ path: `${marks.stored}.txt`, content: marks.stored }],
    message: marks.stored,
  });
  await call('POST', `${at}/source-head/initialize`, { sourceId: source.id });
  const { thread } = await call('POST', `${at}/threads`, { title: marks.thread });
  const { thread: building } = await call('POST', `${at}/threads`, { title: marks.thread });
  const { run } = await call('POST', `${at}/threads/${thread.id}/messages`, {
    content: marks.thread,
    attachments: [
      { mediaType: 'text/plain', data: Buffer.from(`...${marks.thread}`).toString('base64') },
      { mediaType: `text/${marks.thread}`, data: '' },
    ],
  });
  await call('POST', `${at}/threads/${thread.id}/previews`, { command: marks.thread, port: 3000 });
  await call('POST', `${at}/previews`, { command: marks.app, port: 3000 });
  await call('POST', `${at}/builds`, { command: marks.stored, outputDirectory: '.' });
  const { build } = await call('POST', `${at}/threads/${building.id}/builds`, {
    command: marks.stored,
    outputDirectory: '.',
  });
  await call('POST', '/api/tasks', {
    projectId: app.id,
    title: marks.app,
    trackerIssueUrl: `https://tracker.example.com/${marks.app}`,
  });
  const { automation } = await call('POST', '/api/automations', {
    projectId: app.id,
    name: marks.app,
    prompt: marks.app,
    trigger: { kind: 'webhook', defaults: { projectSlug: marks.app } },
    filter: [{ path: 'payload.a', op: 'eq', value: marks.app }],
    modelId: marks.app,
  });
  await plantExecution(automation.id, marks.app);
  await plantRows({ threadId: thread.id, runId: run.id, buildId: build.id, marks });
  return { key, appId: app.id, threadId: thread.id, marks };
}

/** An execution that has ended, with the hook that led to it. */
async function plantExecution(automationId: string, mark: string): Promise<void> {
  const { db } = ctx;
  const automation = await db
    .updateTable('automations')
    .set({ base_branch: mark })
    .where('id', '=', automationId)
    .returning(['org_id', 'project_id'])
    .executeTakeFirstOrThrow();
  await db
    .insertInto('executions')
    .values({
      ...automation,
      id: newId('exe'),
      automation_id: automationId,
      kind: 'webhook',
      delivery_id: mark,
      status: 'failed',
      overlap_key: 'k',
      depth: 1,
      payload: json({ a: mark }),
      event: json({ type: 'run.failed', data: { a: mark }, threadId: null, runId: null }),
      mapped: json({ trackerIssueUrl: mark }),
      opening: json({ title: mark }),
      error_message: mark,
      finished_at: new Date(),
    })
    .execute();
  await db.insertInto('hook_deliveries').values({ automation_id: automationId, delivery_id: mark }).execute();
}

/** What only agents and workers write. */
async function plantRows(at: {
  threadId: string;
  runId: string;
  buildId: string;
  marks: Planted['marks'];
}): Promise<void> {
  const { threadId, runId, buildId, marks } = at;
  const { db } = ctx;
  const thread = await db
    .selectFrom('threads')
    .selectAll()
    .where('id', '=', threadId)
    .executeTakeFirstOrThrow();
  const own = { org_id: thread.org_id, thread_id: threadId };
  const [mark, n] = [marks.thread, randomUUID()];
  await db
    .updateTable('threads')
    .set({
      metadata: json({ a: mark }),
      initialization_error_message: mark,
      tracker_issue_url: mark,
      error_tracker_issue: json({ a: mark }),
      execution_target: json({ model: mark } as never),
      task_id: (q) => q.selectFrom('tasks').select('id').where('project_id', '=', thread.project_id),
    })
    .where('id', '=', threadId)
    .execute();
  await db
    .updateTable('runs')
    .set({
      prompt: mark,
      error_message: mark,
      warnings: json([{ path: mark, reason: 'symlink' }]),
      model_failure: json({ code: 'model_error' as const, message: mark, count: 1 }),
    })
    .where('id', '=', runId)
    .execute();
  await db
    .insertInto('tools')
    .values({
      ...own,
      id: `tool_${n}`,
      run_id: runId,
      call_id: mark,
      name: 'sh',
      title: mark,
      status: 'completed',
      input: json({ command: mark }),
      output: mark,
      first_event_id: 'evt_1',
    })
    .execute();
  await db
    .insertInto('approvals')
    .values({
      ...own,
      id: `apr_${n}`,
      run_id: runId,
      tool_id: `tool_${n}`,
      request_id: n,
      title: mark,
      status: 'approved',
      expires_at: new Date(),
    })
    .execute();
  await db
    .insertInto('remembered_decisions')
    .values({ ...own, tool: 'sh', command: mark, allow: true })
    .execute();
  await sql`insert into drafts (org_id, thread_id, message_id, run_id, revision, content) values (${own.org_id}, ${own.thread_id}, 'msg_1', ${runId}, 1, ${mark})`.execute(
    db,
  );
  await db
    .insertInto('inherited_messages')
    .values({ ...own, position: 1, message_id: 'msg_1', role: 'user', content: mark })
    .execute();
  await db
    .insertInto('execs')
    .values({
      ...own,
      id: `exe_${n}`,
      project_id: thread.project_id,
      operation_id: `op_${n}`,
      request_id: 'r',
      command: mark,
      timeout_seconds: 1,
      status: 'completed',
    })
    .execute();
  await db
    .insertInto('applies')
    .values({
      ...own,
      id: `apl_${n}`,
      project_id: thread.project_id,
      listed: true,
      sequence: 7,
      conflict_resolution: 'agent',
      repairs: json([
        {
          runId,
          headSourceId: 'src_1',
          revision: 1,
          startedAt: '',
          error: mark,
          report: { status: 'unresolved' as const, summary: mark, checks: [mark] },
        },
      ]),
      resolutions: json([{ path: mark, take: 'head' as const }]),
      conflicts: json([mark]),
      draft_source_id: 'src_1',
      status: 'conflicted',
      error: `unresolved: ${mark}`,
      created_by: 'sa_1',
    })
    .execute();
  await db
    .insertInto('repair_candidates')
    .values({ org_id: thread.org_id, apply_id: `apl_${n}`, run_id: runId, manifest: Buffer.from(mark) })
    .execute();
  await db
    .insertInto('build_logs')
    .values({ org_id: thread.org_id, build_id: buildId, journal_offset: 1, content: marks.stored })
    .execute();
}

const OF_A_THREAD = [
  'applies.conflicts',
  'applies.error',
  'applies.repairs',
  'applies.resolutions',
  'approvals.title',
  'drafts.content',
  'execs.command',
  'inherited_messages.content',
  'messages.attachment_sizes',
  'messages.attachments',
  'messages.content',
  'operations.response',
  'previews.command',
  'remembered_decisions.command',
  'repair_candidates.manifest',
  'runs.error_message',
  'runs.model_failure',
  'runs.prompt',
  'runs.warnings',
  'threads.error_tracker_issue',
  'threads.execution_target',
  'threads.initialization_error_message',
  'threads.metadata',
  'threads.title',
  'threads.tracker_issue_url',
  'tools.call_id',
  'tools.input',
  'tools.output',
  'tools.title',
];
const OF_AN_APP = [
  'automations.base_branch',
  'automations.filter',
  'automations.model_id',
  'automations.name',
  'automations.prompt',
  'automations.trigger',
  'executions.delivery_id',
  'executions.error_message',
  'executions.event',
  'executions.mapped',
  'executions.opening',
  'executions.payload',
  'hook_deliveries.delivery_id',
  'operations.response',
  'previews.command',
  'projects.external_id',
  'projects.metadata',
  'projects.name',
  'projects.settings',
  'tasks.identifier',
  'tasks.title',
  'tasks.tracker_issue_url',
];
const OF_SOURCES = [
  'build_logs.content',
  'builds.command',
  'objects of the store',
  'operations.response',
  'sources.manifest',
  'sources.message',
];

describe('seven days after its deletion', () => {
  test('nothing holds the contents of a thread; its sources and builds, and what usage counts, stay', async () => {
    const { key, appId, threadId, marks } = await plant(s.key);
    const kept = (await plant(s.key)).marks.thread;
    expect(await placesOf(marks.thread)).toEqual(OF_A_THREAD);
    const usage = () => ok(s.call('GET', '/api/usage?groupBy=thread&limit=200'));
    const before = await usage();
    await ok(s.call('DELETE', `${P}/apps/${appId}/threads/${threadId}`, undefined, { key }));
    const { threads } = await ok(s.call('GET', `${P}/apps/${appId}/threads`));
    await ok(s.call('DELETE', `${P}/apps/${appId}/threads/${threads[0].id}`, undefined, { key }));
    await cleanUpIn(RETENTION_MS - DAY_MS);
    expect(await placesOf(marks.thread)).toEqual(
      expect.arrayContaining(['applies.repairs', 'messages.content', 'threads.title', 'tools.output']),
    );
    await cleanUpIn(RETENTION_MS + 2 * 3_600_000);
    expect(await placesOf(marks.thread)).toEqual([]);
    expect(await placesOf(marks.stored)).toEqual(
      OF_SOURCES.filter((place) => !place.startsWith('operations')),
    );
    expect(await placesOf(kept)).toEqual(OF_A_THREAD.filter((place) => !place.startsWith('operations')));
    expect(await usage()).toEqual(before);
    expect((await s.call('GET', `${P}/apps/${appId}/source-head`)).status).toBe(200);
  });

  test('nothing holds the contents of an app', async () => {
    const { key, appId, marks } = await plant(s.key);
    expect(await placesOf(marks.app)).toEqual(OF_AN_APP);
    expect(await placesOf(marks.stored)).toEqual(OF_SOURCES);
    await ok(s.call('DELETE', `${P}/apps/${appId}`, undefined, { key }));
    await sql`update objects set delete_after = now() where project_id = ${appId}`.execute(ctx.db);
    await cleanUpIn(RETENTION_MS + 2 * 3_600_000);
    for (const mark of Object.values(marks)) expect(await placesOf(mark)).toEqual([]);
    expect(await Array.fromAsync(ctx.store.list(`projects/${appId}/`))).toEqual([]);
    // What was purged is not looked for again.
    const { purged_at: purgedAt } = await ctx.db
      .selectFrom('projects')
      .select('purged_at')
      .where('id', '=', appId)
      .executeTakeFirstOrThrow();
    expect(purgedAt).toBeInstanceOf(Date);
  });

  test('nothing holds the contents of an organization, and whom it invited', async () => {
    const { cookie, organization } = await tenant(s);
    const owner = await invited(s, cookie, 'owner');
    const { key } = await newAccount(s, owner.cookie, { name: `N${organization.id}` });
    const { marks, appId } = await plant(key);
    const mail = `${randomUUID()}@example.test`;
    await ok(s.call('POST', '/api/members', { email: mail, role: 'member' }, { cookie: owner.cookie }));
    await ok(
      s.call(
        'PATCH',
        '/api/settings',
        { approvals: [{ tool: 'sh', pattern: `N${organization.id}`, decision: 'ask' }] },
        { cookie: owner.cookie },
      ),
    );
    await ok(s.call('DELETE', `/api/organizations/${organization.id}`, undefined, { cookie: owner.cookie }));
    await sql`update objects set delete_after = now() where project_id = ${appId}`.execute(ctx.db);
    await cleanUpIn(RETENTION_MS + 2 * 3_600_000);
    for (const mark of [...Object.values(marks), mail, `N${organization.id}`])
      expect([mark, await placesOf(mark)]).toEqual([mark, []]);
  });
});

test("a deleted webhook's rows go in the next round, all of them; another's stay", async () => {
  const call = (method: string, path: string, body?: object) => ok(s.call(method, path, body));
  const subscribe = async () => {
    const { subscription } = await call('POST', '/api/webhooks', { url: 'https://x.example/', types: ['*'] });
    await sql`insert into webhook_deliveries (org_id, id, subscription_id, event_id, event_type, event, next_attempt_at)
      select org_id, id || n, id, 'evt_1', 'run.failed', '{}', now() from webhook_subscriptions, generate_series(1, 1100) n
      where id = ${subscription.id}`.execute(ctx.db);
    return subscription.id as string;
  };
  const [gone, kept] = [await subscribe(), await subscribe()];
  await call('DELETE', `/api/webhooks/${gone}`);
  await cleanUp(ctx);
  const left = async (id: string) => {
    const { rows } = await sql<{ deliveries: number; subscriptions: number }>`
      select (select count(*) from webhook_deliveries where subscription_id = ${id}) as deliveries,
        (select count(*) from webhook_subscriptions where id = ${id}) as subscriptions`.execute(ctx.db);
    return rows[0];
  };
  expect(await left(gone)).toEqual({ deliveries: 0, subscriptions: 0 });
  expect(await left(kept)).toEqual({ deliveries: 1100, subscriptions: 1 });
});

test('executions that ended 90 days ago go, and hooks of seven days ago; open ones and younger ones stay', async () => {
  const projectId = (await ok(s.call('POST', '/api/projects', { name: 'p' }))).project.id as string;
  const trigger = { kind: 'webhook' };
  const { automation } = await ok(
    s.call('POST', '/api/automations', { projectId, name: 'n', prompt: 'p', trigger }),
  );
  const id = automation.id as string;
  await sql`insert into executions (org_id, id, automation_id, project_id, kind, status, overlap_key, depth, created_at, finished_at)
    select org_id, id || n, id, project_id, 'webhook', case n when 3 then 'running' else 'completed' end, 'k', 1,
      now() - case n when 1 then 89 else 91 end * interval '1 day', case n when 3 then null else now() end
    from automations, generate_series(1, 3) n where id = ${id}`.execute(ctx.db);
  await sql`insert into hook_deliveries (automation_id, delivery_id, created_at)
    select ${id}, n, now() - n * interval '1 day' from generate_series(6, 8) n`.execute(ctx.db);
  await cleanUp(ctx);
  const left = async (table: 'executions' | 'hook_deliveries', column: 'id' | 'delivery_id') =>
    (
      await ctx.db
        .selectFrom(table)
        .select(sql<string>`replace(${sql.ref(column)}, ${id}, '')`.as('n'))
        .where('automation_id', '=', id)
        .orderBy(column)
        .execute()
    ).map(({ n }) => n);
  expect([await left('executions', 'id'), await left('hook_deliveries', 'delivery_id')]).toEqual([
    ['1', '3'],
    ['6'],
  ]);
});

test('one process at a time removes rows, and all threads that are due in one round', async () => {
  const [{ org_id: orgId, id: projectId }] = (await ctx.db
    .selectFrom('projects')
    .select(['org_id', 'id'])
    .execute()) as [{ org_id: string; id: string }];
  const ids = Array.from({ length: 201 }, () => newId('thr'));
  await ctx.db
    .insertInto('threads')
    .values(
      ids.map((id) => ({
        org_id: orgId,
        id,
        project_id: projectId,
        listed: true,
        title: 'x',
        status: 'ready' as const,
        initialization_state: 'completed' as const,
        created_by: 'x',
        deleted_at: new Date(0),
      })),
    )
    .execute();
  const titled = async () =>
    (
      await ctx.db
        .selectFrom('threads')
        .select('id')
        .where('id', 'in', ids)
        .where('title', 'is not', null)
        .execute()
    ).length;
  const rival = new pg.Client({ connectionString: ctx.config.databaseUrl! });
  await rival.connect();
  await rival.query('select pg_advisory_lock($1)', [CLEANUP_LOCK]);
  await cleanUp(ctx);
  expect(await titled()).toBe(ids.length);
  await rival.query('select pg_advisory_unlock($1)', [CLEANUP_LOCK]);
  await rival.end();
  await cleanUp(ctx);
  expect(await titled()).toBe(0);
});

test('every step finds its rows by an index, however many others there are', async () => {
  const { appId, threadId } = await plant(s.key);
  const { db } = ctx;
  const many = sql`generate_series(1, 20000) n`;
  await sql`insert into threads (org_id, id, project_id, status, initialization_state, created_by) select org_id, 'thr_' || n, project_id, 'ready', 'completed', 'sa_1' from threads, ${many} where id = ${threadId}`.execute(
    db,
  );
  await sql`insert into runs (org_id, id, project_id, thread_id, reply_message_id, kind, agent, model_id, status, created_by) select org_id, 'run_' || n, project_id, 'thr_' || n, 'msg_' || n, 'message', 'scripted', 'scripted', 'completed', 'sa_1' from threads, ${many} where id = ${threadId}`.execute(
    db,
  );
  await sql`insert into messages (org_id, id, thread_id, role, content, sequence) select org_id, 'msg_' || n, 'thr_' || n, 'user', 'c', 1 from threads, ${many} where id = ${threadId}`.execute(
    db,
  );
  await sql`insert into tools (org_id, id, thread_id, run_id, call_id, name, status, first_event_id) select org_id, 'tool_' || n, 'thr_' || n, 'run_' || n, 'c', 'sh', 'completed', 'e' from threads, ${many} where id = ${threadId}`.execute(
    db,
  );
  await sql`insert into approvals (org_id, id, thread_id, run_id, tool_id, request_id, title, status, expires_at) select org_id, 'apr_' || n, 'thr_' || n, 'run_' || n, 'tool_' || n, 'r', 't', 'approved', now() from threads, ${many} where id = ${threadId}`.execute(
    db,
  );
  await sql`insert into applies (org_id, id, project_id, thread_id, sequence, conflict_resolution, draft_source_id, status, created_by) select org_id, 'apl_' || n, project_id, 'thr_' || n, 100 + n, 'manual', 's', 'applied', 'sa_1' from threads, ${many} where id = ${threadId}`.execute(
    db,
  );
  await sql`insert into execs (org_id, id, project_id, thread_id, operation_id, request_id, command, timeout_seconds, status) select org_id, 'exe_' || n, project_id, 'thr_' || n, 'o', 'r', 'c', 1, 'completed' from threads, ${many} where id = ${threadId}`.execute(
    db,
  );
  await sql`insert into sources (org_id, id, project_id, origin, sha256, byte_size, file_count, manifest) select org_id, 'src_' || n, project_id, 'import', '', 0, 0, '' from threads, ${many} where id = ${threadId}`.execute(
    db,
  );
  await sql`analyze`.execute(db);
  const { key, appId: gone } = await plant(s.key);
  await ok(s.call('DELETE', `${P}/apps/${gone}`, undefined, { key }));
  const statements: CompiledQuery[] = [];
  const watched = db.withPlugin({
    transformQuery({ node, queryId }) {
      statements.push(db.getExecutor().compileQuery(node, queryId));
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  await cleanUp({ ...ctx, db: watched, clock: { offsetMs: RETENTION_MS + DAY_MS } });
  expect(statements.length).toBeGreaterThan(20);
  const large = /Seq Scan on (threads|runs|messages|tools|approvals|applies|execs|sources)\b/;
  const slow: string[] = [];
  for (const statement of statements) {
    const { rows } = await db.executeQuery<{ 'QUERY PLAN': string }>(
      CompiledQuery.raw(`explain ${statement.sql}`, [...statement.parameters]),
    );
    if (rows.some((row) => large.test(row['QUERY PLAN']))) slow.push(statement.sql);
  }
  expect(slow).toEqual([]);
  expect((await s.call('GET', `${P}/apps/${appId}`)).status).toBe(200);
});
