/**
 * What reads cost PostgreSQL does not grow with what is stored beside their answer: their statements are run
 * again by EXPLAIN, and the pages that they touch are counted, in a small and in a large neighbourhood.
 */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { newAccount, signedIn, tenant } from './accounts/callers.fixture.ts';
import { startTestServer } from './service.fixture.ts';
import type { TestServer } from './service.fixture.ts';

const P = '/api/platform/v1';
/** Pages that a deeper index and a fuller table may cost more. */
const SLACK = 30;

let s: TestServer;
let client: pg.Client;
let orgId: string;
/** Another organization, with little of everything. */
let small: { orgId: string; key: string };
/** Of the large organization, each for one of its apps. */
let restricted: Record<number, string>;
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
  const { cookie, organization } = await tenant(s);
  small = { orgId: organization.id, key: (await newAccount(s, cookie)).key };
  await growLists(small.orgId, 3, 20);
  // What lists of apps skip: all of it is newer than what they have.
  await growLists(orgId, 4, 20_000, 'direct');
  const owner = await signedIn(s);
  const keyOf = async (app: number): Promise<string> =>
    (await newAccount(s, owner, { projectIds: [idOf('prj', app)] })).key;
  restricted = { 1: await keyOf(1), 2: await keyOf(2) };
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

const fill = (org: string, table: string, columns: string, [rows, values]: [number, string]) =>
  client.query(
    `insert into ${table} (org_id, ${columns}) select '${org}', ${values} from generate_series(1, ${rows}) n`,
  );

/** A project with one thread that had `count` applies, builds and previews, and a tenth as many other threads. */
async function growLists(
  org: string,
  app: number,
  count: number,
  kind: 'platform' | 'direct' = 'platform',
): Promise<void> {
  const thread = idOf('thr', app);
  const listed = kind === 'platform';
  await fill(org, 'projects', 'id, kind, name', [1, `'${idOf('prj', app)}', '${kind}', 'x'`]);
  for (const [rows, threadId] of [
    [1, `'${thread}'`],
    [count / 10, id('thr', app, 'n')],
  ] as const)
    await fill(org, 'threads', 'id, project_id, listed, status, initialization_state, title, created_by', [
      rows,
      `${threadId}, '${idOf('prj', app)}', ${listed}, case n when 2 then 'failed' else 'waiting' end, 'completed', 'Title', 'x'`,
    ]);
  const ofThread = `'${idOf('prj', app)}', '${thread}', ${listed}`;
  await fill(
    org,
    'applies',
    'id, project_id, thread_id, listed, sequence, conflict_resolution, draft_source_id, status, created_by',
    [
      count,
      `${id('apl', app, 'n')}, ${ofThread}, n, 'agent', 'x', case n when 3 then 'conflicted' else 'applied' end, 'x'`,
    ],
  );
  await fill(
    org,
    'builds',
    'id, project_id, thread_id, listed, source_id, command, output_directory, timeout_seconds, status, created_by',
    [
      count,
      `${id('bld', app, 'n')}, ${ofThread}, 'x', 'x', 'x', 1, case n when 3 then 'failed' else 'ready' end, 'x'`,
    ],
  );
  await fill(org, 'previews', 'id, project_id, thread_id, listed, status, token, command, port, created_by', [
    count,
    `${id('prv', app, 'n')}, ${ofThread}, case n when 3 then 'failed' else 'stopped' end, ${id('t', app, 'n')}, 'x', 1, 'x'`,
  ]);
  await fill(
    org,
    'operations',
    'id, actor_id, idempotency_key, fingerprint, method, path, permissions, published, status',
    [count, `${id('op', app, 'n')}, 'sa_${app}', 'key ' || n, '', 'POST', '/', '{}', false, 'succeeded'`],
  );
}

/** An app with also as many runs, questions, tasks, events and deliveries. */
async function grow(app: number, count: number): Promise<void> {
  await growLists(orgId, app, count);
  const thread = idOf('thr', app);
  await fill(
    orgId,
    'runs',
    'id, project_id, thread_id, reply_message_id, kind, agent, model_id, status, created_by, finished_at',
    [
      count,
      `${id('run', app, 'n')}, '${idOf('prj', app)}', '${thread}', 'x', 'message', 'x', 'x', 'completed', 'x', now()`,
    ],
  );
  await fill(orgId, 'messages', 'id, thread_id, role, content, sequence', [
    count,
    `${id('msg', app, 'n')}, '${thread}', 'user', 'x', n`,
  ]);
  await fill(orgId, 'tools', 'id, thread_id, run_id, call_id, name, status, first_event_id', [
    count,
    `${id('tool', app, 'n')}, '${thread}', '${idOf('run', app, 1)}', n::text, 'sh', 'completed', 'x'`,
  ]);
  await fill(orgId, 'approvals', 'id, thread_id, run_id, tool_id, request_id, title, status, expires_at', [
    count,
    `${id('apr', app, 'n')}, '${thread}', ${id('run', app, 'n')}, 'x', 'x', 'x', 'denied', now()`,
  ]);
  await fill(orgId, 'tasks', 'id, project_id, identifier, title, created_by', [
    count,
    `${id('task', app, 'n')}, '${idOf('prj', app)}', 'T-' || n, 'x', 'x'`,
  ]);
  await fill(
    orgId,
    'events',
    'sequence, event_id, feed, type, project_id, thread_id, data, occurred_at, published_at',
    [
      count,
      `${app} * 100000 + n, ${id('evt', app, 'n')}, 'platform', case n when 3 then 'checkpoint.created' else 'run.queued' end, '${idOf('prj', app)}', '${thread}', '{}', now(), now()`,
    ],
  );
  await fill(orgId, 'webhook_subscriptions', 'id, url, types, secret_sealed, after_sequence, created_by', [
    1,
    `'${idOf('wh', app)}', 'https://x.example', '{*}', '', 0, 'x'`,
  ]);
  await fill(
    orgId,
    'webhook_deliveries',
    'id, subscription_id, event_id, event_type, event, status, finished_at',
    [count, `${id('whd', app, 'n')}, '${idOf('wh', app)}', 'x', 'run.queued', '{}', 'succeeded', now()`],
  );
}

