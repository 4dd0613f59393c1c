/**
 * What reads and writes cost in a database of years, compared with one of a hundredth of its size: in turns on
 * two services.
 */
import pg from 'pg';
import { newAppWith, newReadyThread } from '../../harness/apps.ts';
import { startDatabase, startServiceOn } from '../../harness/database.ts';
import { makeFiles } from '../../harness/files.ts';
import type { Service } from '../../harness/service.ts';
import { summarize } from '../../harness/statistics.ts';
import type { Aim, Benchmark, Row, Setup } from '../lib/benchmark.ts';
import { grow, idOf, RARE_TYPE } from '../lib/grown.ts';
import type { Size } from '../lib/grown.ts';

const FULL: Size = { apps: 1000, threads: 100_000, runs: 1_000_000, events: 10_000_000, sources: 200_000 };
const MOST = 1.5;
/** Below it, what differs is the machine. */
const NOISE_MS = 2;
const P = '/api/platform/v1';

const part = (size: Size, by: number): Size => ({
  apps: Math.max(10, size.apps / by),
  threads: size.threads / by,
  runs: size.runs / by,
  events: size.events / by,
  sources: size.sources / by,
});

interface Grown {
  service: Service;
  app: string;
  /** A new thread, ready for work. */
  thread: string;
  sourceId: string;
}

type Step = (grown: Grown, round: number) => Promise<unknown>;

const get =
  (path: string): Step =>
  async ({ service }) => {
    const { status, body } = await service.call('GET', path);
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${JSON.stringify(body)}`);
  };
const busiest = `${P}/apps/${idOf('prj', 1)}`;
const longest = `${busiest}/threads/${idOf('thr', 1)}`;

const STEPS: Record<string, Step> = {
  'GET app': get(busiest),
  'GET apps': get(`${P}/apps`),
  'GET thread': ({ service, thread }) => service.call('GET', thread),
  'GET thread with the most runs': get(longest),
  "GET an app's threads": get(`${busiest}/threads`),
  "GET an app's failed threads": get(`${busiest}/threads?status=failed`),
  'GET all threads': get('/api/threads'),
  'GET runs': get(`${longest}/runs`),
  'GET messages': get(`${longest}/messages`),
  'GET sources': get(`${busiest}/sources`),
  'GET builds': get(`${longest}/builds`),
  'GET checkpoints': get(`${longest}/checkpoints`),
  'GET approvals': get(`${longest}/approvals`),
  'GET usage by day': get('/api/usage'),
  'GET usage by project': get('/api/usage?groupBy=project'),
  'GET usage by thread': get('/api/usage?groupBy=thread'),
  "a page of an app's feed": get(`${busiest}/events`),
  "a page of a rare type of an app's feed": get(`${busiest}/events?types=${RARE_TYPE}`),
  'a page of a type that never occurs': get(`${busiest}/events?types=platform.apply.failed`),
  "a page of all apps' feed": get(`${P}/events`),
  "a page of a rare type of all apps' feed": get(`${P}/events?types=${RARE_TYPE}`),
  "a page of a thread's events": get(`${busiest}/events?threadId=${idOf('thr', 1)}`),
  'PATCH thread': ({ service, thread }, round) => service.call('PATCH', thread, { title: `Round ${round}` }),
  'an edit': async (grown, round) => {
    const { body } = await grown.service.call('POST', `${grown.thread}/edits`, {
      expectedSourceId: grown.sourceId,
      changes: [{ path: 'a.txt', content: `round ${round}` }],
    });
    grown.sourceId = body.source.id as string;
  },
  'a run': async ({ service, thread }) => {
    const { body } = await service.call('POST', `${thread}/messages`, { content: 'Nothing to do.' });
    await service.call('GET', `${thread}/runs/${body.run.id as string}?waitSeconds=30`);
  },
};

export const growthBenchmark: Benchmark = {
  name: 'growth',
  title: 'Reads and writes in a database of years, compared with one of a hundredth',
  async run(setup) {
    const full = setup.quick ? part(FULL, 40) : FULL;
    const small = await startGrown(setup, part(full, 100));
    const large = await startGrown(setup, full);
    const rows: Row[] = [];
    const aims: Aim[] = [];
    for (const [what, step] of Object.entries(STEPS)) {
      const times: [number[], number[]] = [[], []];
      for (let round = -2; round < (setup.quick ? 5 : 15); round++)
        for (const [i, grown] of [small, large].entries()) {
          const from = performance.now();
          await step(grown, round);
          if (round >= 0) times[i]!.push(performance.now() - from);
        }
      const [before, after] = times.map((series) => summarize(series)) as [Row['figures'], Row['figures']];
      rows.push({ what: `${what}, small`, unit: 'ms', figures: before });
      rows.push({ what: `${what}, large`, unit: 'ms', figures: after });
      setup.say(`${what}: ${before.median.toFixed(1)} → ${after.median.toFixed(1)} ms`);
      aims.push({
        what: `${what}, large of small`,
        bound: 'most',
        limit: MOST,
        value: after.median - before.median < NOISE_MS ? 1 : after.median / before.median,
        unit: '×',
      });
    }
    return {
      rows,
      aims,
      notes: [
        `The large one has ${full.threads} threads, ${full.runs} runs, ${full.events} events and ${full.sources} sources in ${full.apps} apps; one app has a tenth of the threads, and one of its threads a hundredth of the runs. Differences of less than ${NOISE_MS} ms count as none.`,
      ],
    };
  },
};

async function startGrown(setup: Setup, size: Size): Promise<Grown> {
  const database = await startDatabase(setup.scratch);
  setup.atEnd(() => database.stop());
  const service = await startServiceOn(setup, database);
  const { app, sourceId } = await newAppWith(service, makeFiles(10, 10_000));
  const orgId = (await service.call('GET', app)).body.app.orgId as string;
  const pool = new pg.Pool({ connectionString: database.url, max: 1 });
  const from = performance.now();
  await grow(pool, orgId, size);
  await pool.end();
  setup.say(`${size.events} events made in ${((performance.now() - from) / 1000).toFixed(0)} s`);
  return { service, app, sourceId, thread: await newReadyThread(service, app, sourceId) };
}
