/**
 * What the test service promises to do like the real one, as calls with assertions on their answers. The same
 * scenario runs against both.
 */
import { createHash, randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Answer, Wire } from './wire.ts';

const ROOT = '/api/platform/v1';
const FENCE = '```';
export const file = (path: string, text: string) => `${FENCE}file ${path}\n${text}${FENCE}\n`;
export const sh = (command: string) => `${FENCE}sh\n${command}\n${FENCE}\n`;
const hashOf = (text: string | Buffer) => createHash('sha256').update(text).digest('hex');
const refused = ({ status, body }: Answer) => `${status} ${body.error?.code ?? ''}`.trim();
const pathsOf = ({ body }: Answer) => (body.error?.fields ?? []).map((field: { path: string }) => field.path);

const FILES = [
  { path: 'index.html', content: '<h1>Shop</h1>\n' },
  { path: 'src/app.js', content: 'one\ntwo\nthree\n' },
];

interface Shop {
  app: string;
  sourceId: string;
  at: string;
}

export interface Scenario {
  name: string;
  run(wire: Wire): Promise<void>;
}

async function newShop({ call }: Wire, externalId?: string): Promise<Shop> {
  const { body } = await call('POST', `${ROOT}/apps`, { name: 'Shop', ...(externalId && { externalId }) });
  const at = `${ROOT}/apps/${body.app.id}`;
  const imported = await call('POST', `${at}/sources`, { files: FILES });
  const sourceId = imported.body.source.id as string;
  await call('POST', `${at}/source-head/initialize`, { sourceId });
  return { app: body.app.id, sourceId, at };
}

/** Creates a thread and waits for its first run to end. */
async function newThread({ call }: Wire, { at }: Shop, content: string) {
  const { body } = await call('POST', `${at}/threads`, { message: { content } });
  const place = `${at}/threads/${body.thread.id}`;
  const { run } = (await call('GET', `${place}/runs/${body.run.id}?waitSeconds=30`)).body;
  const { thread } = (await call('GET', place)).body;
  return { id: thread.id as string, place, run, thread };
}

/** Creates an apply and waits for it to end. */
async function apply({ call }: Wire, { at }: Shop, place: string, decision: object) {
  const key = randomUUID();
  const queued = await call('POST', `${place}/apply`, { ...decision, clientOperationId: key }, { key });
  if (queued.status !== 202) return queued;
  return call('GET', `${at}/applies/${queued.body.apply.id}?waitSeconds=30`);
}

async function apps(wire: Wire): Promise<void> {
  const { call } = wire;
  const path = `${ROOT}/apps`;
  const input = { name: 'Shop', externalId: 'user-1', metadata: { plan: 'free' } };
  const made = await call('POST', path, input, { key: 'make' });
  expect(made.status).toBe(201);
  const { app } = made.body;
  expect(app).toMatchObject({ ...input, projectId: app.id, headSourceId: null, version: 1 });
  const again = await call('POST', path, input, { key: 'make' });
  expect([again.status, again.body, again.headers.get('idempotent-replayed')]).toEqual([
    201,
    made.body,
    'true',
  ]);
  const receipt = await call('GET', `/api/operations/${made.headers.get('x-operation-id')}`);
  expect(receipt.body.operation).toMatchObject({
    idempotencyKey: 'make',
    status: 'succeeded',
    response: made.body,
  });
  expect(refused(await call('POST', path, { name: 'Other' }, { key: 'make' }))).toBe(
    '409 idempotency_conflict',
  );
  expect(refused(await call('POST', path, input))).toBe('409 external_id_taken');
  expect(refused(await call('POST', path, input, { key: null }))).toBe('400 idempotency_key_required');
  expect(pathsOf(await call('POST', path, { colour: 'red' }))).toEqual(
    expect.arrayContaining(['/name', '/colour']),
  );
  expect(refused(await call('GET', path, undefined, { apiKey: 'hrk_wrong' }))).toBe('401 unauthorized');
  expect((await call('GET', `${path}?externalId=user-1`)).body.apps).toEqual([app]);
  const change = { name: 'Store', expectedVersion: 1 };
  expect((await call('PATCH', `${path}/${app.id}`, change)).body.app).toMatchObject({
    name: 'Store',
    version: 2,
  });
  const stale = await call('PATCH', `${path}/${app.id}`, change);
  expect([refused(stale), stale.body.error.current]).toEqual(['409 version_conflict', { version: 2 }]);
  await call('POST', path, { name: 'Second' });
  const first = await call('GET', `${path}?limit=1`);
  expect(first.body).toMatchObject({ apps: [{ name: 'Second' }], hasMore: true });
  const rest = await call('GET', `${path}?cursor=${encodeURIComponent(first.body.nextCursor)}`);
  expect(rest.body.apps.map(({ name }: { name: string }) => name)).toContain('Store');
  expect(refused(await call('GET', `${path}?cursor=none`))).toBe('400 invalid_cursor');
  expect(pathsOf(await call('GET', `${path}?limit=0`))).toEqual(['/query/limit']);
  expect((await call('DELETE', `${path}/${app.id}`)).body.app.deletedAt).not.toBeNull();
  expect(refused(await call('GET', `${path}/${app.id}`))).toBe('404 app_not_found');
}

