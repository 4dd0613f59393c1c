/** Writers and readers over two apis, while processes are killed. Truth: what writers were told, and the table itself. */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { newAppWith } from '../../bench/lib/apps.ts';
import { startDatabase } from '../../bench/lib/database.ts';
import { PLATFORM } from '../../bench/lib/http.ts';
import { newWeather } from '../lib/delivery.ts';
import { startFleet } from '../lib/fleet.ts';
import type { Fleet } from '../lib/fleet.ts';
import { openTable, readLog, settled } from '../lib/log-table.ts';
import type { LoggedEvent } from '../lib/log-table.ts';
import { counted } from '../lib/numbers.ts';
import type { Part, PartResult, Setup } from '../lib/part.ts';
import { startStorm } from '../lib/storm.ts';
import type { Storm } from '../lib/storm.ts';
import { headOf, pollingReader, streamingReader } from './readers.ts';
import type { Feed, Reader } from './readers.ts';
import { added, judgeLog, judgeReader } from './verdict.ts';
import { writer } from './writers.ts';
import type { Acknowledged, World } from './writers.ts';

const WRITERS = 16;
const READERS = 32;
const APPS = 24;
const PROJECTS = 6;
const THREADS = 4;
const CATCH_UP_LIMIT_MS = 60_000;

export const logPart: Part = {
  name: 'log',
  title: 'No event is missed, doubled or reordered while processes are killed',
  seconds: 240,
  async run(setup) {
    const events = setup.count(50_000);
    const kills = setup.count(100, 3);
    const reconnects = setup.count(1000, READERS);
    const database = await startDatabase(setup.scratch);
    setup.atEnd(() => database.stop());
    const fleet = await startFleet(setup, database.url, { apis: 2, workers: 2 });
    const table = await openTable(setup, database.url);
    const world = await makeWorld(fleet);
    await settled(table, setup.signal);
    const firstSequence = (await readLog(table)).at(-1)!.sequence;
    const readers = await startReaders(setup, fleet, world);
    const weather = newWeather();
    const acknowledged: Acknowledged[] = [];
    const failures: string[] = [];
    let written = 0;

    const storm = startStorm(fleet, setup.random.fork('victims'), { total: events, kills, signal: setup.signal });
    const from = performance.now();
    const writing = {
      callers: fleet.callers, world, weather, signal: setup.signal, acknowledged, failures,
      // A write may publish several events or none that can be told apart: as many writes as events are enough.
      step: () => { written++; return storm.step(); },
      isEnough: () => written >= events,
    };
    const reconnected = reconnect(setup, storm, readers.all, reconnects);
    await Promise.all(Array.from({ length: WRITERS }, (_, n) => writer(n, setup.random.fork(`writer ${n}`), writing)));
    const seconds = (performance.now() - from) / 1000;
    await storm.over;
    await reconnected;
    setup.say(`${written} writes in ${seconds.toFixed(0)} s; waiting for what is left`);
    await fleet.allUp();
    await settled(table, setup.signal);
    const log = (await readLog(table)).filter((event) => event.sequence > firstSequence);
    await caughtUp(readers.all, log, setup.signal);
    await readers.stop();

    const verdict = added([judgeLog(log, acknowledged, (type) => type === 'platform.app.updated' || type === 'platform.app.created'), ...readers.all.map((reader) => judgeReader(log, reader))]);
    failures.push(...verdict.failures, ...await judgeVersions(table, log), ...readers.all.flatMap((reader) => reader.failures), ...weather.faults, ...fleet.deaths);
    const figures = {
      writers: WRITERS, readers: READERS, events: log.length, acknowledged: acknowledged.length, eventsPerSecond: Math.round(log.length / seconds), reconnects, kills, killedApis: storm.kills.api, killedWorkers: storm.kills.worker,
      unanswered: weather.unanswered, lost: verdict.lost, duplicates: verdict.doubled, misordered: verdict.misordered, unknown: verdict.unknown,
    };
    return { line: lineOf(figures), figures, failures } satisfies PartResult;
  },
};

type Figures = Record<'events' | 'acknowledged' | 'eventsPerSecond' | 'reconnects' | 'kills' | 'killedApis' | 'killedWorkers' | 'unanswered' | 'lost' | 'duplicates' | 'misordered' | 'unknown', number>;

const lineOf = (f: Figures) => `${WRITERS} writers, ${counted(f.events)} events of ${counted(f.acknowledged)} acknowledged writes (${f.unanswered} answers lost, retried), ${READERS} readers (half polling, half SSE), `
  + `${counted(f.reconnects)} reconnects, ${f.kills} kill -9 (${f.killedApis} api, ${f.killedWorkers} worker), ${f.eventsPerSecond} events/s: ${f.lost} lost, ${f.duplicates} duplicates, ${f.unknown} unknown, ${f.misordered ? `${f.misordered} out of order` : 'one order for all readers'}`;

