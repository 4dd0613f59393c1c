/**
 * Copies of each write at the same time over two apis, while processes are killed: one effect, and one
 * answer for all copies.
 *
 * Seen to fail: a receipt that is overlooked in three of ten look-ups (of 71 keys 85 effects too many,
 * differing answers, 19 changed payloads that were accepted).
 */
import { newApp, newAppWith } from '../../harness/apps.ts';
import type { Caller } from '../../harness/http.ts';
import { inLanes } from '../../harness/lanes.ts';
import type { Random } from '../../harness/random.ts';
import { deliver, newWeather } from '../lib/delivery.ts';
import { startFleet } from '../lib/fleet.ts';
import type { Fleet } from '../lib/fleet.ts';
import { openTable, settled } from '../lib/log-table.ts';
import { counted } from '../lib/numbers.ts';
import type { Part, PartResult, Setup } from '../lib/part.ts';
import { startStorm } from '../lib/storm.ts';
import { groundRows, judge, sendChanged } from './judge.ts';
import type { Key, Verdict } from './judge.ts';
import { KINDS } from './kinds.ts';
import type { Ground } from './kinds.ts';

const COPIES = 8;
/**
 * Keys at a time. A killed process's import is taken over when its lease is over: meanwhile the others go
 * on.
 */
const LANES = 24;
const APPS = 8;
const THREADS = 8;

export const receiptsPart: Part = {
  name: 'receipts',
  title: 'No write happens twice, whatever is killed during retries',
  seconds: 150,
  async run(setup) {
    const fleet = await startFleet(setup, { apis: 2, workers: 2 });
    const table = await openTable(setup, fleet.database.url);
    const keys = makeKeys(
      setup.count(2000, KINDS.length),
      await makeGround(fleet.callers[0]!),
      setup.random.fork('writes'),
    );
    await settled(table, setup.signal);
    const before = await groundRows(table);
    const done = await sendCopies(setup, fleet, keys);
    await fleet.allUp();
    await settled(table, setup.signal);
    const verdict = await judge(table, fleet.callers, keys, before);
    const refused = await sendChanged(fleet.callers, keys, verdict);
    return {
      ...summaryOf(done, verdict, keys.length, refused),
      failures: [...verdict.failures, ...done.weather.faults, ...fleet.deaths],
    };
  },
};

async function makeGround(caller: Caller): Promise<Ground> {
  const { app: home, sourceId } = await newAppWith(caller, [{ path: 'README.md', content: 'An app.\n' }]);
  const ground: Ground = { apps: [], home, sourceId, threads: [] };
  for (let i = 0; i < APPS; i++) ground.apps.push(await newApp(caller, `ground ${i}`));
  for (let i = 0; i < THREADS; i++)
    ground.threads.push(
      `${home}/threads/${(await caller.call('POST', `${home}/threads`, { sourceId, title: `ground ${i}` })).body.thread.id as string}`,
    );
  return ground;
}

const makeKeys = (count: number, ground: Ground, random: Random) =>
  Array.from({ length: count }, (_, n): Key => {
    const kind = KINDS[n % KINDS.length]!;
    const key = `torture-key-${n}`;
    return { kind, write: { ...kind.write(ground, random, key), key }, answers: [] };
  });

/** All copies of each key at the same time, each until it is answered. */
async function sendCopies(setup: Setup, fleet: Fleet, keys: readonly Key[]) {
  const kills = setup.count(100, 3);
  const weather = newWeather();
  const storm = startStorm(setup, fleet, { total: keys.length, kills });
  const from = performance.now();
  await inLanes(LANES, keys, async (key, n) => {
    await storm.step();
    key.answers = await Promise.all(
      Array.from({ length: COPIES }, (_, copy) =>
        deliver(fleet.callers, key.write, {
          random: setup.random.fork(`copy ${n} ${copy}`),
          weather,
          signal: setup.signal,
        }),
      ),
    );
  });
  const seconds = (performance.now() - from) / 1000;
  await storm.over;
  setup.say(`${keys.length} keys in ${seconds.toFixed(0)} s; counting their effects`);
  return { weather, kills, killed: storm.kills, seconds };
}

function summaryOf(
  { weather, kills, killed, seconds }: Awaited<ReturnType<typeof sendCopies>>,
  verdict: Verdict,
  keys: number,
  refused: number,
): Omit<PartResult, 'failures'> {
  const figures = {
    keys,
    copies: COPIES,
    kills,
    killedApis: killed.api,
    killedWorkers: killed.worker,
    unanswered: weather.unanswered,
    inProgress: weather.inProgress,
    missing: verdict.missing,
    doubled: verdict.doubled,
    different: verdict.different,
    changed: keys,
    changedRefused: refused,
    keysPerSecond: Math.round(keys / seconds),
  };
  const line =
    `${counted(keys)} keys of ${KINDS.length} kinds × ${COPIES} copies, ${kills} kill -9 (${killed.api} api, ${killed.worker} worker), ${counted(weather.unanswered)} answers lost, ${counted(weather.inProgress)} told to wait: ` +
    `${verdict.doubled} effects twice, ${verdict.missing} missing, ${verdict.different} keys with differing answers; ${counted(keys)} changed payloads: ${counted(refused)} × 409 idempotency_conflict`;
  return { line, figures };
}
