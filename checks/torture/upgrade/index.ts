/**
 * Upgrades from older commits of this repository, with runs, a queued message, a build and a preview alive at the
 * older version's runner. Each run has to end once, as it would have without the upgrade.
 *
 * Seen to fail: a service that sends every call to its own runner (all runs, the build and the preview lost).
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { newAppWith, newReadyThread } from '../../harness/apps.ts';
import type { Caller } from '../../harness/http.ts';
import type { Service } from '../../harness/service.ts';
import type { Part, Setup } from '../lib/part.ts';
import { olderCommits, unpack } from './older.ts';

const THREADS = 4;
const WAIT_MS = 60_000;
const FILES = [{ path: 'a.txt', content: 'a\n' }];
const SERVE = `node -e 'require("http").createServer((q, r) => r.end("shown")).listen(3210)'`;

interface Work {
  app: string;
  runs: { path: string; file: string }[];
  build: string;
  preview: { path: string; url: string };
}

export const upgradePart: Part = {
  name: 'upgrade',
  title: 'An upgrade with work alive loses none of it',
  seconds: 120,
  async run(setup) {
    const failures: string[] = [];
    // A short run upgrades from none: each takes a quarter of a minute.
    const commits = olderCommits().slice(0, setup.count(2, 0));
    for (const commit of commits) failures.push(...(await upgradeFrom(setup, commit)));
    const figures = { upgrades: commits.length, runs: commits.length * THREADS * 2, lost: failures.length };
    return {
      line:
        commits.length === 0
          ? 'nothing was upgraded: the run is short, or the clone has no older commit'
          : `upgraded from ${commits.map((commit) => commit.slice(0, 8)).join(' and ')} with ${figures.runs} runs, a build and a preview each: ${figures.lost} lost`,
      figures,
      failures,
    };
  },
};

async function upgradeFrom(setup: Setup, commit: string): Promise<string[]> {
  const main = unpack(commit, join(setup.scratch, commit));
  const older = await setup.start({ main });
  const work = await begin(older);
  await end(older);
  const newer = await setup.start({ dataDir: older.dataDir, key: older.key });
  setup.say(`upgraded from ${commit.slice(0, 8)}`);
  const failures = await judge(newer, work);
  await newer.stop();
  return failures.map((failure) => `from ${commit.slice(0, 8)}: ${failure}`);
}

/** SIGTERM to the service alone: its runner stays. */
async function end(service: Service): Promise<void> {
  service.close();
  process.kill(service.pid, 'SIGTERM');
  while (service.isUp()) await sleep(50);
}

async function begin(caller: Caller): Promise<Work> {
  const { app, sourceId } = await newAppWith(caller, FILES);
  const runs: Work['runs'] = [];
  const send = async (thread: string, file: string, command: string) => {
    const content = `\`\`\`sh\n${command}; echo ${file} > ${file}\n\`\`\``;
    const { body } = await caller.call('POST', `${thread}/messages`, { content });
    runs.push({ path: `${thread}/runs/${body.run.id as string}`, file });
  };
  for (let i = 0; i < THREADS; i++) {
    const thread = await newReadyThread(caller, app, sourceId);
    await send(thread, `first${i}`, 'sleep 10');
    await send(thread, `then${i}`, `test -e first${i}`);
  }
  const [building, shown] = [
    await newReadyThread(caller, app, sourceId),
    await newReadyThread(caller, app, sourceId),
  ];
  const { build } = (
    await caller.call('POST', `${building}/builds`, {
      command: 'sleep 10; mkdir dist; echo x > dist/x',
      outputDirectory: 'dist',
    })
  ).body;
  const { preview } = (await caller.call('POST', `${shown}/previews`, { command: SERVE, port: 3210 })).body;
  const path = `${app}/previews/${preview.id as string}`;
  const ready = (await caller.call('GET', `${path}?waitSeconds=30`)).body.preview;
  return {
    app,
    runs,
    build: `${app}/builds/${build.id as string}`,
    preview: { path, url: ready.url as string },
  };
}

async function judge(caller: Service, { app, runs, build, preview }: Work): Promise<string[]> {
  const failures: string[] = [];
  const expectIt = (what: string, found: unknown, wanted: unknown) => {
    if (found !== wanted) failures.push(`${what}: ${String(found)} instead of ${String(wanted)}`);
  };
  expectIt('/health/ready', (await caller.send('GET', '/health/ready')).status, 200);
  const visit = await caller.send('GET', '/', { headers: { host: new URL(preview.url).host } });
  expectIt('the preview', visit.status, 200);
  for (const { path, file } of runs) {
    const run = await ended(caller, path, 'run');
    expectIt(path, run.status, 'completed');
    if (run.resultSourceId === null) continue;
    const { files } = (await caller.call('GET', `${app}/sources/${run.resultSourceId}/files`)).body;
    expectIt(
      `${path}: ${file}`,
      (files as { path: string }[]).some((one) => one.path === file),
      true,
    );
  }
  expectIt(build, (await ended(caller, build, 'build')).status, 'ready');
  expectIt(preview.path, (await caller.call('GET', preview.path)).body.preview.status, 'ready');
  const { events } = (await caller.call('GET', `${app}/events?limit=500&types=run.completed,run.failed`))
    .body;
  expectIt('ends of runs in the log', (events as unknown[]).length, runs.length);
  return failures;
}

async function ended(caller: Caller, path: string, name: 'run' | 'build') {
  for (const deadline = Date.now() + WAIT_MS; ;) {
    const found = (await caller.call('GET', `${path}?waitSeconds=20`)).body[name];
    if (found.finishedAt !== null || Date.now() > deadline) return found;
  }
}
