import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { createClient } from '../client.ts';
import { sha256 } from './sha256.ts';
import { createTestService } from './index.ts';
import type { TestServiceOptions } from './index.ts';

const FENCE = '```';
const file = (path: string, text: string) => `${FENCE}file ${path}\n${text}\n${FENCE}\n`;
const sh = (command: string) => `${FENCE}sh\n${command}\n${FENCE}\n`;

function bench(options: TestServiceOptions = {}) {
  const service = createTestService(options);
  const { url: baseUrl, key, fetch } = service;
  return { service, headrace: createClient({ baseUrl, key, fetch }) };
}

async function shop(options: TestServiceOptions = {}) {
  const { service, headrace } = bench(options);
  const app = await headrace.apps.create({ name: 'Shop' });
  const files = [{ path: 'index.html', content: 'one\n' }];
  const { source } = await headrace.sources.import(app.id, { files });
  await headrace.head.initialize(app.id, { sourceId: source.id });
  return { service, headrace, appId: app.id, sourceId: source.id };
}

const codeOf = (promise: PromiseLike<unknown>) =>
  Promise.resolve(promise).then(
    () => 'no error',
    (error: { code?: string; name: string }) => error.code ?? error.name,
  );

test('the way of a draft: message, run, apply, build, through the client', async () => {
  const { service, headrace, appId } = await shop();
  service.buildNext({ log: 'built\n', files: { 'main.js': 'done' } });
  const message = { content: file('index.html', 'two') };
  const { thread, run } = await headrace.threads.create(appId, { message });
  expect(run?.status).toBe('queued');
  await service.idle();
  const { latestSourceId } = await headrace.threads.get(appId, thread.id);
  const apply = await headrace.applies.create(appId, thread.id, { expectedSourceId: latestSourceId! }).done();
  expect([apply.status, apply.resultSourceId]).toEqual(['applied', latestSourceId]);
  const input = { command: 'npm run build', outputDirectory: 'dist' };
  const build = await headrace.builds.create(appId, thread.id, input).done();
  expect([build.status, build.fileCount]).toEqual(['ready', 1]);
  expect((await headrace.builds.logs(appId, build.id)).text).toBe('built\n');
  const artifact = await headrace.builds.artifact(appId, build.id);
  expect(createHash('sha256').update(artifact).digest('hex')).toBe(build.artifactSha256);
});

test('an app builds its head, or any source, without a thread', async () => {
  const { service, headrace, appId } = await shop();
  const { thread } = await headrace.threads.create(appId);
  const input = { command: 'make', outputDirectory: 'dist' };
  const build = await headrace.builds.createOfApp(appId, input).done();
  const { headSourceId } = await headrace.apps.get(appId);
  expect([build.status, build.threadId, build.sourceId]).toEqual(['ready', null, headSourceId]);
  const ofThread = await headrace.builds.create(appId, thread.id, input).done();
  const ids = async (filter: Parameters<typeof headrace.builds.listOfApp>[1]) =>
    (await headrace.builds.listOfApp(appId, filter)).items.map(({ id }) => id);
  expect(await ids({})).toEqual([ofThread.id, build.id]);
  expect(await ids({ threadId: 'none', status: 'queued,ready' })).toEqual([build.id]);
  expect(await ids({ threadId: thread.id, sourceId: headSourceId! })).toEqual([ofThread.id]);
  service.pause();
  const open = await headrace.builds.createOfApp(appId, input);
  expect((await headrace.threads.get(appId, thread.id)).blockedOn).toEqual([]);
  expect((await headrace.builds.cancel(appId, open.id)).status).toBe('failed');
  const { events } = await headrace.events.list({ appId, types: ['platform.build.failed'] });
  expect(events.map(({ threadId, data }) => [threadId, data.id])).toEqual([[null, open.id]]);
  service.resume();
});

test('ids and, with a clock of its own, all answers are the same in each run', async () => {
  const run = async () => {
    const { headrace, appId } = await shop({ now: () => 1_800_000_000_000 });
    const { run: first } = await headrace.threads.create(appId, { message: { content: sh('echo a') } });
    return [first, (await headrace.events.list({ appId })).events];
  };
  expect(await run()).toEqual(await run());
});

