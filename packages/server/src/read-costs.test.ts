/**
 * What reads cost PostgreSQL does not grow with what is stored beside their answer: their statements are run
 * again by EXPLAIN, and the pages that they touch are counted, in a small and in a large neighbourhood.
 */
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startTestServer } from './service.fixture.ts';
import type { TestServer } from './service.fixture.ts';

const P = '/api/platform/v1';
/** Pages that a deeper index and a fuller table may cost more. */
const SLACK = 30;

let s: TestServer;
let client: pg.Client;
let orgId: string;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  client = new pg.Client({ connectionString: s.service.ctx.config.databaseUrl! });
  await client.connect();
  await client.query('set enable_seqscan = off; set session_replication_role = replica');
  const created = await s.call('POST', `${P}/apps`, { name: 'x' });
  orgId = (
    await client.query<{ org_id: string }>('select org_id from projects where id = $1', [created.body.app.id])
  ).rows[0]!.org_id;
  await grow(1, 20);
  await grow(2, 20_000);
  await client.query('vacuum analyze');
});
afterAll(async () => {
  // Each event of the log has to be a real one.
  await client?.query('delete from events where sequence > 100000');
  await client?.end();
  await s?.close();
});

const idOf = (prefix: string, app: number, n: number | string = 0) =>
  `${prefix}_0${app}${String(n).padStart(24, '0')}`;
const id = (prefix: string, app: number, n: string) => `'${prefix}_0${app}' || lpad((${n})::text, 24, '0')`;

/** An app with one thread that had `count` runs, questions and events, and a tenth as many other threads. */
async function grow(app: number, count: number): Promise<void> {
  const fill = (table: string, columns: string, rows: number, values: string) =>
    client.query(
      `insert into ${table} (org_id, ${columns}) select '${orgId}', ${values} from generate_series(1, ${rows}) n`,
    );
  const thread = idOf('thr', app);
  await fill('projects', 'id, kind, name', 1, `'${idOf('prj', app)}', 'platform', 'x'`);
  for (const [rows, threadId] of [
    [1, `'${thread}'`],
    [count / 10, id('thr', app, 'n')],
  ] as const)
    await fill(
      'threads',
      'id, project_id, status, initialization_state, created_by',
      rows,
      `${threadId}, '${idOf('prj', app)}', 'waiting', 'completed', 'x'`,
    );
  await fill(
    'runs',
    'id, project_id, thread_id, reply_message_id, kind, agent, model_id, status, created_by, finished_at',
    count,
    `${id('run', app, 'n')}, '${idOf('prj', app)}', '${thread}', 'x', 'message', 'x', 'x', 'completed', 'x', now()`,
  );
  await fill(
    'messages',
    'id, thread_id, role, content, sequence',
    count,
    `${id('msg', app, 'n')}, '${thread}', 'user', 'x', n`,
  );
  await fill(
    'tools',
    'id, thread_id, run_id, call_id, name, status, first_event_id',
    count,
    `${id('tool', app, 'n')}, '${thread}', '${idOf('run', app, 1)}', n::text, 'sh', 'completed', 'x'`,
  );
  await fill(
    'approvals',
    'id, thread_id, run_id, tool_id, request_id, title, status, expires_at',
    count,
    `${id('apr', app, 'n')}, '${thread}', ${id('run', app, 'n')}, 'x', 'x', 'x', 'denied', now()`,
  );
  await fill(
    'tasks',
    'id, project_id, identifier, title, created_by',
    count,
    `${id('task', app, 'n')}, '${idOf('prj', app)}', 'T-' || n, 'x', 'x'`,
  );
  await fill(
    'events',
    'sequence, event_id, feed, type, project_id, thread_id, data, occurred_at, published_at',
    count,
    `${app} * 100000 + n, ${id('evt', app, 'n')}, 'platform', case n when 3 then 'checkpoint.created' else 'run.queued' end, '${idOf('prj', app)}', '${thread}', '{}', now(), now()`,
  );
  await fill(
    'webhook_subscriptions',
    'id, url, types, secret_sealed, after_sequence, created_by',
    1,
    `'${idOf('wh', app)}', 'https://x.example', '{*}', '', 0, 'x'`,
  );
  await fill(
    'webhook_deliveries',
    'id, subscription_id, event_id, event_type, event, status, finished_at',
    count,
    `${id('whd', app, 'n')}, '${idOf('wh', app)}', 'x', 'run.queued', '{}', 'succeeded', now()`,
  );
}

