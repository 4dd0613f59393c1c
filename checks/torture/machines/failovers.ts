/**
 * Failovers of a replicated PostgreSQL under writers: of a synchronous standby, which has all that was answered, and of an
 * asynchronous one, which has lost the end of the log. failover-part.ts has them on one machine, fleet-failover-part.ts on three.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Replicated } from '../../../packages/server/src/db/replicated.fixture.ts';
import type { Caller } from '../../harness/http.ts';
import { deliver } from '../lib/delivery.ts';
import type { Weather } from '../lib/delivery.ts';
import { lastSequence, openTable, readLog, settled } from '../lib/log-table.ts';
import { counted } from '../lib/numbers.ts';
import type { Setup } from '../lib/part.ts';
import { judgeLog } from '../log/verdict.ts';
import type { World } from '../log/world.ts';
import { writer } from '../log/writers.ts';
import type { Acknowledged } from '../log/writers.ts';

const WRITERS = 8;
const READY_LIMIT_MS = 10_000;
const WRITES_BETWEEN = 50;
/** Longer than a heartbeat may be old; a checker that judged wrongly would have done so. */
const JUDGED_MS = 3_000;
const EVENTS = '/api/platform/v1/events';

export interface Stage {
  setup: Setup;
  database: Replicated;
  callers: readonly Caller[];
  world: World;
  weather: Weather;
  failures: string[];
  /** Kills the primary and has the standby promoted. */
  failOver(n: number): Promise<void>;
  /** When all is ready again. */
  afterwards?(n: number): Promise<void>;
}

async function rowsOf<Row>(database: Replicated, text: string): Promise<Row[]> {
  const client = await openClient(database);
  try {
    return (await client.query(text)).rows as Row[];
  } finally {
    await client.end();
  }
}

