/**
 * How soon after an event's commit its delivery begins, how dead and slow receivers affect the others and the log, and
 * how many deliveries a second this machine sustains.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startDatabase, startServiceOn } from '../../harness/database.ts';
import type { Service } from '../../harness/service.ts';
import { summarize } from '../../harness/statistics.ts';
import type { Benchmark, Row, Setup } from '../lib/benchmark.ts';
import { subscribe } from '../lib/hook-receivers.ts';
import type { Behaviour, HookReceiver } from '../lib/hook-receivers.ts';
import { openLogOf } from '../lib/log.ts';

const RATE = 200;
const SECONDS = 10;
const PENDING = 10_000;
const ROUNDS = 4;
const SUBSCRIPTIONS = 100;
const CONNECTIONS = 16;
const AT_ONCE = 10;
const PER_TRANSACTION = 50;
const DRAINED = 1_000;
const PENDING_LIMIT_MS = 120_000;
const DELIVERED_LIMIT_MS = 30_000;
/** One in five never answers, one in five is not there, one in five takes a second. */
const BEHAVIOURS: Behaviour[] = ['quick', 'quick', 'silent', 'closed', 'slow'];

export const webhooksBenchmark: Benchmark = {
  name: 'webhooks',
  title: 'Webhooks: from commit to delivery, next to dead receivers, and how many a second',
  async run(setup) {
    const [alone, crowded] = [await startSide(setup), await startSide(setup)];
    const seconds = setup.quick ? 3 : SECONDS;
    const receiver = await subscribe(setup, alone.service, 'quick', alone.projects[0]!);
    await lags(alone, receiver, 1);
    const lag = summarize(await lags(alone, receiver, seconds));
    setup.say(`commit to delivery at ${RATE} events a second: p99 ${lag.p99.toFixed(1)} ms`);

    const other = await subscribe(setup, crowded.service, 'quick', crowded.projects[0]!);
    await makePending(setup, crowded, setup.quick ? 500 : PENDING);
    await lags(crowded, other, 1);
    const without: number[] = [];
    const withDead: number[] = [];
    for (let round = 0; round < (setup.quick ? 1 : ROUNDS); round++) {
      without.push(...(await lags(alone, receiver, seconds / 2)));
      withDead.push(...(await lags(crowded, other, seconds / 2)));
    }
    const [apart, next] = [summarize(without), summarize(withDead)];
    setup.say(`p99 ${apart.p99.toFixed(1)} ms alone, ${next.p99.toFixed(1)} ms next to pending ones`);

    const published = await logLags(setup, seconds);
    const rate = await drain(setup, setup.quick ? 200 : DRAINED);
    setup.say(`${rate.toFixed(0)} deliveries a second`);
    const row = (what: string, figures: Row['figures']): Row => ({ what, unit: 'ms', figures });
    return {
      rows: [
        row(`${RATE} events a second: commit answered → delivery arrives`, lag),
        row('in turns, nothing pending: commit → delivery', apart),
        row(`in turns, ${PENDING} pending to a dead receiver: commit → delivery`, next),
        row(`${SUBSCRIPTIONS} subscriptions, none: commit → frame of the log's stream`, published.without),
        row(`${SUBSCRIPTIONS} subscriptions, dead and slow ones: commit → frame`, published.with),
        row(`${SUBSCRIPTIONS} subscriptions: commit → delivery to a quick one`, published.quick),
        {
          what: `${AT_ONCE} subscriptions, events waiting: delivered`,
          unit: 'deliveries/s',
          figures: summarize([rate]),
        },
      ],
      aims: [
        { what: 'commit to delivery, p99', bound: 'most', limit: 100, value: lag.p99, unit: 'ms' },
        {
          what: `p99 next to ${PENDING} pending deliveries, of that without`,
          bound: 'most',
          limit: 1.2,
          value: next.p99 / apart.p99,
          unit: '×',
        },
        {
          what: `log's p99 with ${SUBSCRIPTIONS} subscriptions, of that without`,
          bound: 'most',
          limit: 1.2,
          value: published.with.p99 / published.without.p99,
          unit: '×',
        },
      ],
      notes: [
        "Events are transactions of one event by the service's own code in the benchmark's process, at a fixed rate. Receivers are in the benchmark's process too, on the same cores; a delivery counts from the commit's answer to the arrival of its head. The pending deliveries are first attempts to a receiver that never answers; eight of them are under way.",
        `${SUBSCRIPTIONS} subscriptions have a project each, and each event goes to one of them: two in five are quick, the others never answer, are not there, or take a second. "none": the same events before there are subscriptions.`,
      ],
    };
  },
};

interface Side {
  service: Service;
  log: Awaited<ReturnType<typeof openLogOf>>;
  orgId: string;
  projects: string[];
}

/** A service with its own database, and projects for events. */
async function startSide(setup: Setup, projects = 2): Promise<Side> {
  const database = await startDatabase(setup.scratch);
  setup.atEnd(() => database.stop());
  const service = await startServiceOn(setup, database, { HEADRACE_WEBHOOK_ALLOW_PRIVATE: '1' });
  const made: { id: string; orgId: string }[] = [];
  for (let i = 0; i < projects; i++)
    made.push((await service.call('POST', '/api/projects', { name: `Benchmark ${i}` })).body.project);
  return {
    service,
    log: await openLogOf(setup, database.url, CONNECTIONS),
    orgId: made[0]!.orgId,
    projects: made.map(({ id }) => id),
  };
}

