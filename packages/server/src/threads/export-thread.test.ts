import { readdirSync, readlinkSync, statSync } from 'node:fs';
import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { tenant } from '../accounts/callers.fixture.ts';
import { newThread, record } from '../pull-requests/records.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { ok } from './threads.fixture.ts';

const MIB = 1024 * 1024;

let s: TestServer;
let client: pg.Client;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  client = await connect();
  await client.query('set session_replication_role = replica');
});
afterAll(async () => {
  await client?.end();
  await s?.close();
});

async function connect(): Promise<pg.Client> {
  const made = new pg.Client({ connectionString: s.service.ctx.config.databaseUrl! });
  await made.connect();
  return made;
}

/** A thread with `runs` turns. Each has a question, an answer of that many bytes, two tools and a checkpoint. */
async function talk(runs: number, bytes: number, known?: string): Promise<string> {
  const thread = known ?? (await newThread(s));
  const id = (prefix: string, n: string) =>
    `'${prefix}_' || lpad((${n})::text, 6, '0') || right('${thread}', 20)`;
  const fill = (table: string, columns: string, rows: number, values: string) =>
    client.query(
      `insert into ${table} (org_id, thread_id, ${columns}) select t.org_id, t.id, ${values} from threads t, generate_series(1, ${rows}) n where t.id = '${thread}'`,
    );
  await fill(
    'runs',
    'id, project_id, reply_message_id, kind, agent, model_id, status, created_by, created_at, finished_at',
    runs,
    `${id('run', 'n')}, t.project_id, 'x', 'message', 'x', 'x', 'completed', 'x', now(), now()`,
  );
  await fill(
    'messages',
    'id, run_id, role, content, sequence, attachments',
    2 * runs,
    `${id('msg', 'n')}, ${id('run', '(n + 1) / 2')}, case n % 2 when 1 then 'user' else 'assistant' end,
      case n % 2 when 1 then 'Go on: ' || n else repeat(md5(n::text), ${bytes} / 32) end, n,
      case n % 2 when 1 then '[{"mediaType": "text/plain", "data": "c2VjcmV0"}]'::jsonb end`,
  );
  await fill(
    'tools',
    'id, run_id, call_id, name, title, status, output, first_event_id',
    2 * runs,
    `${id('tool', 'n')}, ${id('run', '(n + 1) / 2')}, n::text, 'sh', case n % 2 when 1 then E'npm\\ntest ' || n end, 'completed', 'ok', 'x'`,
  );
  await fill(
    'checkpoints',
    'id, run_id, source_id, kind',
    runs,
    `${id('chk', 'n')}, ${id('run', 'n')}, 'x', 'run'`,
  );
  return thread;
}

const pathOf = (thread: string, format = 'json') => `/api/threads/${thread}/export?format=${format}`;

async function listed(path: string, plural: string): Promise<{ id: string }[]> {
  const items: { id: string }[] = [];
  for (let cursor = ''; ;) {
    const body = await ok(s.call('GET', `${path}?limit=200${cursor}`));
    items.push(...body[plural]);
    if (!body.hasMore) return items.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    cursor = `&cursor=${encodeURIComponent(body.nextCursor)}`;
  }
}

describe('200', () => {
  test('JSON has everything in a thread, in the format of its own operations, oldest first', async () => {
    const thread = await talk(3, 64);
    const at = `/api/threads/${thread}`;
    const closed = await record(s.service.ctx, thread, { state: 'closed', body: 'First.' });
    const open = await record(s.service.ctx, thread, { number: 8 }, { enabled: true });
    const answer = await s.call('GET', `${at}/export`);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="${thread}.json"`);
    const runs = await listed(`${at}/runs`, 'runs');
    expect(answer.body).toEqual({
      ok: true,
      export: {
        formatVersion: 1,
        thread: (await ok(s.call('GET', at))).thread,
        messages: await listed(`${at}/messages`, 'messages'),
        runs,
        tools: (await Promise.all(runs.map(({ id }) => listed(`${at}/runs/${id}/tools`, 'tools')))).flat(),
        checkpoints: await listed(`${at}/checkpoints`, 'checkpoints'),
        pullRequests: await Promise.all(
          [closed, open].map(
            async (id) => (await ok(s.call('GET', `${at}/pull-requests/${id}`))).pullRequest,
          ),
        ),
      },
    });
    expect([runs.length, answer.body.export.tools.length, answer.body.export.pullRequests[0].body]).toEqual([
      3,
      6,
      'First.',
    ]);
    expect(answer.text).not.toContain('c2VjcmV0');
    expect((await s.call('GET', pathOf(thread))).body).toEqual(answer.body);
  });

  test('Markdown has the messages with their times, and the tools after their answer', async () => {
    const thread = await talk(2, 32);
    await ok(s.call('PATCH', `/api/threads/${thread}`, { title: 'Two\nlines' }));
    const { messages } = (await ok(s.call('GET', pathOf(thread)))).export;
    const [asked, first, , second] = messages as { role: string; createdAt: string; content: string }[];
    const answer = await s.call('GET', pathOf(thread, 'markdown'));
    expect(answer.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="${thread}.md"`);
    expect(answer.text).toBe(`# Two lines

## user (${asked!.createdAt})

Go on: 1

## assistant (${first!.createdAt})

${first!.content}

- npm test 1 (completed)
- sh (completed)

## user (${asked!.createdAt})

Go on: 3

## assistant (${second!.createdAt})

${second!.content}

- npm test 3 (completed)
- sh (completed)
`);
    await ok(s.call('PATCH', `/api/threads/${thread}`, { title: null }));
    expect((await s.call('GET', pathOf(thread, 'markdown'))).text.split('\n')[0]).toBe('# Thread');
  });
});

