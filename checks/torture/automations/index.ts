/**
 * Schedules and events start work while processes are killed and the clock steps: over a time, far ahead, and back.
 * Truth: the clock's record of the times that passed, the log, and the table of executions.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../harness/random.ts';
import { summarize } from '../../harness/statistics.ts';
import { commitAll } from '../lib/commit-events.ts';
import { startFleet } from '../lib/fleet.ts';
import { openTable, settled } from '../lib/log-table.ts';
import { counted } from '../lib/numbers.ts';
import type { Part, PartResult, Setup } from '../lib/part.ts';
import { startStorm } from '../lib/storm.ts';
import { MINUTE_MS, PRELOAD, startClock } from './clock.ts';
import type { TestedClock } from './clock.ts';
import { allMade, judgeEnds, judgeEvents, judgeSchedules, untilEnded } from './judge.ts';
import { EVENT_TYPES, makeWorld } from './world.ts';

const AUTOMATIONS = 500;
const EVENTS = 1_000;
const KILLS = 30;
/** The clock's moves in turn; together they make 2,000 due times of 500 automations. */
const MOVES = [
  ...(['wait', 'back', 'over', 'far', 'wait', 'back', 'wait', 'wait'] as const),
  ...(['wait', 'back', 'over', 'far', 'wait', 'back', 'wait', 'wait'] as const),
];
/** The start before a time: kills happen before and after it. */
const AHEAD_MS = 600;
const KILL_FROM_MS = AHEAD_MS / 2;
const KILL_WITHIN_MS = 1_000;
/** A step this far behind a time misses it; a smaller one does not. */
const MISSED_MS = 6_000;

export const automationsPart: Part = {
  name: 'automations',
  title: 'Each due time and each event starts one execution, whatever is killed and however clocks step',
  seconds: 180,
  async run(setup) {
    const ground = await prepare(setup);
    const { table, world, clock, fleet } = ground;
    const kills = await goOn(setup, ground);
    await fleet.allUp();
    await allMade(setup, table, world, clock);
    setup.say('waiting for executions to end');
    const open = await untilEnded(setup, table);
    await settled(table, setup.signal);
    const schedules = await judgeSchedules(table, world, clock);
    const events = await judgeEvents(table, world);
    const ends = await judgeEnds(table, world);
    return {
      ...summaryOf({
        automations: world.scheduled.size,
        kills,
        schedules,
        events: events.events,
        ends: ends.statuses,
      }),
      failures: [...open, ...schedules.failures, ...events.failures, ...ends.failures, ...fleet.deaths],
    };
  },
};

async function prepare(setup: Setup) {
  const clock = startClock(setup.scratch);
  const fleet = await startFleet(setup, {
    apis: 1,
    workers: 2,
    env: { TORTURE_CLOCK: clock.file },
    nodeArgs: ['--import', PRELOAD],
  });
  const table = await openTable(setup, fleet.database.url);
  // Making them takes less than the rest of a minute: no time is due before all are there.
  clock.beginAt(Math.ceil(clock.now() / MINUTE_MS) * MINUTE_MS + 1);
  const world = await makeWorld(fleet.callers[0]!, table, setup.count(AUTOMATIONS, 20));
  return { clock, fleet, table, world };
}

type Ground = Awaited<ReturnType<typeof prepare>>;

async function goOn(setup: Setup, { clock, fleet, table, world }: Ground) {
  const random = setup.random.fork('moves');
  const moves = MOVES.slice(0, setup.count(MOVES.length, 4));
  const events = setup.count(EVENTS, 20);
  const storm = startStorm(setup, fleet, {
    total: moves.length,
    kills: setup.count(KILLS, 3),
    moment: () => sleep(KILL_FROM_MS + random.below(KILL_WITHIN_MS), undefined, { signal: setup.signal }),
  });
  for (const move of moves) {
    await storm.step();
    const committed = commitAll(setup, fleet.database.url, {
      random: random.fork(`events ${clock.now()}`),
      total: Math.ceil(events / moves.length),
      draw: (random) => ({
        at: { orgId: world.orgId, projectId: random.pick(world.eventful), feed: 'direct' },
        type: random.pick([...EVENT_TYPES, 'tool.updated']),
        data: { id: `run_${random.below(1e9)}`, status: 'completed' },
      }),
    });
    if (move === 'far') await untilEnded(setup, table);
    await make(setup, clock, move, random);
    await Promise.all([committed, allMade(setup, table, world, clock)]);
  }
  await storm.over;
  return storm.kills;
}

/** One move of the clock, from the latest time that it has shown. */
async function make(
  setup: Setup,
  clock: TestedClock,
  move: (typeof MOVES)[number],
  random: Random,
): Promise<void> {
  const furthest = Math.max(...clock.spans().map(({ to }) => to));
  const next = Math.ceil(furthest / MINUTE_MS) * MINUTE_MS;
  const wait = (ms: number) => sleep(ms, undefined, { signal: setup.signal });
  if (move === 'wait') {
    clock.stepTo(Math.max(furthest, next - AHEAD_MS));
    await wait(AHEAD_MS);
  }
  if (move === 'over') clock.stepTo(next + MISSED_MS + random.below(15_000));
  if (move === 'far')
    clock.stepTo(next + MISSED_MS + (6 + random.below(6)) * MINUTE_MS + random.below(15_000));
  if (move === 'back') {
    clock.stepTo(clock.now() - 30_000 - random.below(170_000));
    await wait(200 + random.below(300));
  }
}

interface Outcome {
  automations: number;
  kills: { api: number; worker: number };
  schedules: Awaited<ReturnType<typeof judgeSchedules>>;
  events: number;
  ends: Record<string, number>;
}

function summaryOf({ automations, kills, schedules, events, ends }: Outcome): Omit<PartResult, 'failures'> {
  const late = summarize(schedules.lateness);
  const { due, made, missing, repeated, extra } = schedules;
  const figures = {
    automations,
    due,
    made,
    missing,
    repeated,
    extra,
    killedApis: kills.api,
    killedWorkers: kills.worker,
    events,
    latenessMedianMs: Math.round(late.median),
    latenessMaxMs: Math.round(late.max),
    ...ends,
  };
  const line =
    `${counted(automations)} automations, ${counted(due)} due times while the clock stepped over times, far ahead and back, ${kills.api + kills.worker} kill -9 (${kills.api} api, ${kills.worker} worker): ` +
    `${counted(made)} made, ${(late.median / 1000).toFixed(1)} s late (at most ${(late.max / 1000).toFixed(1)} s), ${missing} missing, ${repeated} twice, ${extra} not due; ${counted(events)} events each once, in order; ends: ${Object.entries(
      ends,
    )
      .map(([status, count]) => `${counted(count)} ${status}`)
      .join(', ')}`;
  return { line, figures };
}
