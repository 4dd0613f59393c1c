/**
 * What a stream costs the client, and how much memory following a thread for a day retains. The servers are minimal:
 * only the client's process is measured.
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { FakeThread } from '../../../packages/client/src/follow/thread.fixture.ts';
import { summarize } from '../../harness/statistics.ts';
import type { Benchmark, Outcome, Setup } from '../lib/benchmark.ts';
import type { Ask, Reply } from '../lib/client-reader.ts';

/** Events per second: the client should need at most one second of CPU for them. */
const RATE = 10_000;
const ROUNDS = 20;
const HOURS = 24;
const RUNS_AN_HOUR = 12;
const TOOLS = 10;
const DRAFTS = 20;
/** Code that is loaded and compiled once does not count as growth. */
const WARM_HOURS = 2;
const MIB = 2 ** 20;
const KIB = 1024;

export const clientEventsBenchmark: Benchmark = {
  name: 'client-events',
  title: 'The client: streams, and following a thread for a day',
  async run(setup) {
    const streamed = await stream(setup);
    const followed = await follow(setup);
    return {
      rows: [...streamed.rows, ...followed.rows],
      aims: [...streamed.aims, ...followed.aims],
      notes: [...streamed.notes, ...followed.notes],
    };
  },
};

async function stream(setup: Setup): Promise<Outcome> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    // Until the reader has received enough.
    pipeline(frames, response).catch(() => {});
  });
  const base = await listen(setup, server);
  const reader = startReader(setup);
  const cpu: number[] = [];
  const rates: number[] = [];
  // The first round compiles.
  for (let round = 0; round <= (setup.quick ? 3 : ROUNDS); round++) {
    const reply = await ask(reader, { kind: 'stream', base, events: RATE });
    if (reply.kind !== 'streamed' || round === 0) continue;
    cpu.push(reply.cpuMs);
    rates.push((RATE / reply.wallMs) * 1000);
  }
  return {
    rows: [
      {
        what: `${RATE} events of a stream: CPU of the client's process`,
        unit: 'ms',
        figures: summarize(cpu),
      },
      {
        what: 'events of a stream, as fast as the client takes them',
        unit: 'events/s',
        figures: summarize(rates),
      },
    ],
    aims: [
      {
        what: `CPU of ${RATE} events, median; one second's worth, on one core`,
        bound: 'most',
        limit: 1_000,
        value: summarize(cpu).median,
        unit: 'ms',
      },
    ],
    notes: [
      `Each event is a frame of about 700 bytes, which is parsed, identified by its id and passed to a \`for await\`.`,
    ],
  };
}

/** Endless events, as fast as the reader takes them. */
function* frames(): Generator<string> {
  for (let n = 1; ; n++) {
    const event = {
      id: `evt_${n}`,
      type: 'tool.updated',
      sequence: String(n),
      data: { id: 'tool_01k9x3v5e8f7arh2m4t6w8y0zb', status: 'completed' },
      padding: 'x'.repeat(300),
      cursor: `c${n}`.padEnd(120, '.'),
    };
    yield `id: ${event.cursor}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
  }
}

async function follow(setup: Setup): Promise<Outcome> {
  const thread = new FakeThread();
  const server = await thread.serve();
  setup.atEnd(async () => {
    await server[Symbol.asyncDispose]();
  });
  const reader = startReader(setup);
  reader.send({ kind: 'follow', base: server.base } satisfies Ask);
  const bytes: number[] = [];
  const rss: number[] = [];
  let items = 0;
  for (let hour = 0; hour < (setup.quick ? 4 : HOURS); hour++) {
    for (let i = 0; i < RUNS_AN_HOUR; i++) {
      await work(thread);
      // At the follower's pace: it reads the thread after the run has ended.
      while (!server.seen.some(({ url }) => url.endsWith('/threads/thr_1'))) await sleep(1);
      server.seen.length = 0;
    }
    thread.cut();
    const reply = await ask(reader, { kind: 'memory' });
    if (reply.kind !== 'memory') throw new Error(`The follower has ended: ${JSON.stringify(reply)}`);
    ({ items } = reply);
    if (hour < WARM_HOURS) continue;
    bytes.push(reply.bytes / KIB);
    rss.push(reply.rss / KIB);
  }
  const spread = Math.max(...bytes) - Math.min(...bytes);
  return {
    rows: [
      { what: 'heap and buffers of a follower, each hour', unit: 'KiB', figures: summarize(bytes) },
      { what: 'resident memory of its process, each hour', unit: 'KiB', figures: summarize(rss) },
    ],
    aims: [
      {
        what: 'heap and buffers over a day, largest less smallest',
        bound: 'most',
        limit: (10 * MIB) / KIB,
        value: spread,
        unit: 'KiB',
      },
    ],
    notes: [
      `A day of ${setup.quick ? 'four hours' : `${HOURS} hours`}, generated as fast as the client follows it: each hour has ${RUNS_AN_HOUR} runs with ${TOOLS} tool calls and ${DRAFTS} drafts, and a lost connection; ${items} items. Measured after garbage collections, from hour ${WARM_HOURS + 1} on.`,
    ],
  };
}

async function work(thread: FakeThread): Promise<void> {
  const runId = thread.send('Go on');
  thread.start(runId);
  for (let tool = 0; tool < TOOLS; tool++) {
    for (const status of ['pending', 'running', 'completed']) thread.tool(runId, `${runId}_${tool}`, status);
    for (let i = 0; i < DRAFTS / TOOLS; i++) thread.draft(runId, tool * DRAFTS + i);
    await sleep(1);
  }
  thread.reply(runId);
}

async function listen(setup: Setup, server: ReturnType<typeof createServer>): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  setup.atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function startReader(setup: Setup): ChildProcess {
  const reader = fork(join(import.meta.dirname, '../lib/client-reader.ts'), {
    execArgv: ['--expose-gc', '--disable-warning=ExperimentalWarning'],
  });
  setup.atEnd(() => void reader.kill());
  return reader;
}

/** Its next answer. Throws when it ends. */
async function ask(reader: ChildProcess, question: Ask): Promise<Reply> {
  reader.send(question);
  const stop = new AbortController();
  try {
    return await Promise.race([
      once(reader, 'message', { signal: stop.signal }).then(([reply]) => reply as Reply),
      once(reader, 'exit', { signal: stop.signal }).then(() => {
        throw new Error('The reader has ended.');
      }),
    ]);
  } finally {
    stop.abort();
  }
}
