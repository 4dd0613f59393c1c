/**
 * Runs the guide's example unchanged against a service: it ends with what the API answers, whatever happened
 * in between.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { feedClient, P } from './feeds.fixture.ts';
import { until } from './events.fixture.ts';

const EXAMPLE = join(import.meta.dirname, '../../../../examples/consistent-view.mjs');
const RETENTION_SECONDS = 3;

let s: TestServer;
const { createSeededApp, createThread, owner } = feedClient(() => s);
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
});
afterAll(() => s?.close());
const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** A line to the service that the test can break, and keep broken. */
async function openLine(base = s.base) {
  const sockets = new Set<Socket>();
  let isUp = true;
  const { port } = new URL(base);
  const server: Server = createServer((socket) => {
    socket.on('error', () => {});
    if (!isUp) return void socket.destroy();
    const upstream = connect(Number(port), '127.0.0.1');
    upstream.on('error', () => {}).on('close', () => socket.destroy());
    sockets.add(
      socket.on('close', () => {
        sockets.delete(socket);
        upstream.destroy();
      }),
    );
    socket.pipe(upstream).pipe(socket);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  ends.push(() => {
    server.close();
    cut();
  });
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    setUp(to: boolean) {
      isUp = to;
      if (!to) cut();
    },
  };
}

interface Run {
  child: ChildProcess;
  said: () => string;
  view: () => Promise<unknown>;
}

async function follow(base: string, key: string): Promise<Run> {
  const child = spawn(process.execPath, [EXAMPLE], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HEADRACE_URL: base, HEADRACE_KEY: key },
  });
  ends.push(() => child.kill('SIGKILL'));
  let text = '';
  for (const pipe of [child.stdout, child.stderr])
    pipe.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
  await until(() => text.includes('following'), 20_000);
  return {
    child,
    said: () => text,
    async view() {
      const closed = once(child, 'close');
      child.kill('SIGTERM');
      expect(await closed, text).toEqual([0, null]);
      return JSON.parse(text.trim().split('\n').at(-1)!);
    },
  };
}

/** The same from the API's lists, when nothing is written any more. */
async function truth(key: string, at = s): Promise<unknown> {
  await until(async () => !(await at.service.ctx.db.selectFrom('outbox').select('id').executeTakeFirst()));
  const get = async (path: string) => (await at.call('GET', path, undefined, { key })).body;
  const apps: Record<string, unknown> = {};
  for (const { id, name, externalId, headSourceId, version } of (await get(`${P}/apps?limit=200`)).apps) {
    const { threads } = await get(`${P}/apps/${id}/threads?limit=200`);
    apps[id] = {
      name,
      externalId,
      headSourceId,
      version,
      threads: Object.fromEntries(
        threads.map((t: Record<string, unknown>) => [
          t.id,
          { title: t.title, status: t.status, version: t.version },
        ]),
      ),
    };
  }
  return apps;
}

/** Changes something of everything until it is stopped. */
function write(appIds: string[]) {
  const end = new AbortController();
  const ok = async (method: string, path: string, body?: unknown) => {
    const { status, text } = await s.call(method, path, body);
    expect(status, text).toBeLessThan(300);
  };
  let count = 0;
  const work = async () => {
    while (!end.signal.aborted) {
      const appId = appIds[count % appIds.length]!;
      const threadId = await createThread(appId);
      await ok('PATCH', `${P}/apps/${appId}`, { name: `Name ${count}` });
      await ok('PATCH', `${P}/apps/${appId}/threads/${threadId}`, { title: `Title ${count}` });
      if (count % 3 === 0) await ok('DELETE', `${P}/apps/${appId}/threads/${threadId}`);
      if (count % 5 === 0) {
        const gone = await createSeededApp();
        await createThread(gone);
        await ok('DELETE', `${P}/apps/${gone}`);
      }
      count++;
    }
  };
  const running = work();
  return {
    count: () => count,
    stop: async () => {
      end.abort();
      await running;
    },
  };
}

test('it begins and follows while everything changes, over a line that breaks again and again', async () => {
  const line = await openLine();
  const writer = write([await createSeededApp(), await createSeededApp()]);
  await until(() => writer.count() > 3);
  const run = await follow(line.base, s.key);
  for (let i = 0; i < 4; i++) {
    const count = writer.count();
    await until(() => writer.count() > count + 2, 20_000);
    line.cut();
  }
  await writer.stop();
  expect(run.said()).toContain('the line broke');
  const expected = await truth(s.key);
  expect(await run.view()).toEqual(expected);
});

test('a line that is away for longer than events are kept: cursor_expired, and it begins again', async () => {
  const own = await startTestServer({
    HEADRACE_ROLES: 'api',
    HEADRACE_EVENT_RETENTION_SECONDS: String(RETENTION_SECONDS),
  });
  try {
    const line = await openLine(own.base);
    const feeds = feedClient(() => own);
    const run = await follow(line.base, own.key);
    line.setUp(false);
    const appId = await feeds.createSeededApp();
    await feeds.createThread(appId);
    await until(
      async () => (await feeds.page(`${P}/apps/${appId}/events`)).events.length === 0,
      (RETENTION_SECONDS + 10) * 1_000,
    );
    line.setUp(true);
    await until(
      () =>
        run.said().includes('cursor_expired: a new head and snapshot') &&
        run.said().split('following').length === 3,
      20_000,
    );
    const expected = await truth(own.key, own);
    expect(Object.keys(expected as object)).toEqual([appId]);
    expect(await run.view()).toEqual(expected);
  } finally {
    await own.close();
  }
});

test('a key that gets another app: cursor_scope_changed, and it begins again with what the key reads now', async () => {
  const [first, second] = [await createSeededApp(), await createSeededApp()];
  const cookie = await owner();
  const made = (
    await s.call(
      'POST',
      '/api/service-accounts',
      { name: 'view', permissions: { thread: ['read'], project: ['read'] }, projectIds: [first] },
      { cookie },
    )
  ).body;
  const run = await follow(s.base, made.key);
  await s.call(
    'PATCH',
    `/api/service-accounts/${made.account.id}`,
    { projectIds: [first, second] },
    { cookie },
  );
  await until(
    () =>
      run.said().includes('cursor_scope_changed: a new head and snapshot') &&
      run.said().includes('following 2 apps'),
    20_000,
  );
  const expected = await truth(made.key);
  expect(Object.keys(expected as object).toSorted()).toEqual([first, second].toSorted());
  expect(await run.view()).toEqual(expected);
});

test('the guide shows the example’s own code', async () => {
  const [guide, example] = await Promise.all([
    readFile(join(import.meta.dirname, '../../../../docs/guides/events.md'), 'utf8'),
    readFile(EXAMPLE, 'utf8'),
  ]);
  const blocks = [...guide.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code]) => code!);
  expect(blocks.length).toBeGreaterThan(0);
  for (const code of blocks) expect(example).toContain(code);
});
