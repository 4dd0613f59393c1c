/**
 * Many projects at once, each with a queue of drafts: 20 × 50 applies of apps of 100 files, from the first
 * POST to the last `applied`. As a second series every draft changes a line of one file, so that git merges
 * each. For comparison, git makes the same merges alone, as one would build it by hand: three commands an
 * apply in 20 ready repositories, 20 at once.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { newAppWith } from '../../harness/apps.ts';
import type { Benchmark, Row, Setup } from '../lib/benchmark.ts';
import { cpuBelow, cpuOfEnded } from '../lib/cpu.ts';
import { startDatabase, startServiceOn } from '../../harness/database.ts';
import { makeFiles } from '../../harness/files.ts';
import type { AppFile } from '../../harness/files.ts';
import { timed } from '../../harness/git.ts';
import { PLATFORM } from '../../harness/http.ts';
import type { Caller } from '../../harness/http.ts';
import { inLanes } from '../../harness/lanes.ts';
import { makeProbe } from '../lib/probe.ts';
import { summarize } from '../../harness/statistics.ts';

const FILES = 100;
const BYTES = 320 * 1024;
const SHARED = 'src/shared.ts';
/** Unchanged lines between the drafts' lines: git merges changes that are three lines apart. */
const APART = 8;
/** Requests at a time while the drafts are prepared. */
const LANES = 16;
const END_LIMIT_MS = 180_000;

type Series = 'own' | 'shared';
const SERIES: readonly { name: Series; what: string }[] = [
  { name: 'own', what: 'each draft another file' },
  { name: 'shared', what: 'each draft a line of one file' },
];

interface Size {
  projects: number;
  drafts: number;
}

interface Draft {
  app: string;
  thread: string;
  sourceId: string;
}

interface Measured {
  perSecond: number;
  /** From each POST to the event of its end. */
  latencies: number[];
  loopP99: number;
  cpuMs: number;
}

export const appliesBenchmark: Benchmark = {
  name: 'applies',
  title: 'Applies of many projects at once',
  async run(setup) {
    const size = setup.quick ? { projects: 8, drafts: 8 } : { projects: 20, drafts: 50 };
    const total = size.projects * size.drafts;
    const database = await startDatabase(setup.scratch);
    setup.atEnd(() => database.stop());
    const probe = makeProbe(setup.scratch);
    const service = await startServiceOn(setup, database, probe.options.env, probe.options.nodeArgs);
    const rows: Row[] = [];
    const notes = [
      `${size.projects} apps of ${FILES} files, ${size.drafts} drafts each; clients post without waiting for the end of earlier applies, for each app one after the other. Every app's last head was checked to contain all ${size.drafts} edits. CPU covers service, PostgreSQL and git.`,
    ];
    const aims: Awaited<ReturnType<Benchmark['run']>>['aims'] = [];
    for (const { name, what } of SERIES) {
      const byHand = await handBuilt(setup, name, size);
      setup.say(`${what}: git by hand ${byHand.perSecond.toFixed(1)} a second; preparing ${total} drafts`);
      const apps = await prepare(service, name, size);
      const measured = await applyAll(service, apps, async () => (await probe.ask(service.pid)).loop.p99);
      await expectAll(service, apps, name, size);
      setup.say(`${what}: ${measured.perSecond.toFixed(1)} applies a second`);
      rows.push(
        { what: `${what}: applies`, unit: 'applies/s', figures: summarize([measured.perSecond]) },
        { what: `${what}: git by hand`, unit: 'applies/s', figures: summarize([byHand.perSecond]) },
        {
          what: `${what}: POST → applied seen, its turn waited for`,
          unit: 'ms',
          figures: summarize(measured.latencies),
        },
        { what: `${what}: CPU an apply`, unit: 'ms', figures: summarize([measured.cpuMs / total]) },
        { what: `${what}: CPU of git by hand`, unit: 'ms', figures: summarize([byHand.cpuMs / total]) },
      );
      aims.push({
        what: `${what}: p99 of the service's event loop`,
        bound: 'most',
        limit: 50,
        value: measured.loopP99,
        unit: 'ms',
      });
    }
    notes.push(
      'An apply is two transactions, each on disk before it is answered, a durable version, events and a sealed thread; git by hand runs merge-tree, commit-tree and update-ref in repositories that have every object, and syncs nothing.',
    );
    return { rows, aims, notes };
  },
};

