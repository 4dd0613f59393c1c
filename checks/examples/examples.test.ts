/**
 * The examples with the service and the client of this checkout, without installing their dependencies:
 * `npm run test:examples` runs their own tests as a new user would.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '@headrace/client';
import type { Client } from '@headrace/client';
import { createTestDatabase } from '../../packages/server/src/db/database.fixture.ts';
import { openPool } from '../../packages/server/src/db/database.ts';
import { startTestServer } from '../../packages/server/src/service.fixture.ts';
import type { TestServer } from '../../packages/server/src/service.fixture.ts';

const EXAMPLES = join(import.meta.dirname, '../../examples');
/** Examples are plain JavaScript, without types. */
// oxlint-disable-next-line typescript/no-explicit-any
const load = (path: string): Promise<any> => import(join(EXAMPLES, path));
const file = (path: string, text: string) => `\`\`\`file ${path}\n${text}\n\`\`\`\n`;

let s: TestServer;
let headrace: Client;
beforeAll(async () => {
  s = await startTestServer();
  headrace = createClient({ baseUrl: s.base, key: s.key });
});
afterAll(() => s?.close());

test('best of N: the smallest change that builds is applied', async () => {
  const folder = join(EXAMPLES, 'best-of-n');
  const prompts = ['long', 'wrong', 'short'].map((name) => `prompts/${name}.md`);
  const child = spawn(process.execPath, ['main.js', ...prompts], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HEADRACE_URL: s.base, HEADRACE_KEY: s.key },
  });
  let text = '';
  for (const pipe of [child.stdout, child.stderr])
    pipe.setEncoding('utf8').on('data', (part) => (text += part));
  const code = await new Promise((resolve) => child.once('close', resolve));
  expect(text).toMatch(/^#3 +applied +2 lines.*\n#1 +built.*\n#2 +failed.*the build failed/m);
  expect(code).toBe(0);
});

/** An app with a draft that conflicts with the head in `a.txt`. */
async function conflict(): Promise<{ appId: string; threadId: string }> {
  const { id: appId } = await headrace.apps.create({ name: 'Shop' });
  const { source } = await headrace.sources.import(appId, { files: [{ path: 'a.txt', content: 'one\n' }] });
  await headrace.head.initialize(appId, { sourceId: source.id });
  const draftOf = async (content: string) => {
    const { thread } = await headrace.threads.create(appId);
    const run = await headrace.messages.send(appId, thread.id, { content }).done();
    return { threadId: thread.id, expectedSourceId: run.resultSourceId! };
  };
  const [mine, theirs] = [await draftOf(file('a.txt', 'mine')), await draftOf(file('a.txt', 'theirs'))];
  const { threadId, expectedSourceId } = theirs;
  await headrace.applies.create(appId, threadId, { expectedSourceId }).done();
  return { appId, threadId: mine.threadId };
}

test("conflict-ui: the user's own text is applied, and a repetition changes nothing", async () => {
  const { readConflicts, applyDecisions } = await load('conflict-ui/conflicts.js');
  const { partsOf, textOf } = await load('conflict-ui/parts.js');
  const place = await conflict();
  const read = await readConflicts(headrace, place.appId, place.threadId);
  const content = textOf(partsOf(read.files[0].merged), { 0: 'both' });
  const decision = { ...place, ...read, decisions: [{ path: 'a.txt', content }], key: 'by-hand' };
  const apply = await applyDecisions(headrace, decision);
  expect(apply.status).toBe('applied');
  const result = await headrace.sources.file(place.appId, apply.resultSourceId, { path: 'a.txt' });
  expect(result.content).toBe('theirs\nmine\n');
  expect(await applyDecisions(headrace, decision)).toEqual(apply);
});

test('app-builder: prompt, draft, version, build and undo, with the feed in a PostgreSQL database', async () => {
  const { createBuilder } = await load('app-builder/backend/builder.js');
  const { createHandler } = await load('app-builder/backend/handler.js');
  const { followFeed } = await load('app-builder/backend/feed.js');
  const { SCHEMA } = await load('app-builder/backend/schema.js');
  const database = await createTestDatabase();
  // One that the end of the database cuts off ends no process: a pool's end does not wait for its connections'.
  const pool = openPool(database.connection);
  const db = {
    query: pool.query.bind(pool),
    async transaction(work: (tx: pg.PoolClient) => Promise<void>) {
      const tx = await pool.connect();
      try {
        await tx.query('begin');
        await work(tx);
        await tx.query('commit');
      } finally {
        tx.release();
      }
    },
  };
  const stop = new AbortController();
  let following: Promise<unknown> = Promise.resolve();
  try {
    await pool.query(SCHEMA);
    following = followFeed({ headrace, db, signal: stop.signal }).catch(() => {});
    const template = join(EXAMPLES, 'app-builder/template');
    const handle = createHandler(createBuilder({ headrace, db, template }), () => 'ada');
    const ask = async (action: string, body?: object) => {
      const headers = { 'idempotency-key': crypto.randomUUID() };
      const init = body ? { method: 'POST', body: JSON.stringify(body) } : {};
      const response: Response = await handle(
        new Request(`http://app.test/api/${action}`, { ...init, headers }),
      );
      const text = await response.text();
      expect(response.status, text).toBe(200);
      return action.startsWith('follow') ? text : JSON.parse(text);
    };
    const { threadId } = await ask('prompt', { content: file('index.html', '<h1>Shop</h1>') });
    expect(await ask(`follow?thread=${threadId}`)).toContain('"completed"');
    const { draft } = await ask('state');
    const applied = await ask('apply', { threadId, expectedSourceId: draft.latestSourceId });
    expect(applied.status).toBe('applied');
    expect((await ask('build', { threadId })).status).toBe('ready');
    const { heads } = await ask('state');
    expect((await ask('undo', { sourceId: heads[0].sourceId })).status).toBe('applied');
    await expect
      .poll(async () => (await ask('state')).activity.map(({ type }: { type: string }) => type).toSorted(), {
        timeout: 20_000,
      })
      .toEqual([
        'platform.app.created',
        'platform.apply.applied',
        'platform.apply.applied',
        'platform.build.ready',
        'platform.head.updated',
        'platform.head.updated',
        'platform.head.updated',
        'run.completed',
        'run.completed',
      ]);
  } finally {
    stop.abort();
    await following;
    await pool.end();
    await database.drop();
  }
});
