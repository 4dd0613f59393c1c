/**
 * Events a second from their commit to the published log, compared with single-row inserts of the same rows
 * into an equal table.
 *
 * An event of the service: BEGIN, INSERT into the outbox, COMMIT by its writer, then the publisher's move of
 * a batch into `events`. A raw insert: one statement by its writer, committed by itself. Same driver, pool,
 * writers, columns, indexes and partitions; PostgreSQL syncs each commit, of both.
 */
import type { Benchmark, Row } from '../lib/benchmark.ts';
import { startDatabase, startServiceOn } from '../../harness/database.ts';
import { EVENT_TYPE, eventData, openLog } from '../lib/log.ts';
import type { Log } from '../lib/log.ts';
import { summarize } from '../../harness/statistics.ts';
import { newId } from '../../../packages/server/src/ids.ts';

const WRITERS = 16;
const WAITING = 10_000;
const PER_COMMIT = 100;

const RAW_TABLE = `
  create table bench_events (like events including all) partition by range (published_at);
  create table bench_events_now partition of bench_events for values from ('2000-01-01') to ('2100-01-01');
  create table bench_events_default partition of bench_events default`;
const RAW_INSERT = `
  insert into bench_events (org_id, sequence, event_id, feed, type, project_id, thread_id, run_id, data, occurred_at, published_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, clock_timestamp(), clock_timestamp())`;
const FILL_OUTBOX = `
  insert into outbox (org_id, event_id, feed, type, project_id, data)
  select $1, 'evt_waiting_' || $2 || '_' || n, $3, $4, $5, $6 from generate_series(1, ${PER_COMMIT}) n`;

export const publishBenchmark: Benchmark = {
  name: 'publish',
  title: 'Events published, compared with raw inserts of the same rows',
  async run(setup) {
    const database = await startDatabase(setup.scratch);
    setup.atEnd(() => database.stop());
    const service = await startServiceOn(setup, database, { HEADRACE_ROLES: 'api' });
    const log = await openLog(setup, service, database.url, WRITERS);
    await log.pool.query(RAW_TABLE);
    const [insert, insertPrepared] = [rawInsert(log), rawInsert(log, 'raw_insert')];

    const ms = setup.quick ? 500 : 1200;
    const rates = {
      raw: [] as number[],
      prepared: [] as number[],
      service: [] as number[],
      rawAlone: [] as number[],
      serviceAlone: [] as number[],
      drain: [] as number[],
    };
    for (let round = -1; round < (setup.quick ? 2 : 6); round++) {
      const now = {
        raw: await rate(WRITERS, ms, insert),
        prepared: await rate(WRITERS, ms, insertPrepared),
        service: await published(log, WRITERS, ms),
        rawAlone: await rate(1, ms, insert),
        serviceAlone: await published(log, 1, ms),
        drain: await drained(log, round),
      };
      // The first round compiles both.
      if (round < 0) continue;
      for (const [name, value] of Object.entries(now)) rates[name as keyof typeof rates].push(value);
      setup.say(
        `round ${round + 1}: ${WRITERS} writers raw ${now.raw.toFixed(0)}/s, service ${now.service.toFixed(0)}/s; one writer raw ${now.rawAlone.toFixed(0)}/s, service ${now.serviceAlone.toFixed(0)}/s; publisher alone ${now.drain.toFixed(0)}/s`,
      );
    }
    await expectWhole(log);
    const row = (what: string, series: number[]): Row => ({
      what,
      unit: 'events/s',
      figures: summarize(series),
    });
    const share = (ours: number[], theirs: number[]) =>
      (summarize(ours).median / summarize(theirs).median) * 100;
    return {
      rows: [
        row(`${WRITERS} writers: committed and published`, rates.service),
        row(`${WRITERS} writers: raw inserts`, rates.raw),
        row(`${WRITERS} writers: raw inserts, prepared beforehand`, rates.prepared),
        row('one writer: committed and published', rates.serviceAlone),
        row('one writer: raw inserts', rates.rawAlone),
        row(`the publisher alone: ${WAITING} waiting → published`, rates.drain),
      ],
      aims: [
        {
          what: `${WRITERS} writers, of the raw inserts (medians)`,
          bound: 'least',
          limit: 50,
          value: share(rates.service, rates.raw),
          unit: '%',
        },
      ],
      notes: [
        `An event of the service is a transaction with one event by the service's own code (BEGIN, INSERT into the outbox, COMMIT), counted until the last one is in the published log with its sequence. A raw insert is one statement, committed separately. In turns of ${ms / 1000} s on one PostgreSQL, with the same driver and pool, into tables with the same columns, indexes and partitions. Each event of the service is written three times: into the outbox, out of it, and into the log.`,
        `A raw insert is sent as text and values, and planned each time. Compared with raw inserts that are prepared beforehand, as the service's own are, the service reaches ${share(rates.service, rates.prepared).toFixed(0)}%. With one writer, the service reaches ${share(rates.serviceAlone, rates.rawAlone).toFixed(0)}% of the raw inserts.`,
      ],
    };
  },
};

/** `name`: as a statement that each connection has prepared. */
function rawInsert(log: Log, name?: string): () => Promise<unknown> {
  const { orgId, projectId, feed } = log.scope;
  let sequence = 0;
  return () =>
    log.pool.query({
      name,
      text: RAW_INSERT,
      values: [
        orgId,
        ++sequence,
        newId('evt'),
        feed,
        EVENT_TYPE,
        projectId,
        null,
        null,
        JSON.stringify(eventData(projectId!)),
      ],
    });
}

/** How many a second `writers` do for `ms`, each one after the other. */
async function rate(
  writers: number,
  ms: number,
  one: () => Promise<unknown>,
  settled?: (count: number) => Promise<void>,
): Promise<number> {
  let count = 0;
  const from = performance.now();
  await Promise.all(
    Array.from({ length: writers }, async () => {
      for (; performance.now() < from + ms; count++) await one();
    }),
  );
  await settled?.(count);
  return count / ((performance.now() - from) / 1000);
}

async function published(log: Log, writers: number, ms: number): Promise<number> {
  const before = await log.end();
  return rate(
    writers,
    ms,
    () => log.commit(),
    (count) => log.reaches(before + count),
  );
}

/**
 * Rows that wait in the outbox, the publisher held up meanwhile by a lock on the log's end; then its time
 * for all of them.
 */
async function drained(log: Log, round: number): Promise<number> {
  const before = await log.end();
  const holder = await log.pool.connect();
  try {
    await holder.query('begin; lock table log_state in exclusive mode');
    const { orgId, projectId, feed } = log.scope;
    for (let i = 0; i < WAITING / PER_COMMIT; i++)
      await log.pool.query(FILL_OUTBOX, [
        orgId,
        `${round}_${i}`,
        feed,
        EVENT_TYPE,
        projectId,
        JSON.stringify(eventData(projectId!)),
      ]);
    const from = performance.now();
    await holder.query('commit');
    await log.reaches(before + WAITING);
    return WAITING / ((performance.now() - from) / 1000);
  } finally {
    holder.release();
  }
}

/** Each sequence once, and nothing left behind: what was counted was published. */
async function expectWhole(log: Log): Promise<void> {
  const {
    rows: [seen],
  } = await log.pool.query<{ events: number; sequences: number; last: number; waiting: number }>(
    'select count(*) as events, count(distinct sequence) as sequences, max(sequence) as last, (select count(*) from outbox) as waiting from events',
  );
  if (seen!.waiting !== 0 || seen!.events !== seen!.last || seen!.sequences !== seen!.last)
    throw new Error(`The log is not whole: ${JSON.stringify(seen)}`);
}