async function sources({ call }: Wire): Promise<void> {
  const { body } = await call('POST', `${ROOT}/apps`, { name: 'Shop' });
  const at = `${ROOT}/apps/${body.app.id}`;
  expect(refused(await call('GET', `${at}/source-head`))).toBe('409 head_not_initialized');
  expect(refused(await call('POST', `${at}/threads`, {}))).toBe('409 head_not_initialized');
  const { source, warnings } = (await call('POST', `${at}/sources`, { files: FILES, message: 'first' })).body;
  const tree = FILES.map(({ path, content }) => `0644 ${hashOf(content)} ${content.length} ${path}\n`).join(
    '',
  );
  expect(source).toMatchObject({ origin: 'import', sha256: hashOf(tree), fileCount: 2, message: 'first' });
  expect(warnings).toEqual([]);
  const files = (await call('GET', `${at}/sources/${source.id}/files?prefix=src/`)).body.files;
  const [, { path, content }] = FILES as [(typeof FILES)[0], (typeof FILES)[0]];
  expect(files).toEqual([{ path, byteSize: content.length, sha256: hashOf(content), executable: false }]);
  const read = `${at}/sources/${source.id}/file?path=`;
  expect((await call('GET', read + path)).body.file).toEqual({ ...files[0], encoding: 'utf8', content });
  expect(refused(await call('GET', `${read}none`))).toBe('404 file_not_found');
  const bytes = { path: 'logo', content: '/wA=', encoding: 'base64', executable: true };
  const binary = (await call('POST', `${at}/sources`, { files: [bytes], parentSourceId: source.id })).body
    .source;
  expect(binary.parentSourceIds).toEqual([source.id]);
  expect((await call('GET', `${at}/sources/${binary.id}/file?path=logo`)).body.file).toMatchObject(bytes);
  for (const files of [
    [{ path: '../a', content: '' }],
    [
      { path: 'a', content: '' },
      { path: 'A', content: '' },
    ],
  ]) {
    const answer = await call('POST', `${at}/sources`, { files });
    expect([refused(answer), pathsOf(answer)]).toEqual([
      '400 invalid_bundle',
      [`/files/${files.length - 1}/path`],
    ]);
  }
  const changes = [
    { path: 'src/app.js', content: null },
    { path: 'home.html', renameFrom: 'index.html' },
    { path: 'a.txt', content: 'a\n' },
  ];
  const pushed = (await call('POST', `${at}/sources`, { baseSourceId: source.id, changes })).body.source;
  expect(pushed).toMatchObject({ origin: 'import', parentSourceIds: [source.id], fileCount: 2 });
  const listed = (await call('GET', `${at}/sources/${pushed.id}/files`)).body.files;
  expect(listed).toMatchObject([{ path: 'a.txt' }, { path: 'home.html', sha256: hashOf(FILES[0]!.content) }]);
  const diff = await call('GET', `${at}/sources/${pushed.id}/diff?base=${source.id}&patches=false`);
  expect(diff.body.diff.files.find(({ path }: { path: string }) => path === 'src/app.js')).toMatchObject({
    status: 'deleted',
    additions: 0,
    deletions: 3,
  });
  const unfit = await call('POST', `${at}/sources`, {
    baseSourceId: source.id,
    changes: [{ path: 'none', content: null }],
  });
  expect([refused(unfit), pathsOf(unfit)]).toEqual(['400 invalid_bundle', ['/changes/0/path']]);
  const unknown = { files: FILES, parentSourceId: 'src_none' };
  expect(refused(await call('POST', `${at}/sources`, unknown))).toBe('404 source_not_found');
  const start = { sourceId: source.id };
  expect((await call('POST', `${at}/source-head/initialize`, start)).body.head).toMatchObject({
    ...start,
    revision: 1,
  });
  expect(refused(await call('POST', `${at}/source-head/initialize`, start))).toBe(
    '409 head_already_initialized',
  );
  expect((await call('GET', `${at}/source-head/history`)).body.heads).toMatchObject([
    { ...start, applyId: null },
  ]);
  const outside = { sourceId: binary.id };
  expect(refused(await call('POST', `${at}/threads`, outside))).toBe('409 source_not_in_history');
}

