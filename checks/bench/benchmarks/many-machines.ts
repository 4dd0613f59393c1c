/**
 * 300 runners without sandboxes and scripted runs through the whole service: threads, messages, placement, runs, sources.
 * Every run has to complete once; then what the reports of all runners cost at rest.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Benchmark, Setup } from '../lib/benchmark.ts';
import { cpuOf, countCpu } from '../lib/cpu.ts';
import { startMachines, startNullRunners } from '../lib/machines.ts';
import type { Machines, NullRunners } from '../lib/machines.ts';
import { newAppWith } from '../../harness/apps.ts';
import { summarize } from '../../harness/statistics.ts';

const RUNNERS = 300;
/** In the short form. */
const FEW_RUNNERS = 30;
const CAPACITY = 16;
const WORKERS = 2;
/** Of each thread, one after the other. */
const RUNS = 5;
const THREADS_OF_APP = 25;
/** Threads at once: more only wait for a core. */
const AT_ONCE = 48;
const MOST_HOLD_MS = 2_000;
const RETRY_MS = 500;
const FILES = [{ path: 'a.txt', content: 'a\n' }];

export const manyMachinesBenchmark: Benchmark = {
  name: 'many-machines',
  title: `${RUNNERS} runners without sandboxes: scripted runs, and the reports at rest`,
  async run(setup) {
    const count = setup.quick ? FEW_RUNNERS : RUNNERS;
    const runs = Number(process.env['MACHINES_RUNS'] ?? (setup.quick ? 100 : 5_000));
    const machines = await startMachines(setup, WORKERS);
    const runners = await startNullRunners(setup, {
      count,
      capacity: CAPACITY,
      workers: machines.workers.map(({ address }) => address),
      tls: machines.authority.of('runner'),
    });
    const client = new pg.Client(machines.database.url);
    await client.connect();
    setup.atEnd(() => client.end());
    await ready(client, count);
    setup.say('all have registered');
    const cpuNow = countParts(setup, machines, runners);
    const before = cpuNow();
    const from = performance.now();
    const { waits, retries } = await work(setup, machines, runs);
    const seconds = (performance.now() - from) / 1000;
    const after = cpuNow();
    const played = await runners.played();
    const faults = [
      ...played.flatMap((one) => one.faults),
      ...(await judge(
        client,
        runs,
        played.flatMap((one) => one.turns),
      )),
    ];
    if (faults.length > 0) throw new Error(faults.slice(0, 10).join('\n'));
    setup.say(`${runs} runs have completed once each, ${(runs / seconds).toFixed(1)} a second`);
    const cold = played.reduce((sum, one) => sum + one.cold, 0);
    const reports = await measureReports(setup, runners, cpuNow);
    const part = (name: keyof typeof before) => `${name} ${((after[name] - before[name]) / runs).toFixed(1)}`;
    return {
      rows: [{ what: 'message sent → completed seen', unit: 'ms', figures: summarize(waits) }],
      aims: [
        {
          what: 'runs at a runner that had files of the project',
          bound: 'least',
          limit: 95,
          value: 100 * (1 - cold / runs),
          unit: '%',
        },
        {
          what: `reports of ${count} runners, CPU of workers and PostgreSQL, of a core`,
          bound: 'most',
          limit: 10,
          value: reports.more,
          unit: '%',
        },
      ],
      notes: [
        `${runs} runs of ${runs / RUNS} threads completed once each, with a source each, in ${seconds.toFixed(0)} s: ${(runs / seconds).toFixed(1)} a second. Runners with work: ${played.filter((one) => one.turns.length > 0).length}; workspaces made from all files: ${cold}, from kept ones: ${played.reduce((sum, one) => sum + one.warm, 0)}. ${retries} calls were answered 503, and retried.`,
        `CPU of a run, ms: ${(['api', 'workers', 'PostgreSQL', 'runners'] as const).map(part).join(', ')}.`,
        reports.text,
      ],
    };
  },
};

async function ready(client: pg.Client, count: number): Promise<void> {
  for (const deadline = Date.now() + 240_000; ; await sleep(500)) {
    const { rows } = await client.query<{ n: string }>(
      "select count(*) as n from runners where state = 'ready'",
    );
    if (Number(rows[0]!.n) === count) return;
    if (Date.now() > deadline) throw new Error(`${rows[0]!.n} runners have registered`);
  }
}

interface Cpu {
  api: number;
  workers: number;
  PostgreSQL: number;
  runners: number;
}

/** ms of CPU of each part, from now on. */
function countParts(setup: Setup, { api, workers, database }: Machines, runners: NullRunners): () => Cpu {
  const ofDatabase = countCpu(setup, 'postgres', database.pid);
  return () => ({
    api: cpuOf(api.pid),
    workers: workers.reduce((sum, { pid }) => sum + cpuOf(pid), 0),
    PostgreSQL: ofDatabase(),
    runners: cpuOf(runners.pid),
  });
}

