/**
 * PostgreSQL's postmaster killed during writes: the embedded one, which the service brings up again by
 * itself, and one that several processes share, which its own supervisor brings up. The processes of the
 * service are not touched: they have to answer all along.
 *
 * Seen to fail: a server with synchronous_commit off (of 296 acknowledged writes 324 events lost to two
 * kills), a pool that does not listen to its busy connections (the service ends with them).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { urlOf } from '../../harness/database.ts';
import type { Caller } from '../../harness/http.ts';
import { embeddedConnection } from '../../../packages/server/src/db/embedded/index.ts';
import { newWeather } from '../lib/delivery.ts';
import type { Weather } from '../lib/delivery.ts';
import { startFleet } from '../lib/fleet.ts';
import { lastSequence, openTable, settled } from '../lib/log-table.ts';
import { counted } from '../lib/numbers.ts';
import type { Part, PartResult, Setup } from '../lib/part.ts';
import { judge } from '../log/judge.ts';
import { startReaders } from '../log/readers.ts';
import { lossesOf } from '../log/verdict.ts';
import type { Verdict } from '../log/verdict.ts';
import { makeWorld } from '../log/world.ts';
import { writer } from '../log/writers.ts';
import type { Acknowledged } from '../log/writers.ts';
import { killPostmaster } from './kill.ts';

const WRITERS = 16;
const READERS = 8;
const READY_LIMIT_MS = 10_000;
const LAST_WORDS_MS = 500;
/**
 * Between a kill and the next one so many writes have to be answered: each one falls into writes that go
 * well.
 */
const WRITES_BETWEEN = 50;

interface Target {
  what: string;
  callers: readonly Caller[];
  /** Of the server whose postmaster is killed. */
  dataDir: string;
  url: string;
  /** Processes that ended by themselves. */
  deaths(): string[];
}

interface Outcome extends Verdict {
  kills: number;
  acknowledged: number;
  events: number;
  slowest: number;
  weather: Weather;
}

export const postmasterPart: Part = {
  name: 'postmaster',
  title: 'No acknowledged write is lost when PostgreSQL is killed, and the service recovers quickly',
  seconds: 120,
  async run(setup) {
    const sharedKills = setup.count(5, 0);
    const embedded = await storm(setup, await embeddedTarget(setup), setup.count(20, 2));
    // Of short runs the start of four more processes would be the most.
    const outcomes =
      sharedKills === 0 ? [embedded] : [embedded, await storm(setup, await sharedTarget(setup), sharedKills)];
    const sum = (of: (outcome: Outcome) => number) =>
      outcomes.reduce((total, outcome) => total + of(outcome), 0);
    const figures = {
      kills: embedded.kills,
      sharedKills,
      writers: WRITERS,
      acknowledged: sum((o) => o.acknowledged),
      events: sum((o) => o.events),
      unavailable: sum((o) => o.weather.unavailable),
      wrongAnswers: sum((o) => o.weather.faults.length),
      slowestReadyMs: Math.round(Math.max(...outcomes.map((o) => o.slowest))),
      lost: sum((o) => o.lost),
      duplicates: sum((o) => o.doubled),
      unknown: sum((o) => o.unknown),
      misordered: sum((o) => o.misordered),
    };
    const line =
      `postmaster killed ${embedded.kills} times (embedded) and ${sharedKills} times (shared by 2 api, 2 worker) during ${WRITERS} writers' ${counted(figures.acknowledged)} acknowledged writes (${counted(figures.events)} events): ` +
      `${lossesOf({ ...figures, doubled: figures.duplicates, failures: [] })}, ${counted(figures.unavailable)} answers of 503, ${figures.wrongAnswers} of 500, ready again within ${(figures.slowestReadyMs / 1000).toFixed(1)} s`;
    return { line, figures, failures: outcomes.flatMap((outcome) => outcome.failures) } satisfies PartResult;
  },
};

async function embeddedTarget(setup: Setup): Promise<Target> {
  const service = await setup.start();
  return {
    what: 'embedded',
    callers: [service],
    dataDir: service.dataDir,
    url: urlOf(embeddedConnection(service.dataDir)),
    deaths: () => (service.isUp() ? [] : [`the service ended by itself: ${service.said()}`]),
  };
}

async function sharedTarget(setup: Setup): Promise<Target> {
  const { callers, database, deaths } = await startFleet(setup, { apis: 2, workers: 2 });
  return { what: 'shared', callers, dataDir: database.dataDir, url: database.url, deaths: () => deaths };
}

