/**
 * What reads and writes cost in a database of years, compared with one of a hundredth of its size: in turns on
 * two services.
 */
import pg from 'pg';
import { newAppWith, newReadyThread } from '../../harness/apps.ts';
import { startDatabase, startServiceOn } from '../../harness/database.ts';
import { makeFiles } from '../../harness/files.ts';
import { createCaller } from '../../harness/http.ts';
import type { Caller } from '../../harness/http.ts';
import { OWNER } from '../../harness/service.ts';
import type { Service } from '../../harness/service.ts';
import { summarize } from '../../harness/statistics.ts';
import type { Aim, Benchmark, Row, Setup } from '../lib/benchmark.ts';
import { COMMON_TITLE, grow, idOf, LOG_BYTES, RARE_TITLE, RARE_TYPE } from '../lib/grown.ts';
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
  /** The source of the app's head, from which all others differ. */
  firstSourceId: string;
  /** With a key for the busiest app and a small one. */
  restricted: Caller;
}

type Step = (grown: Grown, round: number) => Promise<unknown>;

const get =
  (path: string): Step =>
  async ({ service }) => {
    const { status, body } = await service.call('GET', path);
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${JSON.stringify(body)}`);
  };
const getRestricted =
  (path: string): Step =>
  ({ restricted }) =>
    restricted.call('GET', path);
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
  'GET messages, newest first': get(`${longest}/messages?order=desc`),
  "GET a run's tools, newest first": get(`${longest}/runs/${idOf('run', 100)}/tools?order=desc`),
  "a page of an app's feed, newest first": get(`${busiest}/events?order=desc`),
  "a page of a rare type of all apps' feed, newest first": get(`${P}/events?order=desc&types=${RARE_TYPE}`),
  ...listsOfAllApps(),
  'GET operations by key': get('/api/operations?idempotencyKey=key%207'),
  'GET apps by a part of their name': get(`${P}/apps?query=app%201`),
  "the end of a build's log": get(`${busiest}/builds/${idOf('bld', 1)}/logs?offset=${LOG_BYTES - 1000}`),
  'PATCH thread': ({ service, thread }, round) => service.call('PATCH', thread, { title: `Round ${round}` }),
  'an edit': async (grown, round) => {
    const { body } = await grown.service.call('POST', `${grown.thread}/edits`, {
      expectedSourceId: grown.sourceId,
      changes: [{ path: 'a.txt', content: `round ${round}` }],
    });
    grown.sourceId = body.source.id as string;
  },
  'a diff of one path': ({ service, app, sourceId, firstSourceId }) =>
    service.call('GET', `${app}/sources/${sourceId}/diff?base=${firstSourceId}&path=a.txt`),
  'a run': async ({ service, thread }) => {
    const { body } = await service.call('POST', `${thread}/messages`, { content: 'Nothing to do.' });
    await service.call('GET', `${thread}/runs/${body.run.id as string}?waitSeconds=30`);
  },
};

/** Also read with a restricted key; the first rows have the rare statuses. */
function listsOfAllApps(): Record<string, Step> {
  const queries: [string, string][] = [
    ...['applies', 'builds', 'previews', 'threads'].flatMap((list): [string, string][] => [
      [`GET ${list} of all apps`, list],
      [`GET rare ${list} of all apps`, `${list}?status=failed${list === 'applies' ? ',conflicted' : ''}`],
    ]),
    ['GET threads of all apps by activity', 'threads?sort=activity'],
    ['GET threads of all apps by a common word', `threads?query=${COMMON_TITLE}`],
    ['GET threads of all apps by a rare word', `threads?query=${RARE_TITLE}`],
    ['GET threads of all apps by a rare word and status', `threads?query=${RARE_TITLE}&status=failed`],
  ];
  return Object.fromEntries(
    queries.flatMap(([what, path]) => [
      [what, get(`${P}/${path}`)],
      [`${what}, with a restricted key`, getRestricted(`${P}/${path}`)],
    ]),
  );
}

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
  const thread = await newReadyThread(service, app, sourceId);
  const restricted = await restrictedTo(service, [idOf('prj', 1), idOf('prj', 2)]);
  setup.atEnd(() => restricted.close());
  return { service, app, sourceId, firstSourceId: sourceId, thread, restricted };
}

/** A caller with a key for these projects only. */
async function restrictedTo(service: Service, projectIds: string[]): Promise<Caller> {
  const browser = { 'x-api-key': undefined, origin: service.base, 'content-type': 'application/json' };
  const signedIn = await service.send('POST', '/api/auth/sign-in/email', {
    headers: browser,
    body: OWNER,
  });
  const cookie = signedIn.headers['set-cookie']!.map((one) => one.split(';')[0]).join('; ');
  const made = await service.send('POST', '/api/service-accounts', {
    headers: { ...browser, cookie, 'idempotency-key': 'restricted' },
    body: { name: 'Restricted', permissions: { thread: ['read'] }, projectIds },
  });
  return createCaller(service.base, (JSON.parse(made.text) as { key: string }).key);
}
