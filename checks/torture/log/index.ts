/**
 * Writers and readers over two apis, while processes are killed. Truth: what writers were answered, and the
 * table itself.
 *
 * Seen to fail: a publisher that leaves out one event in 300 (lost, and a gap in the sequence), a tail that
 * hands on all but one in 300 (each stream's loss is reported by the event).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { newWeather } from '../lib/delivery.ts';
import { startFleet } from '../lib/fleet.ts';
import { lastSequence, openTable, settled } from '../lib/log-table.ts';
import { counted } from '../lib/numbers.ts';
import type { Part, PartResult, Setup } from '../lib/part.ts';
import { startStorm } from '../lib/storm.ts';
import type { Storm } from '../lib/storm.ts';
import { judge } from './judge.ts';
import { startReaders } from './readers.ts';
import type { Reader } from './readers.ts';
import { lossesOf } from './verdict.ts';
import { makeWorld } from './world.ts';
import { writer } from './writers.ts';
import type { Writing } from './writers.ts';

const WRITERS = 16;
const READERS = 32;

export const logPart: Part = {
  name: 'log',
  title: 'No event is lost, duplicated or reordered while processes are killed',
  seconds: 240,
  async run(setup) {
    const ground = await prepare(setup);
    const done = await write(setup, ground);
    await ground.fleet.allUp();
    const verdict = await judge(ground.table, { ...ground, acknowledged: done.acknowledged }, setup.signal);
    return {
      ...summaryOf(done, verdict),
      failures: [...done.failures, ...verdict.failures, ...done.weather.faults, ...ground.fleet.deaths],
    };
  },
};

/** The services with something to write to, and readers that follow from now on. */
async function prepare(setup: Setup) {
  const fleet = await startFleet(setup, { apis: 2, workers: 2 });
  const table = await openTable(setup, fleet.database.url);
  const world = await makeWorld(fleet.callers[0]!);
  await settled(table, setup.signal);
  const firstSequence = await lastSequence(table);
  return {
    fleet,
    table,
    world,
    firstSequence,
    readers: await startReaders(setup, fleet.callers, world, READERS),
  };
}

type Ground = Awaited<ReturnType<typeof prepare>>;

/** All writes, kills and reconnects; resolves when each write is answered. */
async function write(setup: Setup, { fleet, world, readers }: Ground) {
  const writes = setup.count(50_000);
  const kills = setup.count(100, 3);
  const reconnects = setup.count(1000, READERS);
  const storm = startStorm(setup, fleet, { total: writes, kills });
  let begun = 0;
  const writing: Writing = {
    callers: fleet.callers,
    world,
    runsInThousand: 4,
    weather: newWeather(),
    signal: setup.signal,
    acknowledged: [],
    failures: [],
    step: () => {
      begun++;
      return storm.step();
    },
    // A write publishes at least one event, except changes of threads, which come in addition: as many
    // writes as events are enough.
    isEnough: () => begun >= writes,
  };
  const from = performance.now();
  const reconnected = reconnect(setup, storm, readers.all, reconnects);
  // Where the writers fail first, their failure is the one to report.
  reconnected.catch(() => {});
  await Promise.all(
    Array.from({ length: WRITERS }, (_, n) => writer(n, setup.random.fork(`writer ${n}`), writing)),
  );
  const seconds = (performance.now() - from) / 1000;
  await Promise.all([storm.over, reconnected]);
  setup.say(`${writing.acknowledged.length} writes in ${seconds.toFixed(0)} s; waiting for what is left`);
  return { ...writing, seconds, reconnects, kills, killed: storm.kills };
}

function summaryOf(
  { acknowledged, weather, seconds, reconnects, kills, killed }: Awaited<ReturnType<typeof write>>,
  verdict: Awaited<ReturnType<typeof judge>>,
): Omit<PartResult, 'failures'> {
  const figures = {
    writers: WRITERS,
    readers: READERS,
    events: verdict.log.length,
    acknowledged: acknowledged.length,
    eventsPerSecond: Math.round(verdict.log.length / seconds),
    reconnects,
    kills,
    killedApis: killed.api,
    killedWorkers: killed.worker,
    unanswered: weather.unanswered,
    lost: verdict.lost,
    duplicates: verdict.doubled,
    unknown: verdict.unknown,
    misordered: verdict.misordered,
  };
  const line =
    `${WRITERS} writers, ${counted(figures.events)} events of ${counted(figures.acknowledged)} acknowledged writes (${weather.unanswered} answers lost, sent again), ${READERS} readers (half polling, half SSE), ` +
    `${counted(reconnects)} reconnects, ${kills} kill -9 (${killed.api} api, ${killed.worker} worker), ${figures.eventsPerSecond} events/s: ${lossesOf(verdict)}`;
  return { line, figures };
}

/** Drops connections of drawn readers, spread over the work. */
async function reconnect(
  setup: Setup,
  storm: Storm,
  readers: readonly Reader[],
  count: number,
): Promise<void> {
  const random = setup.random.fork('reconnects');
  for (let done = 0; done < count; done++) {
    while (storm.progress() < done / count) await sleep(5, undefined, { signal: setup.signal });
    random.pick(readers).reconnect();
    await sleep(1, undefined, { signal: setup.signal });
  }
}
