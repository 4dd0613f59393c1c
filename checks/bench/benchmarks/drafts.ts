/**
 * How late a reader of a thread's stream sees what its agent says, and what that costs the database: agents say the time
 * 50 times a second, and each is read by one stream.
 */
import pg from 'pg';
import { newAppWith, newReadyThread } from '../../harness/apps.ts';
import { startDatabase, startServiceOn } from '../../harness/database.ts';
import { makeFiles } from '../../harness/files.ts';
import type { Service } from '../../harness/service.ts';
import { summarize } from '../../harness/statistics.ts';
import type { Benchmark, Row } from '../lib/benchmark.ts';
import { openFrames } from '../lib/frames.ts';
import type { Frame, Frames } from '../lib/frames.ts';
import { writerEnv, writingMessage, WRITER_MODEL } from '../lib/writer.ts';

const AT_ONCE = [1, 10];
const SECONDS = 20;
const EVERY_MS = 20;
const WARM_UP = 2;

export const draftsBenchmark: Benchmark = {
  name: 'drafts',
  title: 'A reply as it grows',
  async run(setup) {
    const database = await startDatabase(setup.scratch);
    setup.atEnd(() => database.stop());
    const pool = new pg.Pool({ connectionString: database.url, max: 1 });
    setup.atEnd(() => pool.end());
    const service = await startServiceOn(setup, database, writerEnv(setup));
    const { app, sourceId } = await newAppWith(service, makeFiles(20, 64 * 1024));
    await service.call('PATCH', `${app}/settings`, { modelId: WRITER_MODEL });
    const threads: string[] = [];
    for (let i = 0; i < Math.max(...AT_ONCE); i++) threads.push(await newReadyThread(service, app, sourceId));
    const pieces = ((setup.quick ? 5 : SECONDS) * 1000) / EVERY_MS;
    const rows: Row[] = [];
    let p99 = 0;
    for (const count of AT_ONCE) {
      const readers = await Promise.all(
        threads
          .slice(0, count)
          .map(async (thread) => ({ thread, frames: await openFrames(service, app, thread) })),
      );
      const before = await writes(pool);
      await Promise.all(readers.map((reader) => work(service, reader, pieces)));
      const after = await writes(pool);
      for (const { frames } of readers) frames.close();
      const lags = readers.flatMap(({ frames }) => lagsOf(frames.seen));
      const between = readers.flatMap(({ frames }) => pausesOf(frames.seen));
      const label = count === 1 ? '1 run' : `${count} runs`;
      const all = Object.keys(after).reduce((sum, name) => sum + after[name]! - (before[name] ?? 0), 0);
      const figure = (what: string, unit: Row['unit'], samples: number[]): Row => ({
        what: `${label}: ${what}`,
        unit,
        figures: summarize(samples),
      });
      const lag = figure('said → read in a draft frame', 'ms', lags);
      p99 = Math.max(p99, lag.figures.p99);
      rows.push(
        lag,
        figure('from one draft frame to the next', 'ms', between),
        figure('rows written to drafts', 'rows', [(after.drafts ?? 0) - (before.drafts ?? 0)]),
        figure('rows written to all tables', 'rows', [all]),
      );
      setup.say(`${label}: ${lags.length} words, p99 ${Math.round(lag.figures.p99)} ms`);
    }
    return {
      rows,
      aims: [
        { what: 'said → read in a draft frame, p99', bound: 'most', limit: 150, value: p99, unit: 'ms' },
      ],
      notes: [
        `Agents say a word every ${EVERY_MS} ms for ${SECONDS} seconds; a draft frame comes every 100 ms at most, which is part of what a word waits. The first ${WARM_UP} seconds are left out. Rows written: what PostgreSQL counts as inserted, updated and deleted from before the messages until after the ends of the runs, by all of the service.`,
      ],
    };
  },
};

async function work(service: Service, { thread, frames }: Reader, pieces: number): Promise<void> {
  const content = writingMessage({ text: null, from: 0, to: 0, pauseMs: 0, pieces, everyMs: EVERY_MS });
  const ended = frames.first(({ event }) => /^run\.(completed|failed|cancelled)$/.test(event));
  await service.call('POST', `${thread}/messages`, { content });
  const { event, data } = await ended;
  if (event === 'run.completed') return;
  const { run } = (await service.call('GET', `${thread}/runs/${(data.data as { id: string }).id}`)).body;
  throw new Error(`A run of the benchmark ended with ${event}: ${JSON.stringify(run.error)}`);
}

interface Reader {
  thread: string;
  frames: Frames;
}

const draftsOf = (frames: readonly Frame[]) => frames.filter(({ event }) => event === 'draft');

/** For each word, the time from its saying to the first frame that has it. */
function lagsOf(frames: readonly Frame[]): number[] {
  const lags: number[] = [];
  let known = 0;
  let begun: number | undefined;
  for (const { data, at } of draftsOf(frames)) {
    const said = (data.content as string).trim().split(' ').map(Number);
    const readAt = performance.timeOrigin + at;
    for (const time of said.slice(known)) {
      begun ??= time;
      if (time - begun > WARM_UP * 1000) lags.push(readAt - time);
    }
    known = said.length;
  }
  return lags;
}

function pausesOf(frames: readonly Frame[]): number[] {
  const drafts = draftsOf(frames).slice(WARM_UP * 10);
  return drafts.slice(1).map(({ at }, i) => at - drafts[i]!.at);
}

/** Rows written so far, by table. */
async function writes(pool: pg.Pool): Promise<Record<string, number>> {
  await pool.query('select pg_stat_clear_snapshot()');
  // Other sessions report their counts when they are idle, at most once a second.
  await new Promise((resolve) => {
    setTimeout(resolve, 1_500);
  });
  const { rows } = await pool.query<{ relname: string; written: number }>(
    'select relname, (n_tup_ins + n_tup_upd + n_tup_del)::float8 as written from pg_stat_user_tables',
  );
  return Object.fromEntries(rows.map(({ relname, written }) => [relname, written]));
}
