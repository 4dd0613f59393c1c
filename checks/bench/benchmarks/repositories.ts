/**
 * Threads of projects with a repository: from a commit that is stored to ready; the first fetch of a
 * repository, compared with git's fetch and checkout and an import of the same files; and the event loop while
 * the largest repository becomes a source and is compared.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { commitSource } from '../../../packages/server/src/commits/commit-source.ts';
import { openUpstream, Upstream } from '../../../packages/server/src/commits/commits.fixture.ts';
import type { Context } from '../../../packages/server/src/context.ts';
import { openDatabase } from '../../../packages/server/src/db/database.ts';
import { transaction } from '../../../packages/server/src/db/transaction.ts';
import { gitEnvironment } from '../../../packages/server/src/git/run-git.ts';
import { insertSource } from '../../../packages/server/src/sources/insert-source.ts';
import { ImportPool } from '../../../packages/server/src/sources/import/pool.ts';
import { stageBlobs } from '../../../packages/server/src/sources/stage.ts';
import { createLocalStore } from '../../../packages/server/src/storage/local-store.ts';
import { startDatabase, startServiceOn } from '../../harness/database.ts';
import { makeFiles, writeFiles } from '../../harness/files.ts';
import type { Service } from '../../harness/service.ts';
import { summarize } from '../../harness/statistics.ts';
import type { Aim, Benchmark, Row, Setup } from '../lib/benchmark.ts';
import { makeProbe } from '../lib/probe.ts';

const MIB = 1024 * 1024;
const LARGEST = { files: 50_000, bytes: 255 * MIB };
const READY_MS = 300_000;

export const repositoriesBenchmark: Benchmark = {
  name: 'repositories',
  title: 'Threads from commits, first fetches, and the largest repository',
  async run(setup) {
    const parts = [await threadsFromCommits(setup), await firstFetches(setup), await largest(setup)];
    return {
      rows: parts.flatMap(({ rows }) => rows),
      aims: parts.flatMap(({ aims }) => aims),
      notes: [
        'The event loop is probed inside the service every 10 ms, which are subtracted. The largest repository lies in the built-in provider: nothing is transferred.',
      ],
    };
  },
};

interface Part {
  rows: Row[];
  aims: Aim[];
}

async function timed(work: () => unknown): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

/** A project bound to a repository of the service that sees the upstream's objects, and its branch after `push`. */
async function bind(service: Service, upstream: Upstream) {
  const { body } = await service.call('POST', '/api/source-control/scm/repositories', {
    name: `r-${process.hrtime.bigint()}`,
  });
  const { id: repositoryId } = body.repository;
  const folder = join(service.dataDir, 'repositories', `${repositoryId as string}.git`);
  writeFileSync(join(folder, 'objects', 'info', 'alternates'), `${join(upstream.dir, '.git', 'objects')}\n`);
  const push = () => {
    const tip = upstream.git('rev-parse', 'main');
    upstream.git('--git-dir', folder, 'update-ref', 'refs/heads/main', tip);
  };
  push();
  const { project } = (await service.call('POST', '/api/projects', { name: 'Benchmark', repositoryId })).body;
  return { projectId: project.id as string, push };
}

async function readyThread(service: Service, projectId: string): Promise<{ ms: number; sourceId: string }> {
  const from = performance.now();
  const { thread } = (await service.call('POST', '/api/threads', { projectId })).body;
  for (const deadline = Date.now() + READY_MS; Date.now() < deadline; await sleep(5)) {
    const { thread: now } = (await service.call('GET', `/api/threads/${thread.id as string}`)).body;
    if (now.initializationState === 'completed')
      return { ms: performance.now() - from, sourceId: now.sourceId as string };
    if (now.initializationState === 'failed') throw new Error(String(now.initializationErrorMessage));
  }
  throw new Error('the thread was not ready in time');
}

async function threadsFromCommits({ start, quick, say, atEnd }: Setup): Promise<Part> {
  const upstream = new Upstream();
  atEnd(() => upstream.remove());
  writeFiles(upstream.dir, makeFiles(1_000, 4 * MIB));
  upstream.commit({});
  const service = await start();
  const { projectId } = await bind(service, upstream);
  const first = await readyThread(service, projectId);
  const times: number[] = [];
  for (let round = 0; round < (quick ? 3 : 20); round++)
    times.push((await readyThread(service, projectId)).ms);
  const figures = summarize(times);
  say(`1,000 files: first ${first.ms.toFixed(0)} ms, then ${figures.median.toFixed(0)} ms`);
  return {
    rows: [
      { what: '1,000 files: thread from a new commit to ready', unit: 'ms', figures: summarize([first.ms]) },
      { what: '1,000 files: from a stored commit', unit: 'ms', figures },
    ],
    aims: [
      { what: 'from a stored commit (median)', bound: 'most', limit: 300, value: figures.median, unit: 'ms' },
    ],
  };
}

