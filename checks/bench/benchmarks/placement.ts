/**
 * Where new work begins, among 300 runners with 10,000 workspaces: what a worker does for it before it calls the runner.
 * All runners report meanwhile, at their real pace, and the workers' rounds over them go on.
 */
import { readFileSync } from 'node:fs';
import { sql } from 'kysely';
import type { Benchmark, Setup } from '../lib/benchmark.ts';
import { onServer, openHandle, quietLog, startJobServer } from '../lib/job-versions.ts';
import type { JobVersion } from '../lib/job-versions.ts';
import { summarize } from '../../harness/statistics.ts';
import type { Context } from '../../../packages/server/src/context.ts';
import { judgeSilent, recordReports, recountPlaces } from '../../../packages/server/src/runner/store.ts';
import type { Report } from '../../../packages/server/src/runner/store.ts';
import { Fleet } from '../../../packages/server/src/runner/fleet.ts';
import { freeAfter, placeWork } from '../../../packages/server/src/runner/place-work.ts';
import { placeThread } from '../../../packages/server/src/workspaces/place-thread.ts';
import { PROTOCOL_RANGE, REGISTER_MS } from '../../../packages/runner/src/registration.ts';

const RUNNERS = 300;
const CAPACITY = 32;
const THREADS = 10_000;
const PROJECTS = 1_000;
/** Of all places, those that other work has. */
const TAKEN = 0.7;
/** Runners that keep files of one project. */
const KEEPERS = 20;
/** Runners whose reports are recorded together, as a worker does it. */
const TOGETHER = 10;

const runnerId = (n: number) => `rnr_${String(n).padStart(26, '0')}`;
const projectOf = (n: number) => `prj_${String(n).padStart(26, '0')}`;
const threadId = (n: number) => `thr_${String(n).padStart(26, '0')}`;

export const placementBenchmark: Benchmark = {
  name: 'placement',
  title: `Placement among ${RUNNERS} runners with ${THREADS} workspaces`,
  async run(setup) {
    const server = await startJobServer(setup);
    const version = server.versions[0]!;
    const handle = await openHandle(version, { max: 1 });
    const others = await openHandle(version, { max: 4 });
    await fill(version, others.db);
    // The first ones may be old by now.
    await reportAll(others.db);
    const fleet = new Fleet({
      db: others.db,
      log: quietLog,
      pool: 'default',
      connect: () => ({ close() {} }) as ReturnType<ConstructorParameters<typeof Fleet>[0]['connect']>,
    });
    const stopReports = report(others.db);
    setup.atEnd(async () => {
      stopReports();
      await fleet.close();
      await handle.close();
      await others.close();
    });
    const ctx = { db: handle.db, fleet, log: quietLog, bus: { notify() {} } } as unknown as Context;
    const { rows } = await handle.pool.query<{ pid: number }>('select pg_backend_pid() as pid');
    const series = await place(setup, ctx, () => cpuOf(rows[0]!.pid));
    stopReports();
    const spread = await placeMany(setup, { ...ctx, db: others.db });
    return {
      rows: Object.entries(series).map(([what, samples]) => ({
        what,
        unit: 'ms',
        figures: summarize(samples),
      })),
      aims: [
        ...(['new thread', 'known thread'] as const).map((what) => ({
          what: `${what}: CPU of PostgreSQL, p99`,
          bound: 'most' as const,
          limit: 5,
          value: summarize(series[`${what}: CPU of PostgreSQL`]!).p99,
          unit: 'ms' as const,
        })),
        {
          what: 'the fullest runner at 70 %, of the mean',
          bound: 'most',
          limit: 1.3,
          value: spread.imbalance,
          unit: '×',
        },
      ],
      notes: [
        spread.text,
        'A new thread has no workspace, a known one has it at a runner. CPU is that of the process of the connection that places, by the kernel; the answer includes waiting for a core, and for the disk at each commit.',
      ],
    };
  },
};