async function runs(wire: Wire): Promise<void> {
  const { call } = wire;
  const shop = await newShop(wire);
  const content = `Hello.\n${file('src/app.js', 'changed\n')}${sh('echo built')}${sh('rm index.html')}`;
  const { id, place, run, thread } = await newThread(wire, shop, content);
  expect(run).toMatchObject({
    kind: 'message',
    agent: 'scripted',
    status: 'completed',
    baseSourceId: shop.sourceId,
  });
  expect(thread).toMatchObject({
    status: 'ready',
    latestSourceId: run.resultSourceId,
    runStatus: 'completed',
  });
  const { files } = (await call('GET', `${shop.at}/sources/${run.resultSourceId}/files`)).body;
  expect(files).toMatchObject([{ path: 'src/app.js', sha256: hashOf('changed\n') }]);
  const { messages } = (await call('GET', `${place}/messages`)).body;
  expect(messages).toMatchObject([
    { role: 'user', content },
    { role: 'assistant', runId: run.id },
  ]);
  const newest = (await call('GET', `${place}/messages?order=desc&limit=1`)).body;
  expect(newest).toMatchObject({ messages: [{ id: messages[1].id }], hasMore: true });
  expect(messages[1].content).toContain('Wrote src/app.js.\n\nRan `echo built`:\n\n```\nbuilt\n```\n\n');
  const { tools } = (await call('GET', `${place}/runs/${run.id}/tools`)).body;
  expect(tools.map((tool: { title: string }) => tool.title)).toEqual(['echo built', 'rm index.html']);
  expect(tools[0]).toMatchObject({ name: 'sh', status: 'completed', output: 'built\n' });

  const sent = await call('POST', `${place}/messages`, { content: sh('exit 3') });
  expect(sent.body.run).toMatchObject({ status: 'queued', messageId: sent.body.message.id });
  const failed = (await call('GET', `${place}/runs/${sent.body.run.id}?waitSeconds=30`)).body.run;
  expect(failed).toMatchObject({ status: 'failed', resultSourceId: null, error: { code: 'script_failed' } });
  expect(failed.error.message).toBe('Block 1 (sh) failed: `exit 3` ended with exit code 3 without output.');
  expect((await call('GET', place)).body.thread).toMatchObject({ status: 'failed', latestRunId: failed.id });
  const retried = (await call('POST', `${place}/retry`)).body.run;
  expect(retried.kind).toBe('retry');
  await call('GET', `${place}/runs/${retried.id}?waitSeconds=30`);
  expect(refused(await call('POST', `${place}/stop`))).toBe('409 run_not_active');
  expect((await call('GET', `${place}/runs`)).body.runs).toMatchObject([
    { id: retried.id },
    { id: failed.id },
    { id: run.id },
  ]);
  expect((await call('GET', `/api/threads/${id}/runs/${run.id}`)).body.run).toEqual(run);
  const edit = { expectedSourceId: run.resultSourceId, changes: [{ path: 'edited.txt', content: 'x' }] };
  const edited = (await call('POST', `${place}/edits`, edit)).body.source;
  expect(edited).toMatchObject({ origin: 'edit', parentSourceIds: [run.resultSourceId], threadId: id });
  expect(refused(await call('POST', `${place}/edits`, edit))).toBe('409 stale_source');
  expect((await call('GET', place)).body.thread.latestSourceId).toBe(edited.id);
  expect((await call('PATCH', place, { archived: true })).body.thread.status).toBe('archived');
  expect(refused(await call('POST', `${place}/messages`, { content: 'x' }))).toBe('409 thread_archived');
  expect((await call('DELETE', place)).status).toBe(200);
  expect(refused(await call('GET', place))).toBe('404 thread_not_found');
}

