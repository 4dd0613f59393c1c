/**
 * The client's streams and views through a proxy that cuts, closes and stalls connections at any byte, while the
 * service is killed and the views' processes die. The log is the truth.
 *
 * Seen to fail: a stream that resumes at the head instead of its cursor (lost), a view that saves the cursor of an event
 * before the event is applied (lost at a death).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../../../packages/server/src/ids.ts';
import type { Random } from '../../harness/random.ts';
import { commitAll } from '../lib/commit-events.ts';
import { startFleet } from '../lib/fleet.ts';
import { lastSequence, openTable, readLog, settled } from '../lib/log-table.ts';
import { counted } from '../lib/numbers.ts';
import type { Part, Setup } from '../lib/part.ts';
import { startStorm } from '../lib/storm.ts';
import { added, judgeReader } from '../log/verdict.ts';
import { startProxy } from './proxy.ts';
import { startReaders } from './readers.ts';
import type { ClientReader } from './readers.ts';

const EVENTS = 50_000;
const RECONNECTS = 1_000;
const KILLS = 20;
/** A frame of the events that are generated here. */
const FRAME_BYTES = 700;
/** Each gets about half of the events. */
const READERS = 4;
const CATCH_UP_LIMIT_MS = 120_000;
/** How far readers may fall behind the writers, so that faults hit while events are written. */
const MOST_BEHIND = 2_000;

export const clientEventsPart: Part = {
  name: 'client-events',
  title: 'The client’s streams and views lose, duplicate and reorder no event, whatever cuts them',
  seconds: 240,
  async run(setup) {
    const fleet = await startFleet(setup, { apis: 1, workers: 1 });
    const table = await openTable(setup, fleet.database.url);
    const { app } = (await fleet.callers[0]!.call('POST', '/api/platform/v1/apps', { name: 'App' })).body;
    const { project } = (await fleet.callers[0]!.call('POST', '/api/projects', { name: 'Project' })).body;
    await settled(table, setup.signal);
    const firstSequence = await lastSequence(table);
    const total = setup.count(EVENTS);
    const bytes = Math.round((READERS * (total / 2) * FRAME_BYTES) / setup.count(RECONNECTS, 20));
    const proxy = await startProxy(setup, fleet.bases[0]!, bytes);
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, setup.signal]);
    const start = { base: proxy.base, key: fleet.key, random: setup.random.fork('readers'), signal };
    const readers = await startReaders(start);
    const ended = Promise.all(readers.map(({ running }) => running));
    ended.catch(() => {});

    const storm = startStorm(setup, fleet, { total, kills: setup.count(KILLS, 1) });
    const from = performance.now();
    let begun = 0;
    const committing = commitAll(setup, fleet.database.url, {
      random: setup.random.fork('events'),
      total,
      draw: (random) => drawEvent(random, [app.orgId, app.id, project.id]),
      async step() {
        begun++;
        await storm.step();
        while (begun / 2 - slowest(readers) > MOST_BEHIND) await sleep(10, undefined, { signal });
      },
    });
    await Promise.race([Promise.all([committing, storm.over]), ended]);
    await fleet.allUp();
    await settled(table, setup.signal);
    const log = (await readLog(table)).filter(({ sequence }) => sequence > firstSequence);
    await Promise.race([caughtUp(setup, readers, log), ended]);
    const seconds = (performance.now() - from) / 1000;
    stop.abort();
    await ended;
    const verdict = added(readers.map((reader) => judgeReader(log, reader)));
    const connections = sum(readers.map((reader) => reader.connections));
    const { cut, close, stall } = proxy.harmed;
    const figures = {
      events: log.length,
      readers: readers.length,
      connections,
      cut,
      closed: close,
      stalled: stall,
      kills: storm.kills.api + storm.kills.worker,
      deaths: sum(readers.map(({ deaths }) => deaths)),
      lost: verdict.lost,
      duplicates: verdict.doubled,
      misordered: verdict.misordered,
      unknown: verdict.unknown,
    };
    return {
      figures,
      line:
        `${counted(log.length)} events, ${readers.length} readers by the client, ${counted(connections)} connections (${cut} cut, ${close} closed, ${stall} stalled), ` +
        `${figures.kills} kill -9, ${figures.deaths} deaths of views, ${Math.round(log.length / seconds)} events/s: ${verdict.lost} lost, ${verdict.doubled} doubled, ${verdict.misordered} misordered`,
      failures: [...verdict.failures, ...fleet.deaths],
    };
  },
};

const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);
const slowest = (readers: readonly ClientReader[]) => Math.min(...readers.map(({ seen }) => seen.length));

function drawEvent(random: Random, [orgId, appId, projectId]: [string, string, string]) {
  const isOfApp = random.next() < 0.5;
  return {
    at: {
      orgId,
      projectId: isOfApp ? appId : projectId,
      feed: isOfApp ? ('platform' as const) : ('direct' as const),
      threadId: newId('thr'),
      runId: newId('run'),
    },
    type: random.pick(['run.running', 'tool.updated', 'message.persisted']),
    data: { id: newId('run'), status: 'drawn' },
  };
}

/** Resolves when each reader has all its events in the log, or at the limit: the verdict says what is missing. */
async function caughtUp(
  setup: Setup,
  readers: readonly ClientReader[],
  log: Awaited<ReturnType<typeof readLog>>,
): Promise<void> {
  const isBehind = ({ seen, feed }: ClientReader) => seen.length < log.filter(feed.shows).length;
  for (const deadline = Date.now() + CATCH_UP_LIMIT_MS; readers.some(isBehind) && Date.now() < deadline;)
    await sleep(100, undefined, { signal: setup.signal });
}
