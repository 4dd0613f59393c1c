import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '@headrace/client';
import { createTestService } from '@headrace/client/testing';
import { applyDecisions, readConflicts } from '../conflicts.js';
import { partsOf, textOf } from '../parts.js';

const write = (path, text) => `\`\`\`file ${path}\n${text}\n\`\`\`\n`;

/** A draft in conflict with the head: in the test service, or in the real one that HEADRACE_URL and HEADRACE_KEY name. */
async function bench({ isReal = false } = {}) {
  const service = isReal ? null : createTestService();
  const headrace = isReal ? createClient({ baseUrl: process.env.HEADRACE_URL, key: process.env.HEADRACE_KEY }) : createClient({ baseUrl: service.url, key: service.key, fetch: service.fetch });
  const { id: appId } = await headrace.apps.create({ name: 'Shop' });
  const files = [{ path: 'a.txt', content: 'one\n' }, { path: 'b.txt', content: 'one\n' }];
  const { source } = await headrace.sources.import(appId, { files });
  await headrace.head.initialize(appId, { sourceId: source.id });
  const draft = async (content) => {
    const { thread } = await headrace.threads.create(appId);
    await headrace.messages.send(appId, thread.id, { content }).done();
    return thread.id;
  };
  const threadId = await draft(write('a.txt', 'mine') + write('b.txt', 'mine'));
  /** Another draft moves the head. */
  const moveHead = async (...changes) => {
    const other = await draft(changes.map(([path, text]) => write(path, text)).join(''));
    const { latestSourceId } = await headrace.threads.get(appId, other);
    await headrace.applies.create(appId, other, { expectedSourceId: latestSourceId }).done();
  };
  await moveHead(['a.txt', 'theirs'], ['b.txt', 'theirs']);
  const decide = (read, decisions, key = crypto.randomUUID()) => applyDecisions(headrace, { appId, threadId, ...read, decisions, key });
  const textAt = async (sourceId, path) => (await headrace.sources.file(appId, sourceId, { path })).content;
  return { service, headrace, appId, threadId, moveHead, read: () => readConflicts(headrace, appId, threadId), decide, textAt };
}

const { HEADRACE_KEY } = process.env;
for (const isReal of [false, true]) {
  const skip = isReal && !HEADRACE_KEY && 'set HEADRACE_URL and HEADRACE_KEY';
  const where = isReal ? 'with a real service' : 'with the test service';

  test(`one file from one side, the other with the user's own text, ${where}`, { skip }, async () => {
    const { read, decide, textAt } = await bench({ isReal });
    const found = await read();
    assert.deepEqual(found.files.map(({ path }) => path), ['a.txt', 'b.txt']);
    const parts = partsOf(found.files[0].merged);
    assert.deepEqual(parts, [{ head: 'theirs\n', draft: 'mine\n' }]);
    const content = textOf(parts, { 0: 'both' });
    const key = crypto.randomUUID();
    const decisions = [{ path: 'a.txt', content }, { path: 'b.txt', take: 'head' }];
    const apply = await decide(found, decisions, key);
    assert.equal(apply.status, 'applied');
    assert.equal(await textAt(apply.resultSourceId, 'a.txt'), 'theirs\nmine\n');
    assert.equal(await textAt(apply.resultSourceId, 'b.txt'), 'theirs\n');
    assert.deepEqual(await decide(found, decisions, key), apply);
  });

  test(`a head that has moved since the conflicts were read is decided on again, ${where}`, { skip }, async () => {
    const { read, decide, moveHead } = await bench({ isReal });
    const found = await read();
    await moveHead(['a.txt', 'newer']);
    const decisions = found.files.map(({ path }) => ({ path, take: 'draft' }));
    assert.deepEqual(await decide(found, decisions), { status: 'stale' });
    assert.equal((await decide(await read(), decisions)).status, 'applied');
  });
}

test('what else is wrong reaches the caller: a path that is not in conflict, a service that is away', async () => {
  const { service, read, decide } = await bench();
  const found = await read();
  await assert.rejects(decide(found, [{ path: 'none', take: 'head' }]), { code: 'invalid_request' });
  service.failNext('applies.preview', { times: 10 });
  await assert.rejects(read(), { code: 'unavailable' });
});

test('a merged text has its parts: agreed text, and conflicts that may hold lines like markers', () => {
  const content = 'a\n<<<<<<< head\nx\n=======\ny\n=======\nz\n>>>>>>> draft\nb\n<<<<<<< head\n=======\nnew\n>>>>>>> draft\n';
  const parts = partsOf({ content, regions: [{ fromLine: 2, toLine: 8 }, { fromLine: 10, toLine: 13 }] });
  assert.deepEqual(parts, [{ text: 'a\n' }, { head: 'x\n', draft: 'y\n=======\nz\n' }, { text: 'b\n' }, { head: '', draft: 'new\n' }]);
  assert.equal(textOf(parts, { 1: 'head' }), null);
  assert.equal(textOf(parts, { 1: 'head', 3: 'draft' }), 'a\nx\nb\nnew\n');
});