async function events(wire: Wire): Promise<void> {
  const { call } = wire;
  const shop = await newShop(wire);
  const types = 'run.queued,run.running,run.completed,message.persisted,platform.source.imported';
  const feed = `${shop.at}/events?types=${types}`;
  // The log follows the writes by some milliseconds.
  expect((await call('GET', `${feed}&waitSeconds=20`)).body.events).toHaveLength(1);
  const head = (await call('GET', `${shop.at}/events/head?types=${types}`)).body.cursor;
  expect((await call('GET', `${feed}&cursor=${head}`)).body).toMatchObject({ events: [], hasMore: false });
  const waiting = call('GET', `${feed}&cursor=${head}&waitSeconds=20`);
  const { id, place, run } = await newThread(wire, shop, file('a.txt', 'a\n'));
  let seen = (await waiting).body;
  expect(seen.events.length).toBeGreaterThan(0);
  while (seen.events.length > 0 && seen.events.at(-1).type !== 'run.completed')
    seen = (await call('GET', `${feed}&cursor=${seen.nextCursor}&waitSeconds=20`)).body;
  const page = (await call('GET', `${feed}&cursor=${head}&limit=4`)).body;
  const next = (await call('GET', `${feed}&cursor=${page.nextCursor}`)).body;
  const all = [...page.events, ...next.events];
  expect(all.map(({ type }: { type: string }) => type)).toEqual([
    'message.persisted',
    'run.queued',
    'run.running',
    'platform.source.imported',
    'message.persisted',
    'run.completed',
  ]);
  expect([page.hasMore, next.hasMore]).toEqual([true, false]);
  expect(all.at(-1)).toMatchObject({
    appId: shop.app,
    threadId: id,
    runId: run.id,
    data: { id: run.id, status: 'completed' },
  });
  expect(refused(await call('GET', `${shop.at}/events?cursor=${head}`))).toBe('400 invalid_cursor');
  expect((await call('GET', `${ROOT}/events?threadId=${id}&types=run.queued`)).body.events).toHaveLength(1);

  const stream = await wire.stream(`${shop.at}/events/stream?types=${types}&threadId=${id}`);
  await stream.until((frames) => frames.some(({ event }) => event === 'heartbeat'));
  await call('POST', `${place}/messages`, { content: `${sh('echo one')}${file('a.txt', 'b\n')}` });
  const frames = await stream.until((seen) => seen.some(({ event }) => event === 'run.completed'));
  await stream.close();
  const kinds = new Set(frames.map(({ event }) => event));
  expect([...kinds]).toEqual(
    expect.arrayContaining(['heartbeat', 'run.queued', 'draft', 'draft.removed', 'run.completed']),
  );
  const first = frames.find(({ event }) => event === 'run.queued')!;
  const again = await wire.stream(`${shop.at}/events/stream?types=${types}&threadId=${id}`, {
    'last-event-id': first.id!,
  });
  const rest = await again.until((seen) => seen.some(({ event }) => event === 'run.completed'));
  await again.close();
  expect(rest.find(({ event }) => event.startsWith('run.'))?.event).toBe('run.running');

  const ending = await wire.stream(`${shop.at}/events/stream`);
  await call('DELETE', shop.at);
  const last = await ending.until(() => false);
  expect(last.at(-1)?.event).toBe('platform.app.deleted');
}

