/**
 * A thread whose workspace was put away because nobody used it gets a message: how long until its files are
 * there again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { newAppWith, newReadyThread } from '../../harness/apps.ts';
import type { Benchmark, Outcome, Row, Setup } from '../lib/benchmark.ts';
import { startDatabase, startServiceOn } from '../../harness/database.ts';
import { makeFiles } from '../../harness/files.ts';
import { openFrames } from '../lib/frames.ts';
import type { Caller } from '../../harness/http.ts';
import { summarize } from '../../harness/statistics.ts';

const SIZES = [1_000, 10_000];
const BYTES_EACH = 3_300;
const THREADS = 5;
const IDLE_LIMIT_MS = 30_000;

/** ms from the sending of the message, by the frames of the thread's stream. */
interface Timing {
  accepted: number;
  preparing: number;
  ready: number;
  running: number;
  completed: number;
}
const PARTS: [keyof Timing, string][] = [
  ['accepted', 'answered 201'],
  ['preparing', 'workspace preparing'],
  ['ready', 'workspace ready'],
  ['running', 'run running'],
  ['completed', 'run completed'],
];

export const reopenBenchmark: Benchmark = {
  name: 'reopen',
  title: 'Message to a thread that was idle',
  async run(setup): Promise<Outcome> {
    const database = await startDatabase(setup.scratch);
    setup.atEnd(() => database.stop());
    const service = await startServiceOn(setup, database);
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    setup.atEnd(() => client.end());
    const rows: Row[] = [];
    const ready: number[] = [];
    for (const size of SIZES) {
      const timings = await reopened(setup, service, client, size);
      for (const [part, what] of PARTS)
        rows.push({
          what: `${size} files: message sent → ${what}`,
          unit: 'ms',
          figures: summarize(timings.map((timing) => timing[part])),
        });
      ready.push(summarize(timings.map((timing) => timing.ready)).median);
    }
    return {
      rows,
      aims: SIZES.map((size, i) => ({
        what: `${size} files: workspace ready, p50`,
        bound: 'most',
        limit: 300,
        value: ready[i]!,
        unit: 'ms',
      })),
      notes: [
        `${THREADS} threads of one app, each with a different version. All are idle, with their workspaces saved and ended, and then get a message one after the other: a one-line edit by the scripted agent, whose result is checked. The benchmark ends the idle time in the database. Times are those at which the thread's stream reported each step.`,
      ],
    };
  },
};

async function reopened(setup: Setup, service: Caller, database: pg.Client, size: number): Promise<Timing[]> {
  const { app, sourceId } = await newAppWith(service, makeFiles(size, size * BYTES_EACH));
  const threads: string[] = [];
  for (let i = 0; i < (setup.quick ? 2 : THREADS); i++) {
    threads.push(await newReadyThread(service, app, sourceId));
    await turn(service, app, threads.at(-1)!, `thread ${i}`);
  }
  const timings: Timing[] = [];
  for (let round = -1; round < (setup.quick ? 1 : 4); round++) {
    setup.say(`${size} files, round ${round + 1}`);
    await putAway(service, database, threads);
    for (const thread of threads) {
      const timing = await turn(service, app, thread, `round ${round}`);
      if (timing === null) throw new Error('The workspace had not been put away');
      // Code that has run a few times is faster, in the service and in the database.
      if (round >= 0) timings.push(timing);
    }
  }
  return timings;
}

/** Ends the idle time of these threads; resolves when the service has put all of them away. */
async function putAway(service: Caller, database: pg.Client, threads: readonly string[]): Promise<void> {
  const ids = threads.map((thread) => thread.slice(thread.lastIndexOf('/') + 1));
  await database.query(
    `update threads set idle_expires_at = now() - interval '1 second' where id = any($1)`,
    [ids],
  );
  for (const thread of threads) {
    for (
      const deadline = Date.now() + IDLE_LIMIT_MS;
      (await service.call('GET', thread)).body.thread.workspaceStatus !== 'archived';
      await sleep(50)
    ) {
      if (Date.now() > deadline) throw new Error('A workspace was not put away in time');
    }
  }
}

/** Sends a one-line edit and checks its result. Null where the workspace was there and had not to be made. */
async function turn(service: Caller, app: string, thread: string, text: string): Promise<Timing | null> {
  const frames = await openFrames(service, app, thread);
  const from = performance.now();
  const { body } = await service.call('POST', `${thread}/messages`, {
    content: `\`\`\`sh\necho '${text}' >> src/area-0/part-0/file-7.ts\n\`\`\``,
  });
  const accepted = performance.now() - from;
  const end = await frames.first(({ event }) => /^run\.(completed|failed|cancelled)$/.test(event));
  frames.close();
  const { run } = (await service.call('GET', `${thread}/runs/${body.run.id as string}`)).body;
  if (run.status !== 'completed' || run.resultSourceId === run.baseSourceId)
    throw new Error(`The run ended ${String(run.status)}: ${JSON.stringify(run.error)}`);
  const { records } = (await service.call('GET', `${thread}/workspace/history?limit=2`)).body;
  const toldAt = (event: string, id?: string) =>
    frames.seen.find(
      (frame) =>
        frame.event === event && (id === undefined || (frame.data['data'] as { id: string }).id === id),
    )?.at;
  const [ready, preparing] = (records as { id: string }[]).map(({ id }) =>
    toldAt('workspace.recovery.updated', id),
  );
  if (ready === undefined || preparing === undefined) return null;
  return {
    accepted,
    preparing: preparing - from,
    ready: ready - from,
    running: toldAt('run.running')! - from,
    completed: end.at - from,
  };
}
