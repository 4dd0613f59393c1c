/**
 * The job queue with many active jobs and many workers: a claim, what workers do while there is nothing to do, and hints
 * between processes. `JOBS_FORMER=<folder of another checkout>` measures that one too, in turns.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Benchmark, Row, Setup } from '../lib/benchmark.ts';
import { cpuOfTree } from '../lib/cpu.ts';
import {
  busyCountsOf,
  fillJobs,
  numberOf,
  onServer,
  openHandle,
  quietLog,
  startJobServer,
} from '../lib/job-versions.ts';
import type { JobServer, JobVersion } from '../lib/job-versions.ts';
import { summarize } from '../../harness/statistics.ts';
import { makeServiceKey } from '../../../packages/server/src/accounts/keys.ts';
import type { Context } from '../../../packages/server/src/context.ts';

const ACTIVE = [100, 10_000, 50_000];
const WORKERS = 100;
/** Of the other version: more of them would need more cores than there are. */
const FORMER_WORKERS = 10;
const PROCESSES = [2, 32, 64];
const KINDS = ['run.work', 'build.work', 'preview.work', 'exec.work'] as const;

type Series = Map<string, number[]>;

export const jobsBenchmark: Benchmark = {
  name: 'jobs',
  title: 'Jobs: claims, housekeeping and hints with many jobs, workers and processes',
  async run(setup) {
    const server = await startJobServer(setup);
    const shares = await measureHousekeeping(setup, server);
    const claims = await measureClaims(setup, server);
    const hints = await measureHints(setup, server);
    const rows: Row[] = [...claims, ...hints.latencies].map(([what, series]) => ({
      what,
      unit: 'ms',
      figures: summarize(series),
    }));
    const now = shares.find(({ name }) => name === 'now')!;
    return {
      rows,
      aims: [
        {
          what: 'a claim with 10,000 active jobs, p99',
          bound: 'most',
          limit: 5,
          value: summarize(claims.get('claim, 10000 active, now')!).p99,
          unit: 'ms',
        },
        {
          what: `housekeeping of ${WORKERS} workers with 10,000 active jobs, of a core`,
          bound: 'most',
          limit: 10,
          value: now.perWorker * WORKERS,
          unit: '%',
        },
      ],
      notes: [...shares.map(shareText), ...hints.notes],
    };
  },
};

/** Claims one after the other; each job that is claimed ends, and another is queued, so that the numbers stay. */
async function measureClaims(setup: Setup, { versions }: JobServer): Promise<Series> {
  const series: Series = new Map();
  const add = (what: string, samples: number[]) =>
    series.set(what, [...(series.get(what) ?? []), ...samples]);
  for (const active of ACTIVE) {
    const claimers = await Promise.all(versions.map((version) => prepareClaims(version, active)));
    for (let round = -1; round < (setup.quick ? 1 : 4); round++)
      for (const [i, { name }] of versions.entries()) {
        const { waited, cpu } = await claimers[i]!.round(setup.quick ? 50 : 250);
        if (round < 0) continue;
        add(`claim, ${active} active, ${name}`, waited);
        add(`claim, ${active} active, ${name}: CPU of PostgreSQL`, cpu);
      }
    for (const { close } of claimers) await close();
    setup.say(
      [...series]
        .filter(([what]) => what.includes(` ${active} `))
        .map(
          ([what, s]) =>
            `${what}: p50 ${summarize(s).median.toFixed(2)}, p99 ${summarize(s).p99.toFixed(2)} ms`,
        )
        .join('; '),
    );
  }
  return series;
}

