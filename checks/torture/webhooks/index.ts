/**
 * Receivers fail, stall, respond late and go away while processes are killed. Truth: the log. Each living receiver
 * gets every matching event, signed, with first attempts in the log's order, and nothing else.
 *
 * Seen to fail: a reader of the log that leaves out one match in 200 (lost, and no record), a sender that begins with the
 * newest (14 earlier ones had not arrived).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { commitAll } from '../lib/commit-events.ts';
import { startFleet } from '../lib/fleet.ts';
import { lastSequence, openTable, readLog, settled } from '../lib/log-table.ts';
import type { LoggedEvent } from '../lib/log-table.ts';
import { counted } from '../lib/numbers.ts';
import type { Part, PartResult, Setup } from '../lib/part.ts';
import { startStorm } from '../lib/storm.ts';
import type { Storm } from '../lib/storm.ts';
import { judgeDeliveries, untilDelivered } from './deliveries.ts';
import { drawEvent } from './events.ts';
import { judgeReceiver } from './judge.ts';
import type { Verdict } from './judge.ts';
import { KINDS, startReceivers } from './receivers.ts';
import type { Planned, Receiver } from './receivers.ts';

const EVENTS = 50_000;
const KILLS = 50;
const PROJECTS = 10;
/** The maximum lag of the steady receivers behind the writers, so that kills happen during sending. */
const MOST_BEHIND = 1_000;
const RETRY_SECONDS = `${'1,'.repeat(10)}10,30,60,300,600`;

export const webhooksPart: Part = {
  name: 'webhooks',
  title: 'Every living receiver of webhooks gets every event, signed and in order, whatever is killed',
  seconds: 420,
  async run(setup) {
    const ground = await prepare(setup);
    const done = await send(setup, ground);
    await ground.fleet.allUp();
    setup.say('waiting for what is left');
    await settled(ground.table, setup.signal);
    const living = ground.receivers.filter(isLiving);
    const late = await untilDelivered(setup, ground.table, living);
    const log = (await readLog(ground.table)).filter(({ sequence }) => sequence > ground.firstSequence);
    const inLog = new Set(log.map(({ id }) => id));
    const lost = [...done.committed].filter((id) => !inLog.has(id));
    const verdicts = ground.receivers.map((receiver) => judgeReceiver(log, receiver));
    const rows = await judgeDeliveries(ground.table, log, ground.receivers);
    return {
      ...summaryOf(ground.receivers, log, {
        verdicts,
        kills: done.kills,
        seconds: done.seconds,
        pending: rows.pending,
      }),
      failures: [
        ...late,
        ...lost.slice(0, 5).map((id) => `${id} was committed and is not in the log`),
        ...verdicts.flatMap(({ failures }) => failures),
        ...rows.failures,
        ...ground.fleet.deaths,
      ],
    };
  },
};

const isLiving = ({ kind }: Receiver) => KINDS[kind].isLiving;

/** Who subscribes to what. Who takes long has the events of the first project, which are few. */
function plan({ random: seeded, count }: Setup, projects: readonly string[]): Planned[] {
  const random = seeded.fork('plan');
  const [quiet, ...busy] = projects;
  const some = (): Omit<Planned, 'kind'> => ({
    projectId: random.pick(busy),
    types: random.pick([
      [],
      ['*'],
      ['run.*', 'thread.updated', 'run.failed'],
      ['platform.build.*', 'tool.updated'],
    ]),
  });
  const of = (kind: Planned['kind'], count: number, make: () => Omit<Planned, 'kind'>): Planned[] =>
    Array.from({ length: count }, () => ({ kind, ...make() }));
  const slow = () => ({ projectId: quiet!, types: [] });
  const all = () => ({ projectId: null, types: [] });
  return [
    ...of('steady', 1, all),
    ...of('steady', 5, some),
    ...of('failing', 5, some),
    ...of('late', 3, slow),
    // A request that is never answered takes 15 seconds: too long for a short run.
    ...of(count(40, 0) > 0 ? 'stalling' : 'late', 1, slow),
    ...of('away', 1, some),
    ...of('silent', 1, all),
    ...of('silent', 1, slow),
    ...of('closed', 1, slow),
    ...of('gone', 1, some),
  ];
}