const lines = (drafts: number, changed: readonly number[]) =>
  Array.from(
    { length: (drafts + 1) * APART },
    (_, line) =>
      `${changed.includes((line + 4) / APART - 1) ? `changed by ${(line + 4) / APART - 1}` : `line ${line}`}\n`,
  ).join('');
const filesOf = ({ drafts }: Size): AppFile[] => [
  ...makeFiles(FILES - 1, BYTES),
  { path: SHARED, content: lines(drafts, []) },
];

function changeOf(series: Series, files: readonly AppFile[], { drafts }: Size, n: number): AppFile {
  const { path, content } = files[n]!;
  return series === 'shared'
    ? { path: SHARED, content: lines(drafts, [n]) }
    : { path, content: `${content}changed by ${n};\n` };
}

/**
 * Apps with drafts that all start from the first head, and workspaces that are ready: nothing but applies
 * is to go on later.
 */
async function prepare(service: Caller, series: Series, size: Size): Promise<Draft[][]> {
  const files = filesOf(size);
  const apps: Draft[][] = [];
  await inLanes(4, Array.from({ length: size.projects }), async (_, project) => {
    const { app, sourceId } = await newAppWith(service, files);
    const drafts: Draft[] = [];
    apps[project] = drafts;
    await inLanes(LANES / 4, Array.from({ length: size.drafts }), async (__, n) => {
      const { thread } = (await service.call('POST', `${app}/threads`, { sourceId })).body;
      const path = `${app}/threads/${thread.id as string}`;
      const { source } = (
        await service.call('POST', `${path}/edits`, {
          expectedSourceId: sourceId,
          changes: [changeOf(series, files, size, n)],
        })
      ).body;
      drafts[n] = { app, thread: path, sourceId: source.id as string };
    });
  });
  for (const { thread } of apps.flat()) {
    for (const deadline = Date.now() + END_LIMIT_MS; ; await sleep(50)) {
      const { initializationState: state } = (await service.call('GET', thread)).body.thread;
      if (state === 'completed') break;
      if (Date.now() > deadline) throw new Error(`A workspace is ${String(state)}`);
    }
  }
  return apps;
}

async function applyAll(
  service: Caller,
  apps: readonly Draft[][],
  loopP99: () => Promise<number>,
): Promise<Measured> {
  const total = apps.flat().length;
  const { all } = await openEnds(service, total);
  await loopP99();
  const posted = new Map<string, number>();
  const [cpuFrom, from] = [cpuBelow(), performance.now()];
  await Promise.all(
    apps.map(async (drafts) => {
      for (const { thread, sourceId } of drafts) {
        const at = performance.now();
        const { apply } = (
          await service.call(
            'POST',
            `${thread}/apply`,
            { expectedSourceId: sourceId, clientOperationId: thread, conflictResolution: 'manual' },
            { key: thread },
          )
        ).body;
        posted.set(apply.id as string, at);
      }
    }),
  );
  const ends = await all;
  const seconds = (Math.max(...ends.values()) - from) / 1000;
  const cpuMs = cpuBelow() - cpuFrom;
  return {
    perSecond: total / seconds,
    latencies: [...posted].map(([id, at]) => ends.get(id)! - at),
    cpuMs,
    loopP99: await loopP99(),
  };
}

/**
 * Resolves when the stream is open. `all` resolves after so many events of applied applies, with the time of
 * each.
 */