async function prepareClaims(version: JobVersion, active: number) {
  const { createClaim } =
    await version.load<typeof import('../../../packages/server/src/jobs/claim.ts')>('jobs/claim.ts');
  await fillJobs(version, active);
  const handle = await openHandle(version, { options: '-c plan_cache_mode=force_generic_plan', max: 1 });
  const others = await openHandle(version, {});
  const add = (count: number) =>
    others.pool.query(
      `insert into jobs (kind, payload, fair_org, fair_key) select 'run.work', '{}', 'org_' || o, 'prj_' || o || '_' || p
       from (select 1 + floor(random() * 50)::int as o, floor(random() * 4)::int as p from generate_series(1, $1::int)) r`,
      [count],
    );
  await add(500);
  const claim = createClaim(handle.db, 'wrk_bench');
  const keeper = await busyCountsOf(version);
  // As the worker that keeps house does it.
  const summing = keeper && setInterval(() => void keeper.sumBusyCounts(others.db), 2_000);
  return {
    async round(count: number): Promise<{ waited: number[]; cpu: number[] }> {
      const { rows } = await handle.pool.query<{ pid: number }>('select pg_backend_pid() as pid');
      const cpuNow = () =>
        Number(readFileSync(`/proc/${rows[0]!.pid}/schedstat`, 'latin1').split(' ')[0]) / 1e6;
      const [waited, cpu]: [number[], number[]] = [[], []];
      for (let i = 0; i < count; i++) {
        const [from, before] = [performance.now(), cpuNow()];
        const row = await claim(new Map(KINDS.map((kind) => [kind, []])));
        waited.push(performance.now() - from);
        cpu.push(cpuNow() - before);
        if (!row) throw new Error('there was no job to claim');
        await others.pool.query('delete from jobs where id = $1', [row.id]);
        await add(1);
      }
      return { waited, cpu };
    },
    async close() {
      if (summing) clearInterval(summing);
      await handle.close();
      await others.close();
    },
  };
}

/** Each process sends more hints than it may send statements; and from time to time one is timed at another process. */
async function measureHints(
  setup: Setup,
  { versions, postmaster }: JobServer,
): Promise<{ latencies: Series; notes: string[] }> {
  const latencies: Series = new Map();
  const notes: string[] = [];
  for (const count of PROCESSES)
    for (const version of versions) {
      const { openBus } = await version.load<typeof import('../../../packages/server/src/bus.ts')>('bus.ts');
      const buses = await Promise.all(
        Array.from({ length: count }, (_, i) => openBus(version.connection, `wrk_${i}`, quietLog)),
      );
      const { name } = version;
      // The other version does not know the number.
      if (name === 'now') for (const bus of buses) bus.setProcesses(count);
      for (const isBusy of [false, true]) {
        const samples: number[] = [];
        buses.at(-1)!.listen('operations', (sent) => void samples.push(performance.now() - Number(sent)));
        const timers = isBusy
          ? buses.map((bus, i) => setInterval(() => bus.notify('control', `thr_${i}_${Math.random()}`), 5))
          : [];
        await sleep(500);
        let heard = 0;
        const stop = buses[0]!.listen('control', () => void heard++);
        const [cpu, from, before] = [cpuOfTree(postmaster), performance.now(), await transactions(version)];
        for (let n = 0; n < (setup.quick ? 20 : 60); n++) {
          buses[0]!.notify('operations', String(performance.now()));
          await sleep(50);
        }
        const ms = performance.now() - from;
        const share = ((cpuOfTree(postmaster) - cpu) / ms) * 100;
        const rate = (((await transactions(version)) - before) / ms) * 1000;
        stop();
        for (const timer of timers) clearInterval(timer);
        await sleep(500);
        const what = `hint, ${count} processes${isBusy ? ', all busy' : ''}, ${name}`;
        latencies.set(what, samples);
        notes.push(
          `${what}: each hears ${((heard / ms) * 1000).toFixed(0)} a second, PostgreSQL takes ${rate.toFixed(0)} statements a second and ${share.toFixed(0)} % of a core; p99 ${summarize(samples).p99.toFixed(1)} ms`,
        );
        setup.say(notes.at(-1)!);
      }
      await Promise.all(buses.map((bus) => bus.close()));
    }
  return { latencies, notes };
}

interface Share {
  name: JobVersion['name'];
  count: number;
  /** % of a core of PostgreSQL. */
  perWorker: number;
  /** A second, of all. */
  transactions: number;
}