async function storm(setup: Setup, target: Target, kills: number): Promise<Outcome> {
  const { callers } = target;
  const world = await makeWorld(callers[0]!);
  const firstSequence = await endOf(setup, target);
  const readers = await startReaders(setup, callers, world, READERS);
  const weather = newWeather();
  const acknowledged: Acknowledged[] = [];
  const failures: string[] = [];
  let isOver = false;
  const writing = {
    callers,
    world,
    runsInThousand: 30,
    weather,
    signal: setup.signal,
    acknowledged,
    failures,
    step: () => Promise.resolve(),
    isEnough: () => isOver,
  };
  const all = Promise.all(
    Array.from({ length: WRITERS }, (_, n) =>
      writer(n, setup.random.fork(`${target.what} writer ${n}`), writing),
    ),
  );
  const killing = kill(setup, target, kills, () => acknowledged.length)
    .catch((error: unknown) => explain(error, target))
    .finally(() => {
      isOver = true;
    });
  const [slowest] = await Promise.all([killing, all]);
  setup.say(
    `${target.what}: ${acknowledged.length} writes over ${kills} kills, ready within ${(slowest / 1000).toFixed(1)} s; waiting for what is left`,
  );
  const table = await openTable(setup, target.url);
  const verdict = await judge(table, { acknowledged, readers, firstSequence }, setup.signal);
  failures.push(...verdict.failures, ...weather.faults, ...target.deaths());
  if (weather.refused + weather.unanswered)
    failures.push(
      `${target.what}: ${weather.refused} connections were refused and ${weather.unanswered} requests not answered, though the service lives`,
    );
  return {
    ...verdict,
    failures,
    kills,
    acknowledged: acknowledged.length,
    events: verdict.log.length,
    slowest,
    weather,
  };
}

/** A lost connection is reported together with the process that ended, once that is known. */
async function explain(error: unknown, target: Target): Promise<never> {
  await sleep(LAST_WORDS_MS);
  throw new Error([error instanceof Error ? error.message : String(error), ...target.deaths()].join('; '), {
    cause: error,
  });
}

async function endOf(setup: Setup, { url }: Target): Promise<number> {
  const table = await openTable(setup, url);
  await settled(table, setup.signal);
  const last = await lastSequence(table);
  await table.end();
  return last;
}

/**
 * Kills the postmaster again and again, each time when writes go well; returns the longest time until the
 * service was ready again, in ms.
 */
async function kill(
  setup: Setup,
  { what, callers, dataDir }: Target,
  kills: number,
  answered: () => number,
): Promise<number> {
  const random = setup.random.fork(`${what} kills`);
  let slowest = 0;
  for (let n = 1; n <= kills; n++) {
    const wanted = answered() + WRITES_BETWEEN;
    for (
      const deadline = Date.now() + READY_LIMIT_MS;
      answered() < wanted;
      await sleep(10, undefined, { signal: setup.signal })
    ) {
      if (Date.now() > deadline)
        throw new Error(
          `${what}: before kill ${n} ${wanted - answered()} of ${WRITES_BETWEEN} writes were not answered within ${READY_LIMIT_MS / 1000} s, though the service says that it is ready`,
        );
    }
    await sleep(random.below(200), undefined, { signal: setup.signal });
    const from = performance.now();
    const isUpAgain = killPostmaster(dataDir);
    for (let unready = ['another server']; ; await sleep(20, undefined, { signal: setup.signal })) {
      unready = isUpAgain() ? await unreadyParts(callers) : unready;
      if (unready.length === 0) break;
      if (performance.now() - from > READY_LIMIT_MS)
        throw new Error(
          `${what}: not ready within ${READY_LIMIT_MS / 1000} s of kill ${n}: ${unready.join(', ')}`,
        );
    }
    slowest = Math.max(slowest, performance.now() - from);
  }
  return slowest;
}

/**
 * What is not ready, as the processes say it. Throws when one gives another answer than 200 or a proper
 * 503, or does not say that it lives.
 */
async function unreadyParts(callers: readonly Caller[]): Promise<string[]> {
  const answers = await Promise.all(
    callers.flatMap((caller) =>
      ['/health', '/health/ready'].map((path) => caller.send('GET', path, { limitMs: READY_LIMIT_MS })),
    ),
  );
  for (const [i, { status, headers, text }] of answers.entries()) {
    if (status === 200 || (i % 2 === 1 && status === 503 && Number(headers['retry-after']) > 0)) continue;
    throw new Error(`${i % 2 ? '/health/ready' : '/health'} answered ${status} ${text.slice(0, 300)}`);
  }
  return answers.flatMap(({ status, text }) => (status === 200 ? [] : [text]));
}