interface Plan {
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
}

/** The pages that a read's statements touch; `names` are ids that each of them names. */
async function pagesOf(
  path: string,
  { key = s.key, names = path.match(/\w+_0\w{25}/g)! }: { key?: string; names?: string[] } = {},
): Promise<number> {
  // Once before, for the caller's own look-up.
  await s.call('GET', path, undefined, { key });
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
    const { status, text } = await s.call('GET', path, undefined, { key });
    expect(status, text).toBe(200);
  } finally {
    query.mockRestore();
  }
  // Those of the service's background work name none of them.
  const reads = statements.filter(({ values }) =>
    names.some((name) => JSON.stringify(values ?? []).includes(name)),
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
  ["an app's builds", (app: number) => `${P}/apps/${idOf('prj', app)}/builds?limit=10`],
  ["an app's failed builds", (app: number) => `${P}/apps/${idOf('prj', app)}/builds?status=failed`],
  ["an app's builds without a thread", (app: number) => `${P}/apps/${idOf('prj', app)}/builds?threadId=none`],
  [
    "a thread's builds in its app",
    (app: number) => `${P}/apps/${idOf('prj', app)}/builds?limit=10&threadId=${idOf('thr', app)}`,
  ],
  [
    "an app's builds of a source that none has",
    (app: number) => `${P}/apps/${idOf('prj', app)}/builds?sourceId=${idOf('src', app)}`,
  ],
  [
    "an app's builds of a source that all have",
    (app: number) => `${P}/apps/${idOf('prj', app)}/builds?limit=10&sourceId=x`,
  ],
  ["an app's open previews", (app: number) => `${P}/apps/${idOf('prj', app)}/previews?status=starting,ready`],
  [
    "an app's previews without a thread",
    (app: number) => `${P}/apps/${idOf('prj', app)}/previews?threadId=none`,
  ],
  [
    "a Direct project's builds",
    (app: number) => `/api/projects/${idOf('prj', app === 1 ? 1 : 4)}/builds?limit=10`,
  ],
  ["an app's failed threads", (app: number) => `${P}/apps/${idOf('prj', app)}/threads?status=failed&limit=2`],
])('%s', async (_, path) => {
  const [before, large] = [await pagesOf(path(1)), await pagesOf(path(2))];
  expect(large, `${before} pages in the small app`).toBeLessThan(before * 1.5 + SLACK);
});

describe.each([
  ['applies?limit=10'],
  ['applies?limit=10&status=conflicted'],
  ['applies?limit=10&status=queued,failed'],
  ['builds?limit=10'],
  ['builds?limit=10&status=failed'],
  ['builds?limit=10&status=queued,building'],
  ['previews?limit=10'],
  ['previews?limit=10&status=failed'],
  ['threads?limit=2'],
  ['threads?limit=2&status=failed'],
  ['threads?limit=2&status=queued,running'],
  ['threads?limit=2&sort=activity'],
  ['threads?limit=2&sort=activity&status=failed'],
  ['threads?limit=2&query=titl'],
])('%s', (path) => {
  test('of all apps of an organization, next to Direct projects', async () => {
    const before = await pagesOf(`${P}/${path}`, { key: small.key, names: [small.orgId] });
    const large = await pagesOf(`${P}/${path}`, { names: [orgId] });
    expect(large, `${before} pages in the small organization`).toBeLessThan(before * 1.5 + SLACK);
  });

  test('of one app, asked for or by a restricted key', async () => {
    const of = async (app: number) => {
      const names = [idOf('prj', app)];
      return [
        await pagesOf(`${P}/${path}&appId=${names[0]}`, { names }),
        await pagesOf(`${P}/${path}`, { key: restricted[app]!, names }),
      ] as const;
    };
    const [before, large] = [await of(1), await of(2)];
    for (const [i, pages] of large.entries())
      expect(pages, `${before[i]} pages in the small app`).toBeLessThan(before[i]! * 1.5 + SLACK);
  });
});

test.each([
  ["an organization's apps by a part of their name", `${P}/apps?query=x&limit=1`],
  ["a key's receipts", '/api/operations?idempotencyKey=key%207'],
])('%s', async (_, path) => {
  const before = await pagesOf(path, { key: small.key, names: [small.orgId] });
  const large = await pagesOf(path, { names: [orgId] });
  expect(large, `${before} pages in the small organization`).toBeLessThan(before * 1.5 + SLACK);
});