async function openEnds(service: Caller, total: number): Promise<{ all: Promise<Map<string, number>> }> {
  const stream = await service.open(
    `${PLATFORM}/events/stream?types=platform.apply.applied,platform.apply.conflicted,platform.apply.failed`,
  );
  const { promise, resolve, reject } = Promise.withResolvers<Map<string, number>>();
  const ends = new Map<string, number>();
  const timer = setTimeout(
    () => reject(new Error(`Only ${ends.size} of ${total} applies ended in time`)),
    END_LIMIT_MS,
  );
  let rest = '';
  stream
    .setEncoding('utf8')
    .on('data', (part: string) => {
      const frames = (rest + part).split('\n\n');
      rest = frames.pop()!;
      for (const frame of frames) {
        const { type, data } = JSON.parse(/^data: (.*)$/m.exec(frame)?.[1] ?? '{}') as {
          type?: string;
          data?: { id: string };
        };
        if (type === 'platform.apply.applied') ends.set(data!.id, performance.now());
        else if (type?.startsWith('platform.apply.')) reject(new Error(`An apply ended by ${type}`));
      }
      if (ends.size === total) resolve(ends);
    })
    .once('error', reject);
  const close = () => {
    clearTimeout(timer);
    stream.destroy();
  };
  promise.then(close, close);
  return { all: promise };
}

/** Every app's head has every draft's edit, and nothing else. */
async function expectAll(
  service: Caller,
  apps: readonly Draft[][],
  series: Series,
  size: Size,
): Promise<void> {
  const files = filesOf(size);
  for (const [{ app }] of apps as [Draft][]) {
    const { head } = (await service.call('GET', `${app}/source-head`)).body;
    const expected = new Map(files.map(({ path, content }) => [path, content]));
    if (series === 'shared')
      expected.set(
        SHARED,
        lines(
          size.drafts,
          Array.from({ length: size.drafts }, (_, n) => n),
        ),
      );
    else
      for (let n = 0; n < size.drafts; n++)
        expected.set(files[n]!.path, changeOf(series, files, size, n).content);
    await inLanes(LANES, [...expected], async ([path, content]) => {
      const { file } = (
        await service.call(
          'GET',
          `${app}/sources/${head.sourceId as string}/file?path=${encodeURIComponent(path)}`,
        )
      ).body;
      if (file.content !== content) throw new Error(`${path} of ${app} is not what was merged`);
    });
    if (head.revision !== size.drafts + 1) throw new Error(`${app} is at revision ${String(head.revision)}`);
  }
}

/**
 * The same history in a repository for each project, packed; then all drafts of all of them, each
 * repository's one after the other.
 */
async function handBuilt(
  { scratch }: Setup,
  series: Series,
  size: Size,
): Promise<{ perSecond: number; cpuMs: number }> {
  const files = filesOf(size);
  const commit = (name: string, from: string | null, changes: readonly AppFile[]) =>
    `commit refs/heads/${name}\ncommitter b <b@example.test> 0 +0000\n${data(name)}${from === null ? '' : `from refs/heads/${from}\n`}${changes.map(({ path, content }) => `M 100644 inline ${path}\n${data(content)}`).join('')}\n`;
  const input = [
    commit('main', null, files),
    ...Array.from({ length: size.drafts }, (_, n) =>
      commit(`draft-${n}`, 'main', [changeOf(series, files, size, n)]),
    ),
  ].join('');
  const repositories = Array.from({ length: size.projects }, (_, n) => join(scratch, `${series}-${n}`));
  for (const repository of repositories) {
    mkdirSync(repository);
    await timed('git init -q --bare && git fast-import --quiet', { cwd: repository, input });
  }
  const [cpuFrom, from] = [cpuOfEnded(), performance.now()];
  await Promise.all(
    repositories.map(async (cwd) => {
      for (let n = 0; n < size.drafts; n++)
        await timed(
          `git update-ref refs/heads/main $(git commit-tree $(git merge-tree --write-tree main draft-${n}) -p main -p draft-${n} -m apply)`,
          { cwd },
        );
    }),
  );
  return {
    perSecond: (size.projects * size.drafts) / ((performance.now() - from) / 1000),
    cpuMs: cpuOfEnded() - cpuFrom,
  };
}

const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