test('a write with a lost answer happens once, with one key', async () => {
  const { service, headrace } = bench();
  service.failNext('apps.create', { code: 'network', when: 'after', times: 2 });
  const app = await headrace.apps.create({ name: 'Shop' });
  expect((await headrace.apps.list({ query: 'sho' })).items).toEqual([app]);
  expect((await headrace.apps.list({ query: 'other' })).items).toEqual([]);
  const writes = service.requests.filter(({ operation }) => operation === 'apps.create');
  expect(new Set(writes.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
  expect(writes).toHaveLength(3);
  expect((await headrace.operations.find(writes[0]!.idempotencyKey!))?.status).toBe('succeeded');
});

test('a failure before the write leaves no trace, and has the code that was asked for', async () => {
  const { service, headrace } = bench();
  service.failNext('apps.create', { code: 'external_id_taken', message: 'taken' });
  expect(await codeOf(headrace.apps.create({ name: 'Shop' }))).toBe('external_id_taken');
  expect((await headrace.apps.list()).items).toEqual([]);
});

test('a delayed answer can be aborted', async () => {
  const { service, headrace } = bench();
  service.delayNext('apps.list', 60_000);
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(headrace.apps.list({ signal })).rejects.toThrow('enough');
  service.delayNext('apps.list', 60_000);
  expect(await codeOf(headrace.apps.list({ timeoutMs: 20 }))).toBe('network_error');
});

test('held work keeps a thread busy until it continues or is stopped', async () => {
  const { service, headrace, appId } = await shop();
  service.pause();
  const { thread, run } = await headrace.threads.create(appId, { message: { content: sh('echo a') } });
  const decision = { expectedSourceId: thread.latestSourceId! };
  expect(await codeOf(headrace.applies.create(appId, thread.id, decision))).toBe('thread_busy');
  await headrace.messages.send(appId, thread.id, { content: sh('echo b') });
  await headrace.runs.stop(appId, thread.id);
  service.resume();
  await service.idle();
  const runs = (await headrace.runs.list(appId, thread.id)).items;
  expect(runs.map(({ id, status }) => [id === run!.id, status])).toEqual([
    [false, 'cancelled'],
    [true, 'cancelled'],
  ]);
});

test('with approvals, a command waits for its answer', async () => {
  const { service, headrace, appId } = await shop({ approvals: 'ask' });
  const { thread, run } = await headrace.threads.create(appId, { message: { content: sh('echo a') } });
  await service.idle();
  expect(await headrace.threads.get(appId, thread.id)).toMatchObject({ status: 'waiting' });
  const [approval] = (await headrace.approvals.list(appId, thread.id)).items;
  await headrace.approvals.answer(appId, thread.id, approval!.id, { decision: 'deny' });
  await service.idle();
  expect(await headrace.runs.get(appId, thread.id, run!.id)).toMatchObject({ status: 'failed' });
  expect(
    await codeOf(headrace.approvals.answer(appId, thread.id, approval!.id, { decision: 'approve' })),
  ).toBe('approval_resolved');
});

test("the test's own shell works on the draft", async () => {
  const shell = (command: string, files: Map<string, string>) => {
    if (!command.startsWith('make')) return undefined;
    files.set('made.txt', 'made');
    return { output: 'made 1 file\n' };
  };
  const { headrace, appId } = await shop({ shell });
  const content = sh('make') + sh('unknown');
  const { thread } = await headrace.threads.create(appId);
  const run = await headrace.messages.send(appId, thread.id, { content }).done();
  expect(run.error?.message).toBe('Block 2 (sh) failed: `unknown` ended with exit code 127');
  const made = await headrace.messages.send(appId, thread.id, { content: sh('make') }).done();
  expect(await headrace.sources.file(appId, made.resultSourceId!, { path: 'made.txt' })).toMatchObject({
    content: 'made',
  });
});

test('a head that another draft moved makes a conflict, which a decision resolves', async () => {
  const { service, headrace, appId } = await shop();
  const { thread } = await headrace.threads.create(appId);
  const run = await headrace.messages.send(appId, thread.id, { content: file('index.html', 'mine') }).done();
  const head = service.moveHead(appId, { 'index.html': 'theirs' });
  const expectedSourceId = run.resultSourceId!;
  const manual = { expectedSourceId, conflictResolution: 'manual' as const };
  const first = await headrace.applies.create(appId, thread.id, manual).done();
  expect([first.status, first.conflicts]).toEqual(['conflicted', ['index.html']]);
  const resolutions = [{ path: 'index.html', take: 'head' as const }];
  const decision = { expectedSourceId, expectedHeadSourceId: head, resolutions };
  expect(await headrace.applies.create(appId, thread.id, decision).done()).toMatchObject({
    status: 'applied',
    resultSourceId: head,
  });
});

test('a stream continues after a cut, and is reset when its cursor has expired', async () => {
  const { service, headrace, appId } = await shop();
  const cursor = await headrace.events.head({ appId });
  await headrace.apps.update(appId, { name: 'One' });
  const seen: string[] = [];
  for await (const item of headrace.events.stream({ appId }, { cursor })) {
    if (item.kind === 'event') seen.push(item.event.type);
    if (item.kind === 'reset') seen.push(item.code);
    if (seen.length === 1) {
      service.dropStreams();
      await headrace.apps.update(appId, { name: 'Two' });
    } else if (seen.length === 2) service.expireCursors();
    else if (seen.length === 3) await headrace.apps.update(appId, { name: 'Three' });
    else if (seen.length === 4) await headrace.apps.delete(appId);
  }
  const updated = 'platform.app.updated';
  expect(seen).toEqual([updated, updated, 'cursor_expired', updated, 'platform.app.deleted']);
});

test('what it does not have is refused clearly, not invented', async () => {
  const { headrace, appId, sourceId } = await shop();
  for (const call of [headrace.usage.read(), headrace.sources.diff(appId, sourceId, { base: sourceId })])
    await expect(call).rejects.toMatchObject({ status: 501, code: 'not_configured' });
  const diff = headrace.sources.diff(appId, sourceId, { base: sourceId, path: ['a'] });
  await expect(diff).rejects.toThrow('query parameter path of sources.diff');
});

test('SHA-256 matches the standard', () => {
  for (const length of [0, 1, 55, 56, 63, 64, 65, 1000, 70_000]) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 31) % 256);
    expect(sha256(bytes)).toBe(createHash('sha256').update(bytes).digest('hex'));
  }
});
