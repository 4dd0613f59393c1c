import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createClient } from '@headrace/client';
import { createTestService } from '@headrace/client/testing';
import { createBuilder } from '../backend/builder.js';
import { openDatabase } from '../backend/database.js';
import { followFeed } from '../backend/feed.js';
import { createHandler } from '../backend/handler.js';

const write = (path, text) => `\`\`\`file ${path}\n${text}\n\`\`\`\n`;

// One for all tests: it takes seconds to start.
const db = await openDatabase();
after(() => db.close());

async function bench() {
  await db.exec('truncate apps, activity, feed');
  const service = createTestService();
  const headrace = createClient({ baseUrl: service.url, key: service.key, fetch: service.fetch });
  const handler = createHandler(createBuilder({ headrace, db }), (request) => request.headers.get('x-user'));
  const ask = async (user, action, body, headers = {}) => {
    const options = body ? { method: 'POST', body: JSON.stringify(body) } : {};
    const response = await handler(new Request(`http://app.test/api/${action}`, { ...options, headers: { ...(user && { 'x-user': user }), 'idempotency-key': crypto.randomUUID(), ...headers } }));
    const text = await response.text();
    const isLines = response.headers.get('content-type').includes('ndjson');
    return { status: response.status, body: isLines ? text.trim().split('\n').map((line) => JSON.parse(line)) : JSON.parse(text) };
  };
  return { service, headrace, ask };
}

test('a prompt becomes a draft, a version and a build', async () => {
  const { service, ask } = await bench();
  const first = (await ask('ada', 'state')).body;
  assert.equal(first.app.externalId, 'ada');
  assert.equal(first.heads.length, 1);
  const { threadId } = (await ask('ada', 'prompt', { content: write('index.html', '<h1>Shop</h1>') })).body;
  const { body: items } = await ask('ada', `follow?thread=${threadId}`);
  assert.deepEqual(items.filter(({ kind }) => kind === 'message').map(({ message }) => message.role), ['user', 'assistant']);
  assert.equal(items.findLast(({ kind }) => kind === 'run').run.status, 'completed');
  await service.idle();
  const { draft } = (await ask('ada', 'state')).body;
  const apply = (await ask('ada', 'apply', { threadId, expectedSourceId: draft.latestSourceId })).body;
  assert.equal(apply.status, 'applied');
  const build = (await ask('ada', 'build', { threadId })).body;
  assert.equal(build.status, 'ready');
  assert.equal((await ask('ada', 'state')).body.heads.length, 2);
});

test('the same click twice has one effect', async () => {
  const { ask } = await bench();
  const click = () => ask('ada', 'prompt', { content: 'Hello' }, { 'idempotency-key': 'the-same-click-twice' });
  const [first, second] = [await click(), await click()];
  assert.equal(first.status, 200);
  assert.deepEqual(second.body, first.body);
});

test('refusals of the service reach the user with their code', async () => {
  const { service, ask } = await bench();
  const { threadId } = (await ask('ada', 'prompt', { content: write('index.html', 'a') })).body;
  await service.idle();
  const { app, heads, draft } = (await ask('ada', 'state')).body;
  const stale = await ask('ada', 'apply', { threadId, expectedSourceId: heads[0].sourceId });
  assert.deepEqual([stale.status, stale.body.code], [409, 'stale_source']);
  service.moveHead(app.id, { 'index.html': 'theirs' });
  const conflicted = await ask('ada', 'apply', { threadId, expectedSourceId: draft.latestSourceId });
  assert.deepEqual([conflicted.body.status, conflicted.body.conflicts], ['conflicted', ['index.html']]);
});

test('bad input, strangers and other sites are refused', async () => {
  const { ask } = await bench();
  const { threadId } = (await ask('ada', 'prompt', { content: 'Hello' })).body;
  const refused = async (...args) => {
    const { status, body } = await ask(...args);
    return `${status} ${body.code}`;
  };
  assert.equal(await refused(null, 'state'), '401 not_signed_in');
  assert.equal(await refused('bob', `follow?thread=${threadId}`), '404 thread_not_found');
  assert.equal(await refused('bob', 'build', { threadId }), '404 thread_not_found');
  assert.equal(await refused('ada', 'prompt', { content: ' ' }), '400 invalid_request');
  assert.equal(await refused('ada', 'prompt', { content: 'Hi' }, { 'idempotency-key': 'short' }), '400 invalid_request');
  assert.equal(await refused('ada', 'prompt', { content: 'Hi' }, { 'sec-fetch-site': 'cross-site' }), '403 forbidden');
  assert.equal(await refused('ada', 'toString', {}), '404 not_found');
});

test("a service that is away is 503; trouble with this server's own key is not the user's", async (t) => {
  const { service, ask } = await bench();
  t.mock.method(console, 'error', () => {});
  service.failNext('apps.list', { times: 10 });
  assert.equal((await ask('ada', 'state')).status, 503);
  const other = await bench();
  other.service.failNext('apps.list', { code: 'unauthorized', message: 'the key hrk_secret' });
  const { status, body } = await other.ask('ada', 'state');
  assert.equal(status, 502);
  assert.doesNotMatch(JSON.stringify(body), /hrk_/);
});

const until = async (isTrue) => {
  for (let left = 500; !(await isTrue()); left--) {
    if (!left) throw new Error('this does not come true');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};

test('each event is stored once, whenever the process dies', async () => {
  const { service, headrace } = await bench();
  const count = async (table) => (await db.query(`select count(*)::int as n from ${table}`)).rows[0].n;
  const started = new AbortController();
  await headrace.apps.create({ name: 'before' });
  const first = followFeed({ headrace, db, signal: started.signal }).catch(() => {});
  await until(async () => (await count('feed')) === 1);
  started.abort();
  await first;
  for (const name of ['a', 'b', 'c']) await headrace.apps.create({ name });

  // Dies twice at each event: in the middle of its transaction, and right after the commit.
  let transactions = 0;
  const dying = {
    query: (...args) => db.query(...args),
    async transaction(work) {
      const isBefore = transactions++ % 2 === 0;
      await db.transaction(async (tx) => {
        await work(tx);
        if (isBefore) throw new Error('killed');
      });
      throw new Error('killed');
    },
  };
  for (let i = 0; i < 6; i++) await assert.rejects(followFeed({ headrace, db: dying }), /killed/);
  assert.deepEqual([await count('apps'), await count('activity')], [4, 3]);

  // An expired cursor: everything is read again.
  service.expireCursors();
  await headrace.apps.create({ name: 'd' });
  const stop = new AbortController();
  const following = followFeed({ headrace, db, signal: stop.signal }).catch(() => {});
  await until(async () => (await count('apps')) === 5);
  stop.abort();
  await following;
});