async function firstFetches(setup: Setup): Promise<Part> {
  const { scratch, quick, say, atEnd } = setup;
  const upstream = new Upstream();
  atEnd(() => upstream.remove());
  const files = makeFiles(10_000, 30 * MIB);
  writeFiles(upstream.dir, files);
  const commitSha = upstream.commit({});
  const json = Buffer.from(JSON.stringify({ files }));
  const { ctx: base, newProject } = await openContext(setup);
  const ours: number[] = [];
  const byHand: number[] = [];
  for (let round = 0; round < (quick ? 1 : 6); round++) {
    const dataDir = mkdtempSync(join(scratch, 'data-'));
    const ctx = {
      ...base,
      config: {
        ...base.config,
        dataDir,
        scm: { historyDepth: 50 },
        repositoryLimits: { files: 50_000, bytes: 256 * MIB, fileBytes: 32 * MIB },
      },
    } as unknown as Context;
    const project = await newProject();
    ours.push(
      await timed(() =>
        commitSource(
          ctx,
          project,
          openUpstream(upstream, () => ({ url: `file://${upstream.dir}` })),
          {
            commitSha,
            branch: 'main',
          },
        ),
      ),
    );
    const other = await newProject();
    const git = fetchAndCheckOut(mkdtempSync(join(scratch, 'git-')), upstream.dir);
    byHand.push(git + (await timed(() => importFiles(ctx, other, Buffer.from(json)))));
    say(`10,000 files: ours ${ours.at(-1)!.toFixed(0)} ms, by hand ${byHand.at(-1)!.toFixed(0)} ms`);
  }
  const [own, hand] = [summarize(ours), summarize(byHand)];
  return {
    rows: [
      { what: '10,000 files: first fetch to stored source', unit: 'ms', figures: own },
      { what: 'git fetch, git checkout and an import of the files', unit: 'ms', figures: hand },
    ],
    aims: [
      {
        what: 'first fetch, of git and an import (medians)',
        bound: 'most',
        limit: 1.3,
        value: own.median / hand.median,
        unit: '×',
      },
    ],
  };
}

/** A database and a store of its own, in this process. */
async function openContext(setup: Setup) {
  const database = await startDatabase(setup.scratch);
  setup.atEnd(() => database.stop());
  const service = await startServiceOn(setup, database, { HEADRACE_ROLES: 'api' });
  const { db, close } = openDatabase({ connectionString: database.url });
  setup.atEnd(close);
  const pool = new ImportPool();
  setup.atEnd(() => pool.close());
  const store = await createLocalStore(mkdtempSync(join(setup.scratch, 'objects-')));
  const ctx = { db, pool, store, bus: { notify: () => undefined } } as unknown as Context;
  return {
    ctx,
    async newProject() {
      const { body } = await service.call('POST', '/api/projects', { name: 'Benchmark' });
      return db
        .selectFrom('projects')
        .selectAll()
        .where('id', '=', body.project.id as string)
        .executeTakeFirstOrThrow();
    },
  };
}

function fetchAndCheckOut(dir: string, from: string): number {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: dir, env: gitEnvironment(), stdio: 'ignore' });
  git('init', '--quiet');
  const began = performance.now();
  git('fetch', '--quiet', '--depth=50', '--no-tags', `file://${from}`, 'main');
  git('checkout', '--quiet', 'FETCH_HEAD');
  return performance.now() - began;
}

async function importFiles(
  ctx: Context,
  project: Parameters<typeof insertSource>[1],
  json: Buffer,
): Promise<void> {
  const imported = await ctx.pool.parseImport(json, 'application/json');
  if (!('manifest' in imported)) throw new Error('The import was refused.');
  const { handle, manifest } = imported;
  const sha256s = [...manifest.values()].map((entry) => entry.sha256);
  const staged = await stageBlobs(ctx, project, { handle, sha256s });
  await transaction(ctx, (tx) =>
    insertSource(tx, project, {
      tree: imported,
      parents: [],
      origin: 'import',
      threadId: null,
      runId: null,
      message: null,
      staged,
    }),
  );
}

async function largest({ scratch, start, say, atEnd }: Setup): Promise<Part> {
  const upstream = new Upstream();
  atEnd(() => upstream.remove());
  writeFiles(upstream.dir, makeFiles(LARGEST.files, LARGEST.bytes));
  upstream.commit({});
  const probe = makeProbe(scratch);
  const service = await start(probe.options);
  const { projectId, push } = await bind(service, upstream);
  const seen = async () => (await probe.ask(service.pid)).loop;
  await seen();
  const first = await readyThread(service, projectId);
  const duringFirst = await seen();
  upstream.commit(Object.fromEntries(makeFiles(500, 200_000).map(({ path }) => [path, `${path}\n`])));
  push();
  await seen();
  const second = await readyThread(service, projectId);
  const duringSecond = await seen();
  const at = `/api/projects/${projectId}/sources/${second.sourceId}`;
  const diff = await timed(async () => {
    const { body } = await service.call('GET', `${at}/diff?base=${first.sourceId}`);
    if (body.diff.files.length !== 500) throw new Error(`${String(body.diff.files.length)} files differ`);
  });
  const duringDiff = await seen();
  const git = await timed(() => upstream.git('diff', '--output=/dev/null', 'HEAD~', 'HEAD'));
  say(
    `50,000 files: ${first.ms.toFixed(0)} ms, next commit ${second.ms.toFixed(0)} ms, diff ${diff.toFixed(0)} ms`,
  );
  const what = '50,000 files, 255 MiB';
  return {
    rows: [
      { what: `${what}: thread from a new commit to ready`, unit: 'ms', figures: summarize([first.ms]) },
      { what: 'event loop delay during it', unit: 'ms', figures: duringFirst },
      {
        what: `${what}: from the next commit, 500 files changed`,
        unit: 'ms',
        figures: summarize([second.ms]),
      },
      { what: 'event loop delay during it', unit: 'ms', figures: duringSecond },
      { what: `${what}: diff of the two`, unit: 'ms', figures: summarize([diff]) },
      { what: 'event loop delay during it', unit: 'ms', figures: duringDiff },
      { what: 'git diff of the two', unit: 'ms', figures: summarize([git]) },
    ],
    aims: [duringFirst, duringSecond, duringDiff].map((loop, index) => ({
      what: `event loop, ${['new commit', 'next commit', 'diff'][index]!}, p99`,
      bound: 'most' as const,
      limit: 50,
      value: loop.p99,
      unit: 'ms' as const,
    })),
  };
}