async function prepare(setup: Setup) {
  const fleet = await startFleet(setup, {
    apis: 1,
    workers: 2,
    env: { HEADRACE_WEBHOOK_ALLOW_PRIVATE: '1', HEADRACE_WEBHOOK_RETRY_SECONDS: RETRY_SECONDS },
  });
  const table = await openTable(setup, fleet.database.url);
  const caller = fleet.callers[0]!;
  const projects: { id: string; orgId: string }[] = [];
  for (let i = 0; i < PROJECTS; i++)
    projects.push((await caller.call('POST', '/api/projects', { name: `Project ${i}` })).body.project);
  const ids = projects.map(({ id }) => id);
  const receivers = await startReceivers(
    setup,
    plan(setup, ids),
    async (body) => (await caller.call('POST', '/api/webhooks', body)).body as never,
  );
  await settled(table, setup.signal);
  return {
    fleet,
    table,
    projects: ids,
    orgId: projects[0]!.orgId,
    receivers,
    firstSequence: await lastSequence(table),
  };
}

type Ground = Awaited<ReturnType<typeof prepare>>;

/** All events and kills. */
async function send(setup: Setup, { fleet, orgId, projects, receivers }: Ground) {
  const total = setup.count(EVENTS);
  const storm = startStorm(setup, fleet, { total, kills: setup.count(KILLS, 3) });
  const [steady] = receivers;
  const away = leave(
    setup,
    storm,
    receivers.filter(({ kind }) => kind === 'away'),
  );
  away.catch(() => {});
  let written = 0;
  // Of all events, nine in ten are of the feed that the first receiver is given.
  const isBehind = () => written * 0.85 - steady!.events.size > MOST_BEHIND;
  const from = performance.now();
  const committed = await commitAll(setup, fleet.database.url, {
    random: setup.random.fork('events'),
    total,
    draw: (random) => drawEvent(random, orgId, projects),
    async step() {
      await storm.step();
      written++;
      while (isBehind()) await sleep(10, undefined, { signal: setup.signal });
    },
  });
  await Promise.all([storm.over, away]);
  return { committed, kills: storm.kills, seconds: (performance.now() - from) / 1000 };
}

/** Its port is closed for the middle third of the work. */
async function leave(setup: Setup, storm: Storm, receivers: readonly Receiver[]): Promise<void> {
  const until = async (progress: number) => {
    while (storm.progress() < progress) await sleep(20, undefined, { signal: setup.signal });
  };
  await until(1 / 3);
  for (const receiver of receivers) await receiver.close();
  await until(2 / 3);
  for (const receiver of receivers) await receiver.open();
}

interface Outcome {
  verdicts: readonly Verdict[];
  kills: Storm['kills'];
  seconds: number;
  pending: number;
}

function summaryOf(
  receivers: readonly Receiver[],
  log: readonly LoggedEvent[],
  { verdicts, kills, seconds, pending }: Outcome,
): Omit<PartResult, 'failures'> {
  const sum = (name: 'requests' | 'lost' | 'wrong' | 'misordered') =>
    verdicts.reduce((total, verdict) => total + verdict[name], 0);
  const given = receivers.reduce((total, { events }) => total + events.size, 0);
  const figures = {
    events: log.length,
    receivers: receivers.length,
    living: receivers.filter(isLiving).length,
    requests: sum('requests'),
    delivered: given,
    deliveredPerSecond: Math.round(given / seconds),
    killedApis: kills.api,
    killedWorkers: kills.worker,
    pending,
    lost: sum('lost'),
    wrong: sum('wrong'),
    misordered: sum('misordered'),
  };
  const line =
    `${counted(figures.events)} events, ${figures.receivers} receivers (${figures.living} living), ${kills.api + kills.worker} kill -9 (${kills.api} api, ${kills.worker} worker): ` +
    `${counted(figures.requests)} requests with ${counted(given)} events, all signatures checked, ${counted(pending)} pending to dead receivers: ${figures.lost} lost, ${figures.wrong} that do not match, ${figures.misordered ? `${figures.misordered} OUT OF ORDER` : 'first attempts in order'}`;
  return { line, figures };
}