async function openClient({ url }: Replicated) {
  const client = new pg.Client({ connectionString: url, statement_timeout: 60_000 });
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** What both kinds have shown, as figures and as a line. */
export async function failovers(stage: Stage, counts: { synchronous: number; asynchronous: number }) {
  const synchronous = await synchronousFailovers(stage, counts.synchronous);
  const asynchronous = await asynchronousFailovers(stage, counts.asynchronous);
  const { weather, failures } = stage;
  failures.push(...weather.faults);
  const figures = {
    synchronous: synchronous.count,
    asynchronous: asynchronous.count,
    acknowledged: synchronous.acknowledged,
    lost: synchronous.lost,
    duplicates: synchronous.doubled,
    unavailable: weather.unavailable,
    wrongAnswers: weather.faults.length,
    slowestReadyMs: Math.round(synchronous.slowest),
    workersRemoved: synchronous.workersRemoved,
    lostEvents: asynchronous.lostEvents,
    cursors: asynchronous.cursors,
    cursorsThatWentOn: asynchronous.wentOn,
  };
  const line =
    `synchronous standby promoted ${figures.synchronous} times during ${WRITERS} writers' ${counted(figures.acknowledged)} acknowledged writes: ` +
    `${figures.lost} lost, ${figures.duplicates} duplicates, ${counted(figures.unavailable)} answers of 503, ${figures.wrongAnswers} of 500, ready again within ${(figures.slowestReadyMs / 1000).toFixed(1)} s, ${figures.workersRemoved} living workers removed; ` +
    `asynchronous one ${figures.asynchronous} times without the last ${counted(figures.lostEvents)} events: of ${figures.cursors} older cursors ${figures.cursorsThatWentOn} went on`;
  return { figures, line };
}

async function synchronousFailovers(stage: Stage, count: number) {
  const { setup, database, callers, world, weather, failures } = stage;
  const { signal } = setup;
  const before = await openTable(setup, database.url);
  await settled(before, signal);
  const firstSequence = await lastSequence(before);
  await before.end();
  const acknowledged: Acknowledged[] = [];
  let isOver = false;
  const writing = { callers, world, runsInThousand: 0, weather, signal, acknowledged, failures };
  const all = Promise.all(
    Array.from({ length: WRITERS }, (_, n) =>
      writer(n, setup.random.fork(`failover writer ${n}`), {
        ...writing,
        step: () => Promise.resolve(),
        isEnough: () => isOver,
      }),
    ),
  );
  let [slowest, workersRemoved] = [0, 0];
  try {
    for (let n = 1; n <= count; n++) {
      const wanted = acknowledged.length + WRITES_BETWEEN;
      while (acknowledged.length < wanted) await sleep(20, undefined, { signal });
      const before = (await database.workersRemoved()).length;
      await stage.failOver(n);
      const from = performance.now();
      await untilReady(stage, n);
      slowest = Math.max(slowest, performance.now() - from);
      await sleep(JUDGED_MS, undefined, { signal });
      const removed = (await database.workersRemoved()).length - before;
      await stage.afterwards?.(n);
      workersRemoved += removed;
      if (removed > 0) failures.push(`failover ${n}: ${removed} living workers were taken for dead`);
      await database.rebuild();
      await database.setSynchronous(true);
      setup.say(`failover ${n}: ${acknowledged.length} writes`);
    }
  } finally {
    isOver = true;
  }
  await all;
  const table = await openTable(setup, database.url);
  await settled(table, signal);
  const log = (await readLog(table)).filter((event) => event.sequence > firstSequence);
  await table.end();
  const verdict = judgeLog(
    log,
    acknowledged,
    (type) => type === 'platform.app.updated' || type === 'platform.app.created',
  );
  failures.push(...verdict.failures);
  return {
    count,
    acknowledged: acknowledged.length,
    lost: verdict.lost,
    doubled: verdict.doubled,
    slowest,
    workersRemoved,
  };
}

async function untilReady({ setup, callers }: Stage, n: number): Promise<void> {
  for (const from = performance.now(); ; await sleep(20, undefined, { signal: setup.signal })) {
    const answers = await Promise.all(
      callers.map((caller) => caller.send('GET', '/health/ready', { limitMs: READY_LIMIT_MS })),
    );
    if (answers.every(({ status }) => status === 200)) return;
    const wrong = answers.find(({ status }) => status !== 200 && status !== 503);
    if (wrong) throw new Error(`failover ${n}: /health/ready answered ${wrong.status}`);
    if (performance.now() - from > READY_LIMIT_MS)
      throw new Error(`failover ${n}: not ready within ${READY_LIMIT_MS / 1000} s`);
  }
}

/** Events that only the killed primary had, and cursors from before, between and behind them. */
async function asynchronousFailovers(stage: Stage, count: number) {
  const { setup, database, callers, failures } = stage;
  let [lostEvents, cursors, wentOn] = [0, 0, 0];
  for (let n = 1; n <= count; n++) {
    await database.setSynchronous(false);
    const taken = [await headOf(callers[0]!)];
    await database.cutReplication();
    for (let i = 0; i < 6; i++) {
      await createApp(stage, `lost ${n} ${i}`);
      await publishedAll(stage);
      taken.push(await headOf(callers[0]!));
    }
    const end = await endOf(database);
    await database.failOver();
    await untilReady(stage, n);
    lostEvents += end - (await endOf(database));
    for (let i = 0; i < 8; i++) await createApp(stage, `again ${n} ${i}`);
    await publishedAll(stage);
    for (const caller of callers)
      for (const cursor of taken) {
        cursors++;
        const { status } = await caller.send('GET', `${EVENTS}?cursor=${encodeURIComponent(cursor)}`, {
          limitMs: READY_LIMIT_MS,
        });
        if (status === 410) continue;
        wentOn++;
        failures.push(`failover ${n}: a cursor from before it was answered with ${status}`);
      }
    await database.rebuild();
    setup.say(`asynchronous failover ${n}: ${lostEvents} events lost so far`);
  }
  return { count, lostEvents, cursors, wentOn };
}

const headOf = async (caller: Caller) => (await caller.call('GET', `${EVENTS}/head`)).body.cursor as string;
const endOf = async (database: Replicated) =>
  (await rowsOf<{ end: number }>(database, 'select last_sequence::float8 as end from log_state'))[0]!.end;

async function createApp({ setup, callers, weather }: Stage, name: string): Promise<void> {
  const key = `failover-${randomUUID()}`;
  const write = { method: 'POST', path: '/api/platform/v1/apps', body: { name }, key };
  const { status, text } = await deliver(callers, write, {
    random: setup.random.fork(name),
    weather,
    signal: setup.signal,
  });
  if (status !== 201) throw new Error(`an app was answered with ${status} ${text.slice(0, 200)}`);
}

async function publishedAll({ setup, database }: Stage): Promise<void> {
  const table = await openTable(setup, database.url);
  await settled(table, setup.signal);
  await table.end();
}
