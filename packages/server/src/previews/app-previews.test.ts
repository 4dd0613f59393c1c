/** Previews without a thread: they follow the head, or show one source, until they or their app are deleted. */
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { RunnerError } from '@headrace/runner/client';
import type { RunnerClient } from '@headrace/runner/client';
import { commandsOf, hint, missing, runCommands } from '../guide.fixture.ts';
import { newId } from '../ids.ts';
import { startTestServer } from '../service.fixture.ts';
import { newBench, until, visit } from './previews.fixture.ts';
import { MAX_OF_PROJECT } from './schemas.ts';

const server = await startTestServer();
afterAll(() => server.close());
const { ctx } = server.service;
const status = ctx.runnerStatus();
if (!status?.ok)
  process.stderr.write(`SKIPPED, no sandbox can be made here: ${status?.missing.join('; ')}\n`);
const { runner } = ctx;
afterEach(() => {
  Object.assign(ctx, { runner });
});

/** Answers with the paths of all files, and what is in them. */
const FILES_SERVER = `import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
createServer((req, res) => {
  const paths = readdirSync('.', { recursive: true }).filter((path) => statSync(path).isFile()).sort();
  res.end(JSON.stringify(paths.map((path) => [path, readFileSync(path, 'utf8')])));
}).listen(3210);
`;

type Bench = Awaited<ReturnType<typeof newBench>>;
const ORDER = { command: 'node server.mjs', port: 3210 };
const post = (path: string, body?: object) => server.call('POST', path, body);

async function showApp({ url, read }: Bench, fields: object = {}) {
  const made = await post(`${url}/previews`, { ...ORDER, ...fields });
  expect([made.status, made.text]).toEqual([201, made.text]);
  const preview = await read(made.body.preview.id, 30);
  expect(preview.status).toBe('ready');
  return preview;
}

/** Moves the head by a thread with this text, or with these changes; returns the new head. */
async function moveHead({ url }: Bench, change: string | object[]): Promise<string> {
  const changes = typeof change === 'string' ? [{ path: 'file.txt', content: change }] : change;
  const { headSourceId } = (await server.call('GET', url)).body.app;
  const { thread } = (await post(`${url}/threads`, {})).body;
  const at = `${url}/threads/${thread.id}`;
  const { source } = (await post(`${at}/edits`, { expectedSourceId: headSourceId, changes })).body;
  const idem = newId('op');
  const { apply } = (
    await server.call(
      'POST',
      `${at}/apply`,
      { expectedSourceId: source.id, clientOperationId: idem },
      { idem },
    )
  ).body;
  const ended = (await server.call('GET', `${url}/applies/${apply.id}?waitSeconds=20`)).body.apply;
  expect(ended.status).toBe('applied');
  return ended.resultSourceId;
}

const shown = async (url: string) => (await visit(server, url, '/file')).text;
const shows = (url: string, text: string) =>
  until(async () => (await shown(url)) === text, `the preview to show ${text}`);
const holds = ({ read }: Bench, id: string, sourceId: string) =>
  until(async () => (await read(id)).sourceId === sourceId, 'its source to be named');

/** What was found of an address that nothing changes is kept for a second. */
const is404 = (url: string) =>
  until(async () => (await visit(server, url)).status === 404, 'the address to be gone');

/** Puts `before` before each patch that is written into the sandbox, and `after` after it. */
function patches(
  before: (previewId: string) => Promise<void> | void,
  after: (previewId: string) => Promise<void> | void = () => {},
): void {
  ctx.runner = Object.assign(Object.create(runner) as RunnerClient, {
    putSource: async (...args: Parameters<RunnerClient['putSource']>) => {
      await before(args[0]);
      await runner.putSource(...args);
      await after(args[0]);
    },
  });
}