async function place(setup: Setup, ctx: Context, cpu: () => number): Promise<Record<string, number[]>> {
  const series: Record<string, number[]> = {};
  const add = (what: string, ms: number) => void (series[what] ??= []).push(ms);
  const job = { signal: new AbortController().signal };
  const count = setup.quick ? 200 : 2_000;
  for (let n = -50; n < count; n++) {
    // The first half of all threads has no workspace.
    for (const [what, id] of [
      ['new thread', threadId(2 + 2 * Math.floor(Math.random() * (THREADS / 2)))],
      ['known thread', threadId(1 + 2 * Math.floor(Math.random() * (THREADS / 2)))],
    ] as const) {
      const [from, before] = [performance.now(), cpu()];
      const placed = await placeThread(ctx, id);
      const [ms, used] = [performance.now() - from, cpu() - before];
      if (typeof placed === 'string') throw new Error(`${what}: ${placed}`);
      await freeAfter(ctx, job, `thread:${id}`);
      if (n < 0) continue;
      add(`${what}: answer`, ms);
      add(`${what}: CPU of PostgreSQL`, used);
    }
  }
  return series;
}

/** Of the work that is placed by several workers at once, until 70 % of all places are taken, and then comes and goes. */
const MANY = { capacity: 16, placers: 8, projects: 600 };
/** Of the runs of a thread, all but the first begin where its workspace is. */
const RUNS_OF_THREAD = 3;

async function placeMany(setup: Setup, ctx: Context): Promise<{ imbalance: number; text: string }> {
  await sql`truncate runner_places`.execute(ctx.db);
  await sql`update runners set reserved = 0`.execute(ctx.db);
  const job = { signal: new AbortController().signal };
  const groups = Array.from({ length: RUNNERS }, () => new Set<string>());
  const held: { holder: string; runner: number }[] = [];
  const target = Math.floor(RUNNERS * MANY.capacity * TAKEN);
  const steps = Math.floor((setup.quick ? 1.2 : 2) * target);
  let [step, warm, counted] = [0, 0, 0];
  let reportedAt = 0;
  const reportMany = async () => {
    reportedAt = performance.now();
    for (let from = 0; from < RUNNERS; from += TOGETHER)
      await recordReports(
        ctx.db,
        groups
          .slice(from, from + TOGETHER)
          .map((of, i) => ({ ...reportOf(1 + from + i), capacity: MANY.capacity, groups: [...of] })),
      );
  };
  await reportMany();
  const placer = async () => {
    while (step < steps) {
      const n = step++;
      // About as many as are placed while all report once.
      if (n % RUNNERS === 0 || performance.now() - reportedAt > REGISTER_MS) await reportMany();
      if (held.length >= target) {
        const [ended] = held.splice(Math.floor(Math.random() * held.length), 1);
        await freeAfter(ctx, job, ended!.holder);
      }
      const projectId = projectOf(Math.floor(Math.random() ** 2 * MANY.projects));
      const holder = `build:many${n}`;
      const placed = await placeWork(ctx, { holder, projectId, near: null });
      if (typeof placed === 'string') throw new Error(placed);
      const runner = Number(placed.at!.id.slice(4)) - 1;
      if (n >= target) counted++;
      if (n >= target && groups[runner]!.has(projectId)) warm++;
      groups[runner]!.add(projectId);
      held.push({ holder, runner });
    }
  };
  await Promise.all(Array.from({ length: MANY.placers }, placer));
  const loads = Array.from({ length: RUNNERS }, (_, n) => held.filter(({ runner }) => runner === n).length);
  const [most, mean] = [Math.max(...loads), held.length / RUNNERS];
  if (most > MANY.capacity) throw new Error(`a runner has ${most} of ${MANY.capacity} places`);
  const first = (100 * warm) / counted;
  return {
    imbalance: most / mean,
    text: `${steps} pieces of work of ${MANY.projects} projects, placed by ${MANY.placers} workers at once from nothing on: at ${held.length} of ${RUNNERS * MANY.capacity} places the fullest runner has ${most}, the emptiest ${Math.min(...loads)}, on average ${mean.toFixed(1)}. ${first.toFixed(1)} % of what came afterwards began where files of the project were; with ${RUNS_OF_THREAD} runs a thread, of which the others find its workspace, ${((first + 100 * (RUNS_OF_THREAD - 1)) / RUNS_OF_THREAD).toFixed(1)} % of all runs.`,
  };
}

