/** A version of the service that finds the runner of an older one at work. */
import { symlinkSync, unlinkSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureRunner } from '@headrace/runner/client';
import { PROTOCOL_VERSION } from '@headrace/runner/protocol';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { newBench as newBuildBench } from './builds/builds.fixture.ts';
import { newBench as newPreviewBench, visit } from './previews/previews.fixture.ts';
import { runnerSocket } from './runner/link.ts';
import { startTestServer } from './service.fixture.ts';
import type { TestServer } from './service.fixture.ts';
import { newBench, ok, sh, until } from './threads/threads.fixture.ts';
import type { Bench } from './threads/threads.fixture.ts';
import { history, leaveUnsaved, recoveries } from './workspaces/workspaces.fixture.ts';

vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 });

const ASKED = { approvals: [{ tool: 'sh', decision: 'ask' }] };
/** It has to outlive the time between two services. */
const IDLE_SECONDS = 10;

const closes: (() => Promise<void>)[] = [];
let dataDir: string;
let versionSocket: string;
let oldPid: number;
let oldId: string;
/** The service that runs now. */
let live: TestServer;
const s = new Proxy({} as TestServer, { get: (_, name) => live[name as keyof TestServer] });

/**
 * Starts a service (on the database of a first one) whose runner listens where one without a version does. The service finds it where this
 * version's runner would be, until the service has been stopped.
 */
beforeAll(async () => {
  const first = await startTestServer({ HEADRACE_ROLES: 'api' });
  closes.push(() => first.close());
  dataDir = await mkdtemp(join(tmpdir(), 'headrace-test-'));
  closes.push(() => rm(dataDir, { recursive: true, force: true }));
  versionSocket = runnerSocket(dataDir);
  const socket = versionSocket.replace(/\.v\d+\./, '.');
  const client = await ensureRunner({
    stateDir: join(dataDir, 'runner'),
    socketPath: socket,
    idleSeconds: IDLE_SECONDS,
  });
  const { id, pid } = await client.status();
  oldPid = pid;
  oldId = `${id}:${pid}`;
  client.close();
  symlinkSync(socket, versionSocket);
  live = await startTestServer({ HEADRACE_DATA_DIR: dataDir }, first);
});
afterAll(async () => {
  const runner = live.service.ctx.runnerStatus();
  await live.close();
  if (runner) process.kill(runner.pid, 'SIGTERM');
  for (const close of closes) await close();
});

async function upgrade(): Promise<void> {
  const before = live;
  await before.service.stop();
  unlinkSync(versionSocket);
  live = await startTestServer({ HEADRACE_DATA_DIR: dataDir }, before);
}

const endsOf = async (bench: Bench): Promise<string[]> => {
  const { events } = await ok(s.call('GET', `${bench.app}/events?limit=500`));
  return events
    .map((e: { type: string }) => e.type)
    .filter((type: string) => /^run\.(completed|failed)/.test(type));
};

test('a run, a question, a build, a preview and unsaved files at an older runner outlive the upgrade', async (t) => {
  if (!s.service.ctx.runnerStatus()?.ok) t.skip('no sandbox can be made here');
  const runnerOf = async (threadId: string) =>
    (
      await s.service.ctx.db
        .selectFrom('threads')
        .select('runner_id')
        .where('id', '=', threadId)
        .executeTakeFirstOrThrow()
    ).runner_id;
  const working = await newBench(s);
  const asking = await newBench(s, { settings: ASKED });
  const idle = await newBench(s);
  const builds = await newBuildBench(s);
  const previews = await newPreviewBench(s);
  await idle.work(sh('echo kept > kept.txt'));
  await leaveUnsaved(s, idle);
  const preview = await previews.ready();
  const build = await builds.submit('sleep 5; mkdir dist; echo built > dist/x');
  await builds.started(build.id);
  const run = (await working.send(sh('sleep 5; echo done > done.txt'))).run;
  await working.working(run.id);
  const asked = (await asking.send(sh('echo asked > asked.txt'))).run;
  await until('the question', async () => (await asking.list('approvals')).length === 1);

  await upgrade();
  const { ctx } = s.service;
  expect((await s.call('GET', '/health/ready')).status).toBe(200);
  const now = ctx.runnerStatus()!;
  expect([now.protocol, now.pid === oldPid, ctx.formerRunners.list().map(({ id }) => id)]).toEqual([
    PROTOCOL_VERSION,
    false,
    [oldId],
  ]);
  expect([(await visit(s, preview.url, '/file')).text, await runnerOf(working.threadId)]).toEqual([
    'first',
    oldId,
  ]);

  const next = (await working.send(sh('cat done.txt > seen.txt'))).run;
  expect(await working.ended(run.id)).toMatchObject({ status: 'completed', error: null });
  const seen = await working.ended(next.id);
  expect(await working.files(seen.resultSourceId)).toMatchObject({
    'done.txt': 'done\n',
    'seen.txt': 'done\n',
  });
  expect(await runnerOf(working.threadId)).toBe(`${now.id}:${now.pid}`);

  const [{ id: approval }] = await asking.list('approvals');
  await ok(s.call('POST', `${asking.at}/approvals/${approval}`, { decision: 'approve' }));
  expect(await asking.ended(asked.id)).toMatchObject({ status: 'completed', error: null });

  const { build: built } = await ok(s.call('GET', `${builds.url}/builds/${build.id}?waitSeconds=30`));
  expect([built.status, built.error]).toEqual(['ready', null]);

  // Saved without a call, since the old runner's workspaces do not wait for their idle time.
  await until(
    'the idle workspace to be saved',
    async () => (await idle.thread()).workspaceStatus === 'archived',
  );
  expect(await recoveries(idle)).toEqual([{ 'a.txt': 'a\n', 'kept.txt': 'kept\n', 'late.txt': 'late\n' }]);
  expect(await history(idle)).toEqual(['null preparing', 'preparing ready', 'ready archived']);
  await idle.work(sh('cat kept.txt'));

  expect((await visit(s, preview.url, '/file')).text).toBe('first');
  await ok(s.call('DELETE', `${previews.url}/previews/${preview.id}`));
  await until('the old runner to be released', () => ctx.formerRunners.list().length === 0);
  for (const bench of [working, asking, idle])
    expect(new Set(await endsOf(bench))).toEqual(new Set(['run.completed']));
  expect([(await endsOf(working)).length, (await endsOf(asking)).length]).toEqual([2, 1]);
  await until(
    'the old runner to end by itself',
    () => {
      try {
        process.kill(oldPid, 0);
        return false;
      } catch {
        return true;
      }
    },
    (IDLE_SECONDS + 15) * 1000,
  );
  expect((await s.call('GET', '/health/ready')).status).toBe(200);
});
