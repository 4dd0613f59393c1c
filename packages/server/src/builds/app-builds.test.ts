/** Builds without a thread: what they are made from, how many there may be, how they end with their app, their list. */
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { commandsOf, hint, missing, runCommands } from '../guide.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import { newBench, P, until } from './builds.fixture.ts';
import type { Bench } from './builds.fixture.ts';
import { MAX_WITHOUT_THREAD } from './schemas.ts';

const server = await startTestServer();
afterAll(() => server.close());
const { ctx } = server.service;
const status = ctx.runnerStatus();
if (!status?.ok)
  process.stderr.write(`SKIPPED, no sandbox can be made here: ${status?.missing.join('; ')}\n`);
const { runnerStatus } = ctx;
afterEach(() => {
  Object.assign(ctx, { runnerStatus });
});

const ORDER = { command: 'mkdir dist', outputDirectory: 'dist' };
const post = (path: string, body?: object) => server.call('POST', path, body);
const remove = async ({ url }: Bench) => {
  const { status: code, body } = await server.call('DELETE', url);
  return [code, body.error?.code];
};
const oneAtATime = ({ url }: Bench) =>
  server.call('PATCH', `${url}/settings`, { concurrency: { builds: 1 } });
const rowOf = (id: string) =>
  ctx.db
    .selectFrom('builds')
    .select(['status', 'error_code', 'listed'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();

describe.skipIf(!status?.ok)('a build without a thread', () => {
  test('builds the head or a named source, blocks no thread, and is published without one', async () => {
    const bench = await newBench(server, { 'a.txt': 'a\n' });
    const { source } = (await post(`${bench.url}/sources`, { files: [{ path: 'b.txt', content: 'b\n' }] }))
      .body;
    const list = 'ls; mkdir dist; [ -e /nowhere ] || sleep 0.5';
    const ofHead = await bench.submit(list, {}, bench.url);
    const ofSource = await bench.submit(list, { sourceId: source.id }, bench.url);
    expect(ofHead).toMatchObject({ threadId: null, sourceId: bench.sourceId, projectId: bench.appId });
    const edit = await post(`${bench.thread}/edits`, {
      expectedSourceId: bench.sourceId,
      changes: [{ path: 'c.txt', content: 'c' }],
    });
    expect([edit.status, edit.text]).toEqual([201, edit.text]);
    for (const [{ id }, listed] of [
      [ofHead, 'a.txt\n'],
      [ofSource, 'b.txt\n'],
    ] as const) {
      expect(await bench.ended(id)).toMatchObject({ status: 'ready', threadId: null });
      expect((await bench.logs(id)).text).toBe(listed);
    }
    const events = (await bench.events()).filter(({ data }) => data.id === ofHead.id);
    expect(events.map(({ type, threadId }) => [type, threadId])).toEqual([
      ['platform.build.queued', null],
      ['platform.build.building', null],
      ['platform.build.ready', null],
    ]);
    const { thread } = (await server.call('GET', bench.thread)).body;
    expect([thread.status, thread.blockedOn]).toEqual(['ready', []]);
  });

  test('goes on beside a build and a run of a thread, within the limits that all builds have', async () => {
    const bench = await newBench(server);
    await oneAtATime(bench);
    const first = await bench.submit('sleep 60', {}, bench.url);
    await bench.started(first.id);
    const ofThread = await bench.submit('mkdir dist');
    expect((await bench.read(ofThread.id)).status).toBe('queued');
    expect((await post(`${bench.url}/builds/${first.id}/cancel`)).status).toBe(202);
    expect((await bench.ended(first.id)).error.code).toBe('cancelled');
    expect((await bench.ended(ofThread.id)).status).toBe('ready');
    const again = await post(`${bench.url}/builds/${first.id}/cancel`);
    expect([again.status, again.body.error.code]).toEqual([409, 'build_not_active']);
  });

  test.skipIf(missing.length > 0)(`is made by the commands of the guide${hint}`, async () => {
    const bench = await newBench(server);
    const commands = commandsOf('builds.md').find((text) => text.includes('threadId=none'));
    const env = { HEADRACE: server.base, KEY: server.key, APP: bench.appId };
    expect(await runCommands(commands!, env)).toBe('{"status":"ready","threadId":null}\n["ready"]\n');
  });

  test('needs a head or a source of its app', async () => {
    const { app } = (await post(`${P}/apps`, { name: 'Bare' })).body;
    const other = await newBench(server);
    const refused = async (fields: object) => {
      const { status: code, body } = await post(`${P}/apps/${app.id}/builds`, {
        ...ORDER,
        ...fields,
      });
      return [code, body.error.code];
    };
    expect(await refused({})).toEqual([409, 'head_not_initialized']);
    expect(await refused({ sourceId: other.sourceId })).toEqual([404, 'source_not_found']);
    expect(await refused({ outputDirectory: '/dist' })).toEqual([400, 'invalid_request']);
  });

  test('is one of at most 100; the deletion of their app waits for the one with a sandbox, and fails the others', async () => {
    const bench = await newBench(server);
    await oneAtATime(bench);
    const building = await bench.submit('sleep 60', {}, bench.url);
    await bench.started(building.id);
    const answers = await Promise.all(
      Array.from({ length: MAX_WITHOUT_THREAD + 2 }, () => post(`${bench.url}/builds`, ORDER)),
    );
    const queued = answers.filter((answer) => answer.status === 202).map(({ body }) => body.build.id);
    expect(queued).toHaveLength(MAX_WITHOUT_THREAD - 1);
    expect(answers.filter((answer) => answer.status !== 202).map(({ body }) => body.error.code)).toEqual([
      'conflict',
      'conflict',
      'conflict',
    ]);
    // Those of threads are not counted.
    expect((await post(`${bench.thread}/builds`, ORDER)).status).toBe(202);
    expect(await remove(bench)).toEqual([409, 'build_busy']);
    expect((await rowOf(queued[0])).status).toBe('queued');
    // So no other one starts meanwhile.
    Object.assign(ctx, { runnerStatus: () => null });
    await post(`${bench.url}/builds/${building.id}/cancel`);
    await bench.ended(building.id);
    const types = 'types=platform.build.failed,platform.app.deleted';
    const { cursor } = (await server.call('GET', `${P}/events/head?${types}`)).body;
    expect(await remove(bench)).toEqual([200, undefined]);
    for (const id of queued)
      expect(await rowOf(id)).toEqual({ status: 'failed', error_code: 'cancelled', listed: false });
    const { events } = (
      await server.call('GET', `${P}/events?cursor=${encodeURIComponent(cursor)}&limit=200&${types}`)
    ).body as {
      events: { type: string; threadId: string | null; projectId: string; data: { id: string } }[];
    };
    const own = events.filter(({ projectId }) => projectId === bench.appId);
    expect(own.at(-1)!.type).toBe('platform.app.deleted');
    expect(own.flatMap(({ data, threadId }) => (threadId === null ? [data.id] : [])).toSorted()).toEqual(
      [...queued, bench.appId].toSorted(),
    );
  });
});

describe.skipIf(!status?.ok)('the list of an app', () => {
  test('has the builds of all threads, deleted ones too, and those without; its filters hold together', async () => {
    const bench = await newBench(server);
    const { source } = (await post(`${bench.url}/sources`, { files: [{ path: 'b.txt', content: 'b\n' }] }))
      .body;
    const made = [];
    for (const [command, fields, on] of [
      ['mkdir dist', {}, bench.thread],
      ['exit 1', { sourceId: source.id }, bench.url],
      ['mkdir dist', { sourceId: source.id }, bench.url],
      ['exit 1', {}, bench.thread],
    ] as const)
      made.unshift(await bench.ended((await bench.submit(command, fields, on)).id));
    expect((await server.call('DELETE', bench.thread)).status).toBe(200);
    const listed = async (query: string) =>
      (await server.call('GET', `${bench.url}/builds${query}`)).body.builds;
    for (const [query, has] of [
      ['', () => true],
      ['?threadId=none', (b) => b.threadId === null],
      [`?threadId=${bench.threadId}`, (b) => b.threadId === bench.threadId],
      [`?sourceId=${source.id}`, (b) => b.sourceId === source.id],
      ['?status=failed', (b) => b.status === 'failed'],
      ['?status=queued,ready', (b) => b.status === 'ready'],
      [
        `?status=failed&threadId=none&sourceId=${source.id}`,
        (b) => b.status === 'failed' && b.threadId === null,
      ],
      ['?threadId=thr_unknown', () => false],
    ] as [string, (build: Record<string, unknown>) => boolean][])
      expect([query, await listed(query)]).toEqual([query, made.filter(has)]);
    const first = (await server.call('GET', `${bench.url}/builds?limit=1`)).body;
    const next = `?limit=3&cursor=${encodeURIComponent(first.nextCursor)}`;
    expect([...first.builds, ...(await listed(next))]).toEqual(made);
    const refused = await server.call('GET', `${bench.url}/builds${next}&threadId=none`);
    expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_cursor']);
  });

  test('is of a Direct project, too, of which the lists over all apps have nothing', async () => {
    const { project } = (await post('/api/projects', { name: 'Direct' })).body;
    const url = `/api/projects/${project.id}`;
    const { source } = (await post(`${url}/sources`, { files: [{ path: 'a.txt', content: 'a\n' }] })).body;
    const { build } = (await post(`${url}/builds`, { ...ORDER, sourceId: source.id })).body;
    await until(
      async () => (await server.call('GET', `${url}/builds/${build.id}`)).body.build.status === 'ready',
    );
    const { builds } = (await server.call('GET', `${url}/builds?status=ready&threadId=none`)).body;
    expect(builds).toMatchObject([{ id: build.id, threadId: null, status: 'ready' }]);
    const all = (await server.call('GET', `${P}/builds?limit=200`)).body.builds;
    expect(all.some(({ id }: { id: string }) => id === build.id)).toBe(false);
  });
});