async function makeWorld(fleet: Fleet): Promise<World> {
  const [caller] = fleet.callers;
  const { app: home, sourceId } = await newAppWith(caller!, [{ path: 'README.md', content: 'An app.\n' }]);
  const world: World = { apps: [], projects: [], threads: [], home };
  for (let i = 0; i < APPS; i++) world.apps.push(`${PLATFORM}/apps/${(await caller!.call('POST', `${PLATFORM}/apps`, { name: `App ${i}` })).body.app.id as string}`);
  for (let i = 0; i < PROJECTS; i++) world.projects.push(`/api/projects/${(await caller!.call('POST', '/api/projects', { name: `Project ${i}` })).body.project.id as string}`);
  for (let i = 0; i < THREADS; i++) world.threads.push(`${home}/threads/${(await caller!.call('POST', `${home}/threads`, { sourceId })).body.thread.id as string}`);
  return world;
}

/** Most read all apps; some one app, one type, or the Direct feed: no filter may lose anything either. */
function feedsOf({ apps }: World): Feed[] {
  const all: Feed = { what: 'all apps', path: `${PLATFORM}/events`, query: '', shows: (event) => event.feed === 'platform' };
  const [app] = apps;
  return [
    all, all, all, all, all,
    { what: 'one type', path: `${PLATFORM}/events`, query: 'types=run.completed,platform.app.created', shows: ({ feed, type }) => feed === 'platform' && ['run.completed', 'platform.app.created'].includes(type) },
    { what: 'one app', path: `${app!}/events`, query: '', shows: ({ projectId }) => projectId === app!.split('/').at(-1) },
    { what: 'the Direct feed', path: '/api/events', query: '', shows: (event) => event.feed === 'direct' },
  ];
}

async function startReaders(setup: Setup, fleet: Fleet, world: World) {
  const feeds = feedsOf(world);
  const stopped = new AbortController();
  const all: Reader[] = [];
  for (let n = 0; n < READERS; n++) {
    const feed = feeds[(n >> 1) % feeds.length]!;
    const cursor = await headOf(fleet.callers[0]!, feed);
    const start = { name: `reader ${n}`, feed, cursor, callers: fleet.callers, random: setup.random.fork(`reader ${n}`), signal: stopped.signal };
    all.push(n % 2 === 0 ? pollingReader({ ...start, name: `polling ${start.name}` }) : streamingReader({ ...start, name: `streaming ${start.name}` }));
  }
  const stop = async () => {
    stopped.abort();
    await Promise.all(all.map((reader) => reader.running));
  };
  setup.atEnd(stop);
  return { all, stop };
}

/** Drops connections of drawn readers, spread over the work. */
async function reconnect(setup: Setup, storm: Storm, readers: readonly Reader[], count: number): Promise<void> {
  const random = setup.random.fork('reconnects');
  for (let done = 0; done < count; done++) {
    while (storm.progress() < done / count) await sleep(5, undefined, { signal: setup.signal });
    random.pick(readers).reconnect();
    await sleep(1, undefined, { signal: setup.signal });
  }
}

/** Resolves when every reader has as many events as its feed, or does not get any further in its time. */
async function caughtUp(readers: readonly Reader[], log: readonly LoggedEvent[], signal: AbortSignal): Promise<void> {
  const wanted = new Map<Feed, number>();
  for (const { feed } of readers) if (!wanted.has(feed)) wanted.set(feed, log.filter((event) => feed.shows(event)).length);
  for (const deadline = Date.now() + CATCH_UP_LIMIT_MS; Date.now() < deadline; await sleep(50, undefined, { signal })) {
    if (readers.every((reader) => reader.seen.length >= wanted.get(reader.feed)!)) return;
  }
}

/** `version` moves by one exactly when its event is published. */
async function judgeVersions(table: pg.Client, log: readonly LoggedEvent[]): Promise<string[]> {
  const whole = await readLog(table);
  const counts = new Map<string, number>();
  for (const { type, projectId, threadId } of whole) {
    const id = type === 'platform.app.updated' ? projectId : type === 'thread.updated' ? threadId : null;
    if (id !== null) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  const { rows } = await table.query<{ id: string; version: number; first: number }>(`
    select id, version::float8 as version, 1 as first from projects where kind = 'platform' union all select id, version::float8, 0 from threads`);
  return rows.filter(({ id, version, first }) => version !== (counts.get(id) ?? 0) + first).slice(0, 5)
    .map(({ id, version }) => `${id} has version ${version}, and ${counts.get(id) ?? 0} events of changes in a log of ${log.length}`);
}