describe.skipIf(!status?.ok)('a preview without a thread', () => {
  test('shows the head, and newer heads as they come; drafts are none of its business', async () => {
    const bench = await newBench(server);
    const { id, url, ...preview } = await showApp(bench);
    expect(preview).toMatchObject({
      projectId: bench.appId,
      threadId: null,
      follow: 'head',
      sourceId: bench.sourceId,
    });
    expect(await shown(url)).toBe('first');
    const edit = { expectedSourceId: bench.sourceId, changes: [{ path: 'file.txt', content: 'draft' }] };
    expect((await post(`${bench.threadUrl}/edits`, edit)).status).toBe(201);
    const woken = new Promise((resolve) => {
      const unlisten = ctx.bus.listen('control', (what) => {
        if (what !== bench.appId) return;
        unlisten();
        resolve(true);
      });
    });
    const head = await moveHead(bench, 'second');
    expect(await woken).toBe(true);
    await shows(url, 'second');
    await holds(bench, id, head);
    const { events } = (await server.call('GET', `${bench.url}/events?types=preview.updated`)).body;
    expect(
      events.map((e: { threadId: string | null; data: { status: string } }) => [e.threadId, e.data.status]),
    ).toEqual([
      [null, 'starting'],
      [null, 'ready'],
    ]);
    await server.call('DELETE', `${bench.url}/previews/${id}`);
    expect((await visit(server, url)).status).toBe(404);
  });

  test('of one source shows that one, whatever the head does; a thread’s follows its thread', async () => {
    const bench = await newBench(server);
    const files = (await server.call('GET', `${bench.url}/sources/${bench.sourceId}/file?path=server.mjs`))
      .body.file;
    const { source } = (
      await post(`${bench.url}/sources`, {
        files: [
          { path: 'server.mjs', content: files.content },
          { path: 'file.txt', content: 'pinned' },
        ],
      })
    ).body;
    const [pinned, ofThread, ofHead] = [
      await showApp(bench, { sourceId: source.id }),
      await bench.ready(),
      await showApp(bench),
    ];
    expect([pinned.follow, pinned.sourceId]).toEqual([null, source.id]);
    expect([ofThread.follow, ofThread.sourceId]).toEqual(['thread', bench.sourceId]);
    await moveHead(bench, 'second');
    await shows(ofHead.url, 'second');
    expect([await shown(pinned.url), await shown(ofThread.url)]).toEqual(['pinned', 'first']);
    expect((await bench.read(pinned.id)).sourceId).toBe(source.id);
    const listed = async (query: string) =>
      (await server.call('GET', `${bench.url}/previews${query}`)).body.previews.map(
        (p: { id: string }) => p.id,
      );
    expect(await listed('')).toEqual([ofHead.id, ofThread.id, pinned.id]);
    expect(await listed('?threadId=none&status=ready')).toEqual([ofHead.id, pinned.id]);
    expect(await listed(`?sourceId=${source.id}`)).toEqual([pinned.id]);
    await server.call('DELETE', bench.url);
  });

  test('gets the last head, where several come while one is being written', async () => {
    const bench = await newBench(server);
    const { id, url } = await showApp(bench);
    let [release, entered] = [() => {}, () => {}];
    const released = new Promise<void>((resolve) => (release = resolve));
    const begun = new Promise<void>((resolve) => (entered = resolve));
    patches(() => {
      entered();
      return released;
    });
    await moveHead(bench, 'second');
    await begun;
    await moveHead(bench, 'third');
    const last = await moveHead(bench, 'fourth');
    expect(await shown(url)).toBe('first');
    release();
    await shows(url, 'fourth');
    await holds(bench, id, last);
    await server.call('DELETE', bench.url);
  });

  test('gets a head that was refused at first: it is written again', async () => {
    const bench = await newBench(server);
    const { id, url } = await showApp(bench);
    let tries = 0;
    patches(() => {
      if (++tries === 1) throw new RunnerError(503, 'unavailable', 'away');
    });
    const head = await moveHead(bench, 'second');
    await shows(url, 'second');
    expect(tries).toBe(2);
    await holds(bench, id, head);
    await server.call('DELETE', bench.url);
  });

  test('shows its files exactly, though others were written and their answers lost', async () => {
    const bench = await newBench(server, FILES_SERVER);
    const { id, url } = await showApp(bench);
    const files = async () => (await visit(server, url, '/')).text;
    const first = await files();
    const [written, refused] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let isLost = true;
    patches(
      () => {},
      () => {
        if (!isLost) return;
        written.resolve();
        throw new RunnerError(503, 'unavailable', 'lost');
      },
    );
    await moveHead(bench, [
      { path: 'file.txt', content: 'second' },
      { path: 'only/second', content: 'x' },
    ]);
    await written.promise;
    expect(await files()).toContain('only/second');
    patches(() => {
      refused.resolve();
      throw new RunnerError(503, 'unavailable', 'away');
    });
    await moveHead(bench, 'third');
    await refused.promise;
    isLost = false;
    ctx.runner = runner;
    const head = await moveHead(bench, [
      { path: 'file.txt', content: 'first' },
      { path: 'only/second', content: null },
    ]);
    await holds(bench, id, head);
    expect(await files()).toBe(first);
    await server.call('DELETE', bench.url);
  });

  test('has the files of its head, though an earlier worker had its sandbox begin with others', async () => {
    const bench = await newBench(server);
    const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    patches(
      () => {},
      async () => {
        begun.resolve();
        await released.promise;
        throw new RunnerError(503, 'unavailable', 'lost');
      },
    );
    const { preview } = (await post(`${bench.url}/previews`, ORDER)).body;
    await begun.promise;
    const head = await moveHead(bench, 'second');
    // As a worker does that read the new head before it found that the sandbox has begun.
    await ctx.db.updateTable('previews').set({ source_id: head }).where('id', '=', preview.id).execute();
    ctx.runner = runner;
    released.resolve();
    await shows(preview.url, 'second');
    await server.call('DELETE', bench.url);
  });

  test('is stopped though a patch hangs; of many, two are written at once', async () => {
    const bench = await newBench(server);
    const shownHead = await Promise.all([showApp(bench), showApp(bench), showApp(bench)]);
    const released = Promise.withResolvers<void>();
    const begun: string[] = [];
    patches((id) => {
      begun.push(id);
      return released.promise;
    });
    await moveHead(bench, 'second');
    await until(async () => begun.length === 2, 'two patches to begin');
    const [hanging, waiting] = [begun[0]!, shownHead.find(({ id }) => !begun.includes(id))!];
    await server.call('DELETE', `${bench.url}/previews/${hanging}`);
    await until(
      () =>
        runner.task(hanging).then(
          () => false,
          (error: { status: number }) => error.status === 404,
        ),
      'the sandbox to be gone',
    );
    expect([begun.length, await shown(waiting.url)]).toEqual([2, 'first']);
    released.resolve();
    await shows(waiting.url, 'second');
    await server.call('DELETE', bench.url);
  });

  test('starts with the head that there is when its sandbox does', async () => {
    const bench = await newBench(server);
    let [release, entered] = [() => {}, () => {}];
    const released = new Promise<void>((resolve) => (release = resolve));
    const begun = new Promise<void>((resolve) => (entered = resolve));
    ctx.runner = Object.assign(Object.create(runner) as RunnerClient, {
      startTask: async (...args: Parameters<RunnerClient['startTask']>) => {
        entered();
        await released;
        return runner.startTask(...args);
      },
    });
    const { preview } = (await post(`${bench.url}/previews`, ORDER)).body;
    expect(preview).toMatchObject({ status: 'starting', sourceId: bench.sourceId });
    await begun;
    ctx.runner = runner;
    const head = await moveHead(bench, 'second');
    release();
    expect((await bench.read(preview.id, 30)).status).toBe('ready');
    await shows(preview.url, 'second');
    await holds(bench, preview.id, head);
    await server.call('DELETE', bench.url);
  });

  test.skipIf(missing.length > 0)(`is made by the commands of the guide${hint}`, async () => {
    const bench = await newBench(server);
    const commands = commandsOf('previews.md').find((text) => text.includes('/$APP/previews'));
    const env = { HEADRACE: server.base, KEY: server.key, APP: bench.appId };
    expect(await runCommands(commands!, env)).toBe(
      '{"status":"ready","follow":"head","threadId":null}\nstopped\n',
    );
  });

  test('ends with its app, and its address with it', async () => {
    const bench = await newBench(server);
    const { id, url } = await showApp(bench);
    const failed = await bench.read((await bench.submit('exit 1')).id, 30);
    const ofApp = (await post(`${bench.url}/previews`, { ...ORDER, command: 'exit 1' })).body.preview;
    expect([failed.status, (await bench.read(ofApp.id, 30)).status]).toEqual(['failed', 'failed']);
    for (const preview of [failed, ofApp]) expect((await visit(server, preview.url)).status).toBe(502);
    expect((await server.call('DELETE', bench.threadUrl)).status).toBe(200);
    await is404(failed.url);
    expect((await visit(server, ofApp.url)).status).toBe(502);
    expect((await server.call('DELETE', bench.url)).status).toBe(200);
    expect((await visit(server, url)).status).toBe(404);
    await is404(ofApp.url);
    await until(
      () =>
        runner.task(id).then(
          () => false,
          (error: { status: number }) => error.status === 404,
        ),
      'the sandbox to be gone',
    );
  });

  test('needs a head or a source, and a place among those of its app', async () => {
    const { app } = (await post('/api/platform/v1/apps', { name: 'Bare' })).body;
    const bench = await newBench(server);
    const refused = async (url: string, fields: object = {}) => {
      const { status: code, body } = await post(`${url}/previews`, {
        command: 'sleep 100',
        port: 1,
        ...fields,
      });
      return [code, body.error?.code];
    };
    const bare = `/api/platform/v1/apps/${app.id}`;
    expect(await refused(bare)).toEqual([409, 'head_not_initialized']);
    expect(await refused(bare, { sourceId: bench.sourceId })).toEqual([404, 'source_not_found']);
    const project = await ctx.db
      .selectFrom('projects')
      .selectAll()
      .where('id', '=', bench.appId)
      .executeTakeFirstOrThrow();
    // Open rows whose jobs are not due: so many sandboxes would be too many for the machine.
    const others = Array.from({ length: MAX_OF_PROJECT - 1 }, (_, i) => ({
      org_id: project.org_id,
      id: newId('prv'),
      project_id: project.id,
      thread_id: i % 2 ? bench.threadId : null,
      listed: true,
      token: `a${i}`,
      command: 'x',
      port: 1,
      source_id: null,
      created_by: 'x',
      status: 'ready' as const,
    }));
    await ctx.db.transaction().execute(async (db) => {
      await db.insertInto('previews').values(others).execute();
      await db
        .insertInto('jobs')
        .values(
          others.map((o) => ({
            kind: 'preview.work',
            payload: JSON.stringify({ previewId: o.id }) as never,
            key: `preview:${o.id}`,
            run_at: new Date(Date.now() + 600_000),
          })),
        )
        .execute();
    });
    const answers = await Promise.all([refused(bench.url), refused(bench.url), refused(bench.url)]);
    expect(answers.toSorted()).toEqual([
      [201, undefined],
      [409, 'conflict'],
      [409, 'conflict'],
    ]);
    await server.call('DELETE', bench.url);
    const open = await ctx.db
      .selectFrom('previews')
      .select('id')
      .where('project_id', '=', bench.appId)
      .where('status', '<>', 'stopped')
      .execute();
    expect(open).toEqual([]);
  });
});
