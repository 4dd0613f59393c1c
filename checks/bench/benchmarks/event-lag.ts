/**
 * How long after a write its event is read from a stream: 200 writes a second over HTTP, and 500 events a
 * second committed by another process than the one that publishes and streams. One machine, one clock.
 */
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { newApp } from '../../harness/apps.ts';
import type { Benchmark, Outcome, Setup } from '../lib/benchmark.ts';
import { startDatabase, startServiceOn } from '../../harness/database.ts';
import { PLATFORM } from '../../harness/http.ts';
import type { Caller } from '../../harness/http.ts';
import { openLog } from '../lib/log.ts';
import { summarize } from '../../harness/statistics.ts';

const WRITES = 200;
const COMMITS = 500;
const SECONDS = 20;
const APPS = 50;
const CONNECTIONS = 24;
const DRAIN_LIMIT_MS = 10_000;

export const eventLagBenchmark: Benchmark = {
  name: 'events',
  title: 'Event lag',
  async run(setup) {
    const database = await startDatabase(setup.scratch);
    setup.atEnd(() => database.stop());
    const service = await startServiceOn(setup, database);
    const stream = await service.open(`${PLATFORM}/events/stream?types=platform.app.updated`);
    setup.atEnd(() => void stream.destroy());
    const frames = collect(stream);
    const written = await lags(setup, frames, WRITES, await renaming(service));
    const log = await openLog(setup, service, database.url, CONNECTIONS);
    const committed = await lags(setup, frames, COMMITS, () => log.commit());
    return {
      rows: [...written.rows, ...committed.rows],
      aims: [
        {
          what: `p99 at ${WRITES} writes a second`,
          bound: 'most',
          limit: 50,
          value: written.lag.p99,
          unit: 'ms',
        },
        {
          what: `p99 at ${COMMITS} events a second`,
          bound: 'most',
          limit: 25,
          value: committed.lag.p99,
          unit: 'ms',
        },
      ],
      notes: [
        `${written.lag.count} renames of ${APPS} apps over HTTP, then ${committed.lag.count} transactions of one event, by the service's own code in the benchmark's process, on ${CONNECTIONS} connections; both sent at a fixed rate, without waiting for earlier answers. One reader of the all-apps stream, in the benchmark's process. The targets count from occurredAt, which is set just before the commit, so they include the commit's own time.`,
        'At 200 a second, the process that commits also publishes and streams. At 500, the wake-up goes from one process to the other through PostgreSQL, at most every 5 ms.',
      ],
    };
  },
};

/** Writes at a rate; each answers with what its event is known by. */
type Write = (i: number) => Promise<string>;

/** Events of renamings are known by app and version time: their ids are not answered. */
async function renaming(service: Caller): Promise<Write> {
  const apps = await Promise.all(Array.from({ length: APPS }, (_, i) => newApp(service, `App ${i}`)));
  return async (i) => {
    const { app } = (await service.call('PATCH', apps[i % APPS]!, { name: `Name ${i} ${performance.now()}` }))
      .body;
    return `${app.id as string} ${app.updatedAt as string}`;
  };
}

async function lags(
  setup: Setup,
  frames: Frames,
  rate: number,
  write: Write,
): Promise<Pick<Outcome, 'rows'> & { lag: ReturnType<typeof summarize> }> {
  // Connections and statements are made before anything is counted.
  await send(rate, rate, write);
  await frames.arrived(rate);
  frames.clear();
  const count = rate * (setup.quick ? 3 : SECONDS);
  const answered = await send(count, rate, write);
  await frames.arrived(count);
  const sinceEvent = frames.all().map(({ event, at }) => at - Date.parse(event.occurredAt));
  const sinceAnswer = frames
    .all()
    .map(({ event, at }) =>
      Math.max(0, at - (answered.get(event.id) ?? answered.get(`${event.data.id} ${event.data.updatedAt}`))!),
    );
  frames.clear();
  const lag = summarize(sinceEvent);
  return {
    lag,
    rows: [
      { what: `${rate} a second: event written (before its commit) → frame read`, unit: 'ms', figures: lag },
      { what: `${rate} a second: commit answered → frame read`, unit: 'ms', figures: summarize(sinceAnswer) },
    ],
  };
}

/** Sends at the rate, whatever the answers take; returns when each was answered. */
async function send(total: number, rate: number, write: Write): Promise<Map<string, number>> {
  const answered = new Map<string, number>();
  const pending: Promise<void>[] = [];
  const from = performance.now();
  for (let i = 0; i < total; i++) {
    const wait = from + (i * 1000) / rate - performance.now();
    if (wait > 0) await sleep(wait);
    pending.push(one(i));
  }
  await Promise.all(pending);
  return answered;

  async function one(i: number): Promise<void> {
    const event = await write(i);
    answered.set(event, now());
  }
}

const now = () => performance.timeOrigin + performance.now();

interface Frame {
  event: { id: string; data: { id: string; updatedAt: string }; occurredAt: string };
  /** Milliseconds since 1970, with fractions. */
  at: number;
}
type Frames = ReturnType<typeof collect>;

function collect(stream: IncomingMessage) {
  let frames: Frame[] = [];
  let rest = '';
  stream.setEncoding('utf8').on('data', (part: string) => {
    const at = now();
    const blocks = (rest + part).split('\n\n');
    rest = blocks.pop()!;
    for (const block of blocks) {
      if (!/^event: ?platform\.app\.updated$/m.test(block)) continue;
      frames.push({ event: JSON.parse(/^data: ?(.*)$/m.exec(block)![1]!) as Frame['event'], at });
    }
  });
  return {
    all: () => frames,
    clear: () => {
      frames = [];
    },
    async arrived(count: number): Promise<void> {
      for (const deadline = Date.now() + DRAIN_LIMIT_MS; frames.length < count; await sleep(10))
        if (Date.now() > deadline) throw new Error(`${frames.length} of ${count} events arrived`);
    },
  };
}