test('404 for an unknown thread, and 400 for an unknown format', async () => {
  expect((await s.call('GET', pathOf('thr_01k9x3v5e8f7arh2m4t6w8y0zb'))).body.error.code).toBe(
    'thread_not_found',
  );
  for (const [query, path] of [
    ['format=pdf', '/query/format'],
    ['format=', '/query/format'],
    ['version=1', '/query/version'],
  ])
    expect((await s.call('GET', `/api/threads/x/export?${query!}`)).body.error.fields[0].path).toBe(path);
});

/** A response whose body is not read yet. */
const begin = (path: string) =>
  new Promise<IncomingMessage>((resolve, reject) => {
    get(s.base + path, { headers: { 'x-api-key': s.key } }, resolve).on('error', reject);
  });

/** The states of the service's connections that hold a transaction. */
async function transactions(): Promise<string[]> {
  const { rows } = await client.query<{ wait_event_type: string | null }>(
    `select wait_event_type from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null and application_name <> 'lock'`,
  );
  return rows.map((row) => row.wait_event_type ?? '');
}

const prefix = () => join(s.service.ctx.config.dataDir, 'spool-');

/** The files in which responses are kept, with their sizes. */
const openFiles = () =>
  readdirSync('/proc/self/fd').flatMap((fd) => {
    const path = `/proc/self/fd/${fd}`;
    try {
      return readlinkSync(path).startsWith(prefix()) ? [statSync(path).size] : [];
    } catch {
      // It was just closed.
      return [];
    }
  });

const leftFiles = () => readdirSync(s.service.ctx.config.dataDir).filter((name) => name.startsWith('spool-'));

describe('of a long thread', () => {
  test.each(['json', 'markdown'])(
    'a caller of %s that does not read yet holds no connection',
    async (format) => {
      const thread = await talk(40, 256 * 1024);
      const answer = await begin(pathOf(thread, format));
      expect(answer.statusCode).toBe(200);
      expect([await transactions(), leftFiles()]).toEqual([[], []]);
      let bytes = 0;
      for await (const chunk of answer as AsyncIterable<Buffer>) bytes += chunk.length;
      expect(bytes).toBeGreaterThan(10 * MIB);
    },
  );

  test.each(['json', 'markdown'])('for %s, little of what is read is not yet in the file', async (format) => {
    const thread = await talk(200, 64 * 1024);
    let [read, most] = [0, 0];
    const { query } = pg.Client.prototype as { query: (...args: unknown[]) => unknown };
    const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(async function (
      this: pg.Client,
      ...args: unknown[]
    ) {
      const result = (await query.apply(this, args)) as { rows: { content?: string }[] } | undefined;
      const page = (result?.rows ?? []).flatMap(({ content }) => (content === undefined ? [] : [content]));
      read += page.join('').length;
      if (page.length) most = Math.max(most, read - (openFiles()[0] ?? 0));
      return result;
    });
    onTestFinished(() => spy.mockRestore());
    expect((await s.call('GET', pathOf(thread, format))).status).toBe(200);
    expect(read).toBeGreaterThan(12 * MIB);
    expect(most).toBeLessThan(3 * MIB);
  });

  test('an organization has at most eight that are not downloaded yet', async () => {
    const thread = await talk(48, 256 * 1024);
    const { cookie } = await tenant(s);
    const other = { cookie };
    const { project } = await ok(s.call('POST', '/api/projects', { name: 'n' }, other));
    const { thread: theirs } = await ok(s.call('POST', '/api/threads', { projectId: project.id }, other));
    await talk(48, 256 * 1024, theirs.id);
    const begun: IncomingMessage[] = [];
    onTestFinished(() => begun.forEach((answer) => answer.destroy()));
    const all = Array.from({ length: 16 }, async () => begun.push(await begin(pathOf(thread))));
    await vi.waitFor(() => expect(begun.length).toBeGreaterThanOrEqual(8), { timeout: 25_000, interval: 5 });
    // Other organizations have their own limit. This takes longer than a ninth response would.
    for (let n = 0; n < 2; n++) await ok(s.call('GET', pathOf(theirs.id), undefined, other));
    // The kernel may take a whole response, whose file is closed then.
    expect(openFiles().length).toBeLessThanOrEqual(8);
    // Each that is given up lets another one begin.
    let gone = 0;
    const isOver = Promise.all(all);
    while (gone < 16) {
      await vi.waitFor(() => expect(begun.length).toBeGreaterThan(gone), { timeout: 25_000, interval: 5 });
      begun[gone++]!.destroy();
      expect(openFiles().length).toBeLessThanOrEqual(8);
    }
    await isOver;
  });

  test('the read stops when the caller disconnects', async () => {
    const thread = await talk(3, 64);
    const [messages, checkpoints] = [await lock('messages'), await lock('checkpoints')];
    try {
      const request = get(s.base + pathOf(thread), { headers: { 'x-api-key': s.key } }).on('error', () => {});
      await vi.waitFor(async () => expect(await transactions()).toEqual(['Lock']), { timeout: 10_000 });
      request.destroy();
      await messages.end();
      // A read that continued would wait for the checkpoints.
      await vi.waitFor(async () => expect(await transactions()).toEqual([]), { timeout: 10_000 });
      expect(leftFiles()).toEqual([]);
    } finally {
      await checkpoints.end();
    }
  });
});

async function lock(table: string): Promise<pg.Client> {
  const made = await connect();
  await made.query("set application_name = 'lock'");
  await made.query(`begin; lock table ${table} in access exclusive mode`);
  return made;
}