interface Plan {
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
}

/** The pages that a read's statements touch. */
async function pagesOf(path: string): Promise<number> {
  // Once before, for the caller's own look-up.
  await s.call('GET', path);
  const statements: { text: string; values: unknown[] }[] = [];
  const query = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
    this: pg.Client,
    ...args: unknown[]
  ) {
    const [first, values] = args as [string | { text: string; values: unknown[] }, unknown[]];
    statements.push(typeof first === 'string' ? { text: first, values } : first);
    return Reflect.apply(original, this, args) as never;
  });
  try {
    const { status, text } = await s.call('GET', path);
    expect(status, text).toBe(200);
  } finally {
    query.mockRestore();
  }
  // Those of the service's background work name none of the path's ids.
  const ids = path.match(/\w+_0\w{25}/g)!;
  const reads = statements.filter(({ values }) =>
    ids.some((one) => JSON.stringify(values ?? []).includes(one)),
  );
  expect(reads.length).toBeGreaterThan(0);
  let pages = 0;
  for (const { text, values } of reads) {
    // The first one also reads the catalog.
    await client.query(text, values ?? []);
    const explained = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
      `explain (analyze, buffers, format json) ${text}`,
      values ?? [],
    );
    const plan = explained.rows[0]!['QUERY PLAN'][0].Plan;
    pages += plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
  }
  return pages;
}
const original = pg.Client.prototype.query;

test.each([
  ['a thread', (app: number) => `${P}/apps/${idOf('prj', app)}/threads/${idOf('thr', app)}`],
  ["an app's threads", (app: number) => `${P}/apps/${idOf('prj', app)}/threads?limit=2`],
  [
    "a thread's runs",
    (app: number) => `${P}/apps/${idOf('prj', app)}/threads/${idOf('thr', app)}/runs?limit=10`,
  ],
  [
    "a thread's approvals",
    (app: number) => `${P}/apps/${idOf('prj', app)}/threads/${idOf('thr', app)}/approvals?limit=10`,
  ],
  ["a page of an app's feed", (app: number) => `${P}/apps/${idOf('prj', app)}/events?limit=10`],
  [
    "a page of a rare type of an app's feed",
    (app: number) => `${P}/apps/${idOf('prj', app)}/events?types=checkpoint.created`,
  ],
  [
    'a page of types that an app never had',
    (app: number) => `${P}/apps/${idOf('prj', app)}/events?types=run.failed,run.waiting`,
  ],
  [
    "a page of an app's feed, backwards",
    (app: number) => `${P}/apps/${idOf('prj', app)}/events?order=desc&limit=10`,
  ],
  [
    "a page of a rare type of an app's feed, backwards",
    (app: number) => `${P}/apps/${idOf('prj', app)}/events?order=desc&types=checkpoint.created`,
  ],
  [
    "a page of a thread's messages, newest first",
    (app: number) => `${P}/apps/${idOf('prj', app)}/threads/${idOf('thr', app)}/messages?order=desc&limit=10`,
  ],
  [
    "a page of a run's tools, newest first",
    (app: number) =>
      `${P}/apps/${idOf('prj', app)}/threads/${idOf('thr', app)}/runs/${idOf('run', app, 1)}/tools?order=desc&limit=10`,
  ],
  ["a page of a project's tasks", (app: number) => `/api/tasks?projectId=${idOf('prj', app)}&limit=10`],
  [
    "a page of a project's tasks of a status",
    (app: number) => `/api/tasks?projectId=${idOf('prj', app)}&status=open&limit=10`,
  ],
  [
    "a page of a webhook's deliveries of a status and type",
    (app: number) =>
      `/api/webhooks/${idOf('wh', app)}/deliveries?status=succeeded&eventType=run.queued&limit=10`,
  ],
])('%s', async (_, path) => {
  const [small, large] = [await pagesOf(path(1)), await pagesOf(path(2))];
  expect(large, `${small} pages in the small app`).toBeLessThan(small * 1.5 + SLACK);
});