/** ms of a process on a core, by the kernel's own count. */
const cpuOf = (pid: number) => Number(readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ')[0]) / 1e6;

const reportOf = (n: number): Report => ({
  bootId: runnerId(n),
  name: `node-${n}`,
  address: `node-${n}.test:4403`,
  pool: 'default',
  protocol: [...PROTOCOL_RANGE],
  capacity: CAPACITY,
  isDraining: false,
  status: {
    id: runnerId(n),
    pid: n,
    driver: 'bubblewrap',
    ok: true,
    missing: [],
    limits: { memory: 'cgroup', processes: 'cgroup', cpu: 'cgroup', warnings: [] },
    egress: { allowed: n, refused: 0 },
    restore: 'overlay',
    load: {
      memoryBytes: 64 * 2 ** 30,
      freeBytes: Math.round((20 + 30 * Math.random()) * 2 ** 30),
      sandboxes: 20,
    },
  },
  tasks: [],
  workspaces: [],
  groups: Array.from({ length: PROJECTS }, (_, project) => project)
    .filter((project) => (project * 7 + n) % (RUNNERS / KEEPERS) === 0)
    .map(projectOf),
});

async function reportAll(db: Context['db']): Promise<void> {
  for (let n = 1; n <= RUNNERS; n += TOGETHER)
    await recordReports(
      db,
      Array.from({ length: TOGETHER }, (_, i) => reportOf(n + i)),
    );
}

async function fill({ connection }: JobVersion, db: Context['db']): Promise<void> {
  await reportAll(db);
  // Every second thread has its workspace at a runner. The rows are right by construction, without their projects.
  await onServer(
    connection,
    `set session_replication_role = replica;
     insert into threads (org_id, project_id, listed, id, status, title, initialization_state, created_by, workspace_status, runner_id)
     select 'org_bench', 'prj_' || lpad((n % ${PROJECTS})::text, 26, '0'), true, 'thr_' || lpad(n::text, 26, '0'), 'ready', 'Thread ' || n, 'completed', 'sa_bench',
       case when n % 2 = 1 then 'ready' else 'archived' end, case when n % 2 = 1 then 'rnr_' || lpad((1 + n / 2 % ${RUNNERS})::text, 26, '0') end
     from generate_series(1, ${2 * THREADS}) n;
     insert into runner_places (holder, boot_id)
     select 'build:' || n, 'rnr_' || lpad((1 + n % ${RUNNERS})::text, 26, '0') from generate_series(1, ${Math.floor(RUNNERS * CAPACITY * TAKEN)}) n;
     insert into jobs (kind, key, payload, run_at) select 'nothing', holder, '{}', 'infinity' from runner_places;
     update runners r set reserved = (select count(*) from runner_places p where p.boot_id = r.boot_id)`,
  );
  await onServer(connection, 'vacuum analyze');
}

/** Reports of all runners at their pace, and the rounds of one worker. Returns how to end them. */
function report(db: Context['db']): () => void {
  let next = 0;
  const server = 'none';
  const timers = [
    setInterval(
      () => {
        const from = next;
        next = (next + TOGETHER) % RUNNERS;
        void recordReports(
          db,
          Array.from({ length: TOGETHER }, (_, i) => reportOf(1 + from + i)),
        );
      },
      (REGISTER_MS * TOGETHER) / RUNNERS,
    ),
    setInterval(() => void judgeSilent(db, server), 1_000),
    setInterval(() => void db.transaction().execute((tx) => recountPlaces({ db: tx } as never)), 10_000),
  ];
  return () => timers.forEach((timer) => clearInterval(timer));
}