/** Everything that a worker of the service starts, while there is nothing to do; without runners on the workers' hosts. */
async function measureHousekeeping(setup: Setup, server: JobServer): Promise<Share[]> {
  const shares: Share[] = [];
  for (const version of server.versions) {
    const count = version.name === 'before' ? FORMER_WORKERS : WORKERS;
    shares.push(await measureFleet(setup, server, version, count));
    setup.say(shareText(shares.at(-1)!));
  }
  return shares;
}

async function measureFleet(
  setup: Setup,
  { postmaster }: JobServer,
  version: JobVersion,
  count: number,
): Promise<Share> {
  const { stop } = await startWorkers(setup, version, count);
  await fillJobs(version, 10_000);
  await onServer(
    version.connection,
    "insert into jobs (kind, payload, fair_org, fair_key, run_at) select 'run.work', '{}', 'org_' || n % 50, 'prj_' || n, now() + interval '1 hour' from generate_series(1, 500) n",
  );
  await sleep(4_000);
  const [cpu, from, before] = [cpuOfTree(postmaster), performance.now(), await transactions(version)];
  await sleep(setup.quick ? 5_000 : 20_000);
  const seconds = (performance.now() - from) / 1000;
  const perWorker = (cpuOfTree(postmaster) - cpu) / seconds / 10 / count;
  const rate = ((await transactions(version)) - before) / seconds;
  const active = await numberOf(version.connection, "select count(*) as n from jobs where status = 'active'");
  await stop();
  if (active !== 10_000) throw new Error(`${active} jobs of 10,000 are still active`);
  return { count, name: version.name, perWorker, transactions: rate };
}

const shareText = ({ name, count, perWorker, transactions: rate }: Share) =>
  `Housekeeping, ${name}: ${count} workers take ${(perWorker * count).toFixed(1)} % of a core of PostgreSQL and ${rate.toFixed(0)} transactions a second${count === WORKERS ? '' : `; ${WORKERS} would take ${(perWorker * WORKERS).toFixed(0)} %`}.`;

const transactions = ({ connection }: JobVersion) =>
  numberOf(
    connection,
    'select xact_commit + xact_rollback as n from pg_stat_database where datname = current_database()',
  );

async function startWorkers(setup: Setup, version: JobVersion, count: number) {
  const { startService } =
    await version.load<typeof import('../../../packages/server/src/boot.ts')>('boot.ts');
  const { readConfig } =
    await version.load<typeof import('../../../packages/server/src/config.ts')>('config.ts');
  const { startWork } =
    await version.load<typeof import('../../../packages/server/src/worker.ts')>('worker.ts');
  const { host, port, user, database } = version.connection;
  const config = readConfig(
    {
      HEADRACE_PORT: '0',
      HEADRACE_ROLES: 'api',
      HEADRACE_DATA_DIR: `${setup.scratch}/${version.name}`,
      DATABASE_URL: `postgresql:///${database}?${new URLSearchParams({ host, port: String(port), user }).toString()}`,
      HEADRACE_SECRET_KEY: 'a secret of the benchmark, 32 characters',
      HEADRACE_OWNER_EMAIL: 'owner@example.test',
      HEADRACE_OWNER_PASSWORD: 'correct horse battery staple',
      HEADRACE_BOOTSTRAP_KEY: makeServiceKey(),
    },
    () => true,
  );
  const service = await startService(config, quietLog);
  const ctx = (n: number): Context => ({
    ...service.ctx,
    processId: `wrk_${n}`,
    runner: {
      registerGateway: async () => {},
      groups: async () => [],
    } as unknown as Context['runner'],
    runnerStatus: () => null,
  });
  const works: { stop(): Promise<void> }[] = [];
  for (let n = 0; n < count; n++) {
    works.push(await startWork(ctx(n), version.connection));
    // Their rounds spread, as those of processes do.
    await sleep(20);
  }
  return {
    async stop() {
      await Promise.all(works.map((work) => work.stop()));
      await service.stop();
    },
  };
}