/** Threads with messages, one after the other. Returns the time of each run, and how many calls were asked to retry. */
async function work(
  setup: Setup,
  { api }: Machines,
  runs: number,
): Promise<{ waits: number[]; retries: number }> {
  const threads = Math.ceil(runs / RUNS);
  const apps = await Promise.all(
    Array.from({ length: Math.ceil(threads / THREADS_OF_APP) }, () => newAppWith(api, FILES)),
  );
  const done = { waits: [] as number[], retries: 0 };
  const call = async (method: string, path: string, body?: object) => {
    for (const key = randomUUID(); ; done.retries++) {
      const { status, text } = await api.send(method, path, {
        body,
        headers: method === 'GET' ? {} : { 'idempotency-key': key },
      });
      if (status < 300) return JSON.parse(text);
      if (status !== 503) throw new Error(`${method} ${path}: ${status} ${text.slice(0, 500)}`);
      await sleep(RETRY_MS);
    }
  };
  let next = 0;
  const one = async () => {
    while (next < threads) {
      const { app, sourceId } = apps[next++ % apps.length]!;
      const { thread } = await call('POST', `${app}/threads`, { sourceId });
      const at = `${app}/threads/${thread.id}`;
      for (let n = 0; n < RUNS; n++) {
        const from = performance.now();
        const hold = Math.random() < 0.5 ? 0 : Math.floor(Math.random() * MOST_HOLD_MS);
        let { run } = await call('POST', `${at}/messages`, { content: `hold ${hold}` });
        while (run.finishedAt === null) ({ run } = await call('GET', `${at}/runs/${run.id}?waitSeconds=30`));
        if (run.status !== 'completed')
          throw new Error(`${run.id} is ${run.status}: ${JSON.stringify(run.error)}`);
        done.waits.push(performance.now() - from - hold);
        if (done.waits.length % 500 === 0) setup.say(`${done.waits.length} runs have completed`);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  return done;
}

/** Each run was played once, completed once in the rows and in the log, and has a source of its own with its own file. */
async function judge(client: pg.Client, runs: number, turns: string[]): Promise<string[]> {
  const count = async (text: string) => Number((await client.query<{ n: string }>(text)).rows[0]!.n);
  const facts: Record<string, number> = {
    'turns that were played': turns.length,
    'runs that were played': new Set(turns).size,
    'runs that completed': await count("select count(*) as n from runs where status = 'completed'"),
    runs: await count('select count(*) as n from runs'),
    'sources of runs': await count('select count(distinct result_source_id) as n from runs'),
    'events of completed runs': await count("select count(*) as n from events where type = 'run.completed'"),
    'runs in these events': await count(
      "select count(distinct run_id) as n from events where type = 'run.completed'",
    ),
  };
  const open = await count(
    'select count(*) as n from runner_places p join runners r using (boot_id) where r.reserved > r.capacity',
  );
  return [
    ...Object.entries(facts).flatMap(([what, n]) => (n === runs ? [] : [`${what}: ${n}, not ${runs}`])),
    ...(open > 0 ? [`${open} places are at runners that have too many`] : []),
  ];
}

/** What the runs leave to do is done by then. */
const SETTLE_MS = 15_000;
/** A pause with its begin and end is shorter than what makes a runner suspect. */
const PART_MS = 6_000;
/** Until all report again, at their pace. */
const REST_MS = 4_000;

/** The same seconds with and without the reports, in turns. */
async function measureReports(
  setup: Setup,
  runners: NullRunners,
  cpuNow: () => Cpu,
): Promise<{ more: number; text: string }> {
  const rounds = setup.quick ? 2 : 4;
  const used = { with: { workers: 0, PostgreSQL: 0 }, without: { workers: 0, PostgreSQL: 0 } };
  const measure = async (what: keyof typeof used) => {
    const [from, before] = [performance.now(), cpuNow()];
    await sleep(PART_MS);
    const [ms, after] = [performance.now() - from, cpuNow()];
    for (const part of ['workers', 'PostgreSQL'] as const)
      used[what][part] += ((after[part] - before[part]) / ms) * (100 / rounds);
  };
  await sleep(SETTLE_MS);
  for (let n = 0; n < rounds; n++) {
    await measure('with');
    runners.tell('pause');
    await measure('without');
    runners.tell('go on');
    setup.say(`reports, ${n + 1} turns: ${JSON.stringify(used)}`);
    await sleep(REST_MS);
  }
  const text = (of: Pick<Cpu, 'workers' | 'PostgreSQL'>) =>
    `${of.workers.toFixed(1)} % of a core in ${WORKERS} workers and ${of.PostgreSQL.toFixed(1)} % in PostgreSQL`;
  const sum = (of: Pick<Cpu, 'workers' | 'PostgreSQL'>) => of.workers + of.PostgreSQL;
  return {
    more: sum(used.with) - sum(used.without),
    text: `At rest after these runs: ${text(used.with)} with the reports, ${text(used.without)} without, ${rounds} turns of ${PART_MS / 1000} s each.`,
  };
}