const commit = ({ log, orgId }: Side, projectId: string): Promise<string> =>
  log.append({ orgId, projectId, feed: 'direct' }, 'thread.updated', { id: projectId, status: 'idle' });

/** Commits events of projects at a fixed rate, however long commits take. Returns the time of each commit's end. */
async function commitAll(
  side: Side,
  projects: readonly string[],
  seconds: number,
): Promise<Map<string, number>> {
  const answered = new Map<string, number>();
  const pending: Promise<void>[] = [];
  const from = performance.now();
  for (let i = 0; i < RATE * seconds; i++) {
    const wait = from + (i * 1000) / RATE - performance.now();
    if (wait > 0) await sleep(wait);
    const one = async () =>
      void answered.set(await commit(side, projects[i % projects.length]!), performance.now());
    pending.push(one());
  }
  await Promise.all(pending);
  return answered;
}

const since = (answered: ReadonlyMap<string, number>, seen: ReadonlyMap<string, number>): number[] =>
  [...answered].filter(([id]) => seen.has(id)).map(([id, at]) => Math.max(0, seen.get(id)! - at));

/** From the commits of the first project's events to their deliveries. */
async function lags(side: Side, receiver: HookReceiver, seconds: number): Promise<number[]> {
  const before = receiver.begun.size;
  const answered = await commitAll(side, side.projects.slice(0, 1), seconds);
  await receiver.hasBegun(before + answered.size);
  return since(answered, receiver.begun);
}

/** Leaves `count` deliveries pending to a receiver that never answers. */
async function makePending(setup: Setup, side: Side, count: number): Promise<void> {
  const [, project] = side.projects;
  await subscribe(setup, side.service, 'silent', project!);
  for (let i = 0; i < count; i += PER_TRANSACTION)
    await Promise.all(Array.from({ length: PER_TRANSACTION }, () => commit(side, project!)));
  for (const deadline = Date.now() + PENDING_LIMIT_MS; ; await sleep(50)) {
    const { rows } = await side.log.pool.query<{ count: number }>(
      "select count(*)::int as count from webhook_deliveries where status = 'pending'",
    );
    if (rows[0]!.count >= count) return;
    if (Date.now() > deadline) throw new Error(`${rows[0]!.count} of ${count} deliveries are pending`);
  }
}

/** The log's lag, without and with many subscriptions, and the lag of deliveries to quick receivers. */
async function logLags(setup: Setup, seconds: number) {
  const side = await startSide(setup, SUBSCRIPTIONS);
  const stream = await side.service.open('/api/events/stream?types=thread.updated');
  setup.atEnd(() => void stream.destroy());
  const frames = new Map<string, number>();
  let rest = '';
  stream.setEncoding('utf8').on('data', (part: string) => {
    const blocks = (rest + part).split('\n\n');
    rest = blocks.pop()!;
    for (const block of blocks) {
      const id = /"id":"(evt_[^"]+)"/.exec(block)?.[1];
      if (id !== undefined) frames.set(id, performance.now());
    }
  });
  async function measured(): Promise<{ answered: Map<string, number>; lag: Row['figures'] }> {
    const answered = await commitAll(side, side.projects, seconds);
    for (
      const deadline = Date.now() + 10_000;
      [...answered.keys()].some((id) => !frames.has(id));
      await sleep(10)
    )
      if (Date.now() > deadline) throw new Error('not all events arrived on the stream');
    return { answered, lag: summarize(since(answered, frames)) };
  }
  await measured();
  const { lag: without } = await measured();
  const quick: HookReceiver[] = [];
  for (const [i, project] of side.projects.entries()) {
    const behaviour = BEHAVIOURS[i % BEHAVIOURS.length]!;
    const receiver = await subscribe(setup, side.service, behaviour, project);
    if (behaviour === 'quick') quick.push(receiver);
  }
  await measured();
  const { answered, lag } = await measured();
  const wanted = Math.floor((answered.size * quick.length) / SUBSCRIPTIONS);
  for (const deadline = Date.now() + DELIVERED_LIMIT_MS; ; await sleep(20)) {
    const deliveries = quick.flatMap(({ begun }) => since(answered, begun));
    if (deliveries.length >= wanted) return { without, with: lag, quick: summarize(deliveries) };
    if (Date.now() > deadline)
      throw new Error(`${deliveries.length} of ${wanted} deliveries to quick receivers had begun`);
  }
}

/** Deliveries a second to quick receivers, each of which waits for `count` events. */
async function drain(setup: Setup, count: number): Promise<number> {
  const side = await startSide(setup, AT_ONCE);
  const receivers = await Promise.all(
    side.projects.map((project) => subscribe(setup, side.service, 'quick', project)),
  );
  const { length } = receivers;
  const setDisabled = (disabled: boolean) =>
    Promise.all(
      receivers.map(({ subscriptionId }) =>
        side.service.call('PATCH', `/api/webhooks/${subscriptionId}`, { disabled }),
      ),
    );
  // Paused subscriptions keep their pending deliveries and send all of them when they resume.
  await setDisabled(true);
  for (let i = 0; i < count; i += PER_TRANSACTION / length)
    await Promise.all(
      side.projects.flatMap((project) =>
        Array.from({ length: PER_TRANSACTION / length }, () => commit(side, project)),
      ),
    );
  await side.log.pool.query('select 1');
  const from = performance.now();
  await setDisabled(false);
  await Promise.all(receivers.map((receiver) => receiver.hasBegun(count)));
  return (length * count) / ((performance.now() - from) / 1000);
}