async function applies(wire: Wire): Promise<void> {
  const { call } = wire;
  const shop = await newShop(wire);
  const ours = await newThread(wire, shop, file('src/app.js', 'ours\n'));
  const theirs = await newThread(wire, shop, `${file('src/app.js', 'theirs\n')}${file('new.txt', 'new\n')}`);
  const draft = { expectedSourceId: ours.thread.latestSourceId };
  expect(refused(await apply(wire, shop, ours.place, { expectedSourceId: shop.sourceId }))).toBe(
    '409 stale_source',
  );
  const preview = (await call('POST', `${ours.place}/apply/preview`, draft, { key: null })).body.preview;
  expect(preview).toMatchObject({ headSourceId: shop.sourceId, status: 'clean', conflicts: [] });
  expect(preview.changes).toMatchObject([{ path: 'src/app.js', status: 'modified' }]);
  const done = (await apply(wire, shop, ours.place, draft)).body.apply;
  expect(done).toMatchObject({
    status: 'applied',
    headSourceId: shop.sourceId,
    resultSourceId: draft.expectedSourceId,
  });
  expect((await call('GET', `${shop.at}/source-head`)).body.head).toMatchObject({
    sourceId: done.resultSourceId,
    revision: 2,
  });
  expect((await call('GET', ours.place)).body.thread).toMatchObject({
    status: 'ready',
    sealedAt: expect.any(String),
  });
  expect(refused(await call('POST', `${ours.place}/messages`, { content: 'x' }))).toBe('409 draft_sealed');

  const late = { expectedSourceId: theirs.thread.latestSourceId };
  const conflicted = (await call('POST', `${theirs.place}/apply/preview`, late, { key: null })).body.preview;
  const [base, head, mine] = ['one\ntwo\nthree\n', 'ours\n', 'theirs\n'].map(hashOf);
  expect(conflicted).toMatchObject({
    status: 'conflicted',
    conflicts: [{ path: 'src/app.js', kind: 'content', base, head, draft: mine }],
  });
  const path = 'src/app.js';
  const { file: shown } = (
    await call('POST', `${theirs.place}/apply/preview/file`, { ...late, path }, { key: null })
  ).body;
  expect(shown).toMatchObject({ path, head: { content: 'ours\n' }, draft: { content: 'theirs\n' } });
  expect(shown.merged).toEqual({
    content: '<<<<<<< head\nours\n=======\ntheirs\n>>>>>>> draft\n',
    regions: [{ fromLine: 1, toLine: 5 }],
  });
  const absent = { ...late, path: 'new.txt' };
  const none = await call('POST', `${theirs.place}/apply/preview/file`, absent, { key: null });
  expect(refused(none)).toBe('404 file_not_found');
  const manual = (await apply(wire, shop, theirs.place, { ...late, conflictResolution: 'manual' })).body
    .apply;
  expect(manual).toMatchObject({
    status: 'conflicted',
    conflicts: ['src/app.js'],
    error: null,
    resultSourceId: null,
  });
  const agent = (await apply(wire, shop, theirs.place, late)).body.apply;
  expect([agent.status, agent.error.split(':')[0]]).toEqual(['conflicted', 'not_configured']);
  const stale = { ...late, expectedHeadSourceId: shop.sourceId };
  expect(refused(await apply(wire, shop, theirs.place, stale))).toBe('409 stale_head');
  const pinned = { ...late, expectedHeadSourceId: done.resultSourceId };
  const wrong = await apply(wire, shop, theirs.place, {
    ...pinned,
    resolutions: [{ path: 'none', take: 'head' }],
  });
  expect([refused(wrong), pathsOf(wrong)]).toEqual(['400 invalid_request', ['/resolutions/0/path']]);
  const resolutions = [{ path: 'src/', take: 'draft' }];
  const solved = (await apply(wire, shop, theirs.place, { ...pinned, resolutions })).body.apply;
  expect(solved).toMatchObject({ status: 'applied', resolutions });
  const files = (await call('GET', `${shop.at}/sources/${solved.resultSourceId}/files`)).body.files;
  expect(files).toMatchObject([
    { path: 'index.html' },
    { path: 'new.txt' },
    { path: 'src/app.js', sha256: mine },
  ]);
  expect((await call('GET', `${shop.at}/applies?threadId=${theirs.id}`)).body.applies).toHaveLength(3);
  const types =
    'platform.apply.queued,platform.apply.applied,platform.apply.conflicted,platform.head.updated';
  const { events: log } = (await call('GET', `${shop.at}/events?types=${types}`)).body;
  expect(log.map(({ type }: { type: string }) => type.split('.').slice(1).join('.'))).toEqual([
    'head.updated',
    'apply.queued',
    'apply.applied',
    'head.updated',
    'apply.queued',
    'apply.conflicted',
    'apply.queued',
    'apply.conflicted',
    'apply.queued',
    'apply.applied',
    'head.updated',
  ]);
}

