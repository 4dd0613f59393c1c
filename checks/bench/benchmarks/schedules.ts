/** The cost of many automations while none is due, and how soon their executions begin when many are due at the same minute. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { newId } from '../../../packages/server/src/ids.ts';
import { pidOf, startDatabase, startServiceOn } from '../../harness/database.ts';
import type { BenchDatabase } from '../../harness/database.ts';
import type { Service } from '../../harness/service.ts';
import { summarize } from '../../harness/statistics.ts';
import type { Benchmark, Setup } from '../lib/benchmark.ts';
import { cpuOfTree } from '../lib/cpu.ts';

const AUTOMATIONS = 10_000;
const DUE = 1_000;
const REST_SECONDS = 60;
const SETTLE_MS = 10_000;
const MINUTE_MS = 60_000;
const DUE_LIMIT_MS = 90_000;
const YEARLY = '0 0 1 1 *';
const MINUTELY = '* * * * *';

export const schedulesBenchmark: Benchmark = {
  name: 'schedules',
  title: `${AUTOMATIONS} automations at rest, and ${DUE} that are due at once`,
  async run(setup) {
    const [empty, full] = [await startSide(setup), await startSide(setup)];
    const { automation: due } = (await make(full, YEARLY)).body;
    const { automation } = (await make(full, YEARLY)).body;
    await copy(full, automation.id, setup.quick ? 1_000 : AUTOMATIONS);
    await sleep(SETTLE_MS);
    const seconds = setup.quick ? 10 : REST_SECONDS;
    const [before, from] = [[cpuOf(empty), cpuOf(full)], performance.now()];
    await sleep(seconds * 1000);
    const ms = performance.now() - from;
    const [none, all] = [cpuOf(empty), cpuOf(full)].map((cpu, i) => ((cpu - before[i]!) / ms) * 100);
    setup.say(`at rest ${all!.toFixed(2)} % of a core, ${none!.toFixed(2)} % without automations`);
    await empty.service.stop();
    const count = setup.quick ? 100 : DUE;
    const lateness = summarize(await lateOnes(full, due.id, count));
    return {
      rows: [
        { what: `due → execution published, ${count} at the same minute`, unit: 'ms', figures: lateness },
      ],
      aims: [
        {
          what: 'CPU at rest, more than without automations, share of a core',
          bound: 'most',
          limit: 1,
          value: Math.max(0, all! - none!),
          unit: '%',
        },
        { what: 'due → execution, p99', bound: 'most', limit: 2_000, value: lateness.p99, unit: 'ms' },
      ],
      notes: [
        `At rest for ${(ms / 1000).toFixed(0)} s: ${all!.toFixed(2)} % of a core for service and PostgreSQL with the automations, ${none!.toFixed(2)} % for a second pair without, at the same time. The executions begin runs meanwhile, as many as the machine has places for.`,
      ],
    };
  },
};

interface Side {
  database: BenchDatabase;
  table: pg.Client;
  service: Service;
  projectId: string;
}

async function startSide(setup: Setup): Promise<Side> {
  const database = await startDatabase(setup.scratch);
  setup.atEnd(() => database.stop());
  const service = await startServiceOn(setup, database, { HEADRACE_AUTOMATION_MIN_INTERVAL_SECONDS: '60' });
  const table = new pg.Client({ connectionString: database.url });
  await table.connect();
  setup.atEnd(() => table.end());
  const { project } = (await service.call('POST', '/api/projects', { name: 'Benchmark' })).body;
  return { database, table, service, projectId: project.id as string };
}

const cpuOf = ({ service, database }: Side) => cpuOfTree(service.pid) + cpuOfTree(pidOf(database));

const make = ({ service, projectId }: Side, cron: string) =>
  service.call('POST', '/api/automations', {
    name: `Benchmark ${cron}`,
    projectId,
    prompt: 'Look.',
    trigger: { kind: 'schedule', cron, timeZone: 'UTC' },
  });

/** More automations than the API allows an organization. */
async function copy({ table }: Side, id: string, count: number): Promise<void> {
  await table.query(
    `insert into automations select (jsonb_populate_record(a, jsonb_build_object('id', n))).*
    from automations a cross join unnest($2::text[]) as n where id = $1`,
    [id, Array.from({ length: count - 1 }, () => newId('aut'))],
  );
}

/** Makes `count` automations due at the next minute. Returns the delay of each execution in the log. */
async function lateOnes(side: Side, id: string, count: number): Promise<number[]> {
  await side.service.call('PATCH', `/api/automations/${id}`, {
    trigger: { kind: 'schedule', cron: MINUTELY, timeZone: 'UTC' },
  });
  await copy(side, id, count);
  // The minute at which the first one was due may pass while they are copied.
  const time = new Date(Math.ceil((Date.now() + 2_000) / MINUTE_MS) * MINUTE_MS);
  await side.table.query(`update automations set next_run_at = $1 where trigger->>'cron' = $2`, [
    time,
    MINUTELY,
  ]);
  for (const deadline = Date.now() + DUE_LIMIT_MS; ; await sleep(200)) {
    const { rows } = await side.table.query<{ late: number }>(
      `select extract(epoch from min(e.published_at) - x.scheduled_for)::float8 * 1000 as late
      from executions x join events e on e.type = 'automation.execution.updated' and e.data->>'id' = x.id
      where x.scheduled_for = $1 group by x.id, x.scheduled_for`,
      [time],
    );
    if (rows.length === count) return rows.map(({ late }) => late);
    if (Date.now() > deadline) throw new Error(`${rows.length} of ${count} executions were made in time`);
  }
}
