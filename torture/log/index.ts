/** Writers and readers over two apis, while processes are killed. Truth: what writers were told, and the table itself. */
import { setTimeout as sleep } from 'node:timers/promises';
import { startDatabase } from '../../bench/lib/database.ts';
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
import type { Acknowledged } from './writers.ts';

const WRITERS = 16;
const READERS = 32;

export const logPart: Part = {
  name: 'log',
  title: 'No event is missed, doubled or reordered while processes are killed',
  seconds: 240,
  async run(setup) {
    const writes = setup.count(50_000);
    const kills = setup.count(100, 3);
    const reconnects = setup.count(1000, READERS);
    const database = await startDatabase(setup.scratch);
    setup.atEnd(() => database.stop());
    const fleet = await startFleet(setup, database.url, { apis: 2, workers: 2 });
    const table = await openTable(setup, database.url);
    const world = await makeWorld(fleet.callers[0]!);
    await settled(table, setup.signal);
    const firstSequence = await lastSequence(table);
    const readers = await startReaders(setup, fleet.callers, world, READERS);
    const weather = newWeather();
    const acknowledged: Acknowledged[] = [];
    const failures: string[] = [];
    let begun = 0;

    const storm = startStorm(setup, fleet, { total: writes, kills });
    const from = performance.now();
    const writing = {
      callers: fleet.callers, world, runsInThousand: 4, weather, signal: setup.signal, acknowledged, failures,
      step: () => { begun++; return storm.step(); },
      // A write publishes one event or more, but for changes of threads, which go beside: as many writes as events are enough.
      isEnough: () => begun >= writes,
    };
    const reconnected = reconnect(setup, storm, readers.all, reconnects);
    // Where the writers fail first, their failure is the one to be told.
    reconnected.catch(() => {});
    await Promise.all(Array.from({ length: WRITERS }, (_, n) => writer(n, setup.random.fork(`writer ${n}`), writing)));
    const seconds = (performance.now() - from) / 1000;
    await Promise.all([storm.over, reconnected]);
    setup.say(`${acknowledged.length} writes in ${seconds.toFixed(0)} s; waiting for what is left`);
    await fleet.allUp();
    const verdict = await judge(table, { acknowledged, readers, firstSequence }, setup.signal);
    failures.push(...verdict.failures, ...weather.faults, ...fleet.deaths);

    const figures = {
      writers: WRITERS, readers: READERS, events: verdict.log.length, acknowledged: acknowledged.length, eventsPerSecond: Math.round(verdict.log.length / seconds), reconnects, kills, killedApis: storm.kills.api, killedWorkers: storm.kills.worker,
      unanswered: weather.unanswered, lost: verdict.lost, duplicates: verdict.doubled, unknown: verdict.unknown, misordered: verdict.misordered,
    };
    const line = `${WRITERS} writers, ${counted(figures.events)} events of ${counted(figures.acknowledged)} acknowledged writes (${figures.unanswered} answers lost, sent again), ${READERS} readers (half polling, half SSE), `
      + `${counted(reconnects)} reconnects, ${kills} kill -9 (${storm.kills.api} api, ${storm.kills.worker} worker), ${figures.eventsPerSecond} events/s: ${lossesOf(verdict)}`;
    return { line, figures, failures } satisfies PartResult;
  },
};

/** Drops connections of drawn readers, spread over the work. */
async function reconnect(setup: Setup, storm: Storm, readers: readonly Reader[], count: number): Promise<void> {
  const random = setup.random.fork('reconnects');
  for (let done = 0; done < count; done++) {
    while (storm.progress() < done / count) await sleep(5, undefined, { signal: setup.signal });
    random.pick(readers).reconnect();
    await sleep(1, undefined, { signal: setup.signal });
  }
}