async function builds(wire: Wire): Promise<void> {
  const { call } = wire;
  const shop = await newShop(wire);
  const { body } = await call('POST', `${shop.at}/threads`, { title: 'Build' });
  const place = `${shop.at}/threads/${body.thread.id}`;
  const input = { command: 'true', outputDirectory: '.' };
  const build = (await call('POST', `${place}/builds`, input)).body.build;
  expect(build).toMatchObject({ ...input, sourceId: shop.sourceId, status: 'queued', timeoutSeconds: 600 });
  const ready = (await call('GET', `${shop.at}/builds/${build.id}?waitSeconds=30`)).body.build;
  expect(ready).toMatchObject({ status: 'ready', exitCode: 0, error: null, fileCount: 2 });
  const { manifest } = (await call('GET', `${shop.at}/builds/${build.id}/manifest`)).body;
  expect(manifest.files).toEqual(
    FILES.map(({ path, content }) => ({
      path,
      byteSize: content.length,
      sha256: hashOf(content),
      mode: '0644',
    })),
  );
  const artifact = await call('GET', `${shop.at}/builds/${build.id}/artifact`);
  expect([hashOf(artifact.bytes), artifact.bytes.length]).toEqual([
    ready.artifactSha256,
    ready.artifactByteSize,
  ]);
  expect((await call('GET', `${shop.at}/builds/${build.id}/logs`)).body.logs).toMatchObject({
    truncated: false,
    ended: true,
  });
  expect(refused(await call('POST', `${shop.at}/builds/${build.id}/cancel`))).toBe('409 build_not_active');
  expect((await call('GET', `${place}/builds`)).body.builds).toEqual([ready]);
  expect(refused(await call('GET', `${shop.at}/builds/bld_none`))).toBe('404 build_not_found');
}

export const SCENARIOS: Scenario[] = [
  { name: 'apps, keys and receipts', run: apps },
  { name: 'sources and the head', run: sources },
  { name: 'threads, messages and runs', run: runs },
  { name: 'events: pages, streams, drafts', run: events },
  { name: 'applies, conflicts and decisions', run: applies },
  { name: 'builds and artifacts', run: builds },
];
