/**
 * Nodes cut off from all others for 20, 60 and 300 seconds, silently and at the same time, one with a run and one with a
 * build for each. After 20 s both go on as if nothing had been. After 60 s the run has been given up: its thread has gone on
 * elsewhere, and what comes back ends its former work; the build goes on. After 300 s the nodes have killed all they had, by
 * the end of their lease, and come back under another id. Truth: the processes as this host sees them, the log, and the
 * files of results.
 *
 * Seen to fail: a runner that goes on when its lease has ended (commands live longer than 185 s).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { newAppWith, newReadyThread } from '../../harness/apps.ts';
import { endsOf } from '../lost-runners/judge.ts';
import { begin, ended } from '../lost-runners/runs.ts';
import type { Part, PartResult, Setup } from '../lib/part.ts';
import { longestGap, onlySmallNodes, runnersOf, timesFor } from './lab-nodes.ts';
import type { Role } from './lab-role.ts';
import { beginBuild, judgeLostBuild, seenBuild, watchSleepers } from './lab-sleepers.ts';
import type { LabBuild, Sleeper, Sleepers } from './lab-sleepers.ts';
import { startLab } from './lab.ts';
import type { Lab } from './lab.ts';

const SECONDS = [20, 60, 300] as const;
/** Two for each length, and those on which threads go on. */
const NODES = 9;
const ROUNDS = 3;
/** The lease of 180 s from the last call that a worker accepted, which was before the cut, and the kill itself. */
const KILLED_LIMIT_MS = 185_000;
const LOST_LIMIT_MS = 35_000;
/** Until a node that is back has ended what it is told to forget, or has come back under another id. */
const BACK_LIMIT_MS = 60_000;
/** A run that goes on works longer than its cut. */
const GOES_ON_SECONDS = 45;
/** In the file of a run that went on: its node was never stopped. A busy machine is slow at times. */
const GAP_LIMIT_MS = 10_000;
const END_LIMIT_MS = 400_000;
const FILES = [{ path: 'a.txt', content: 'a\n' }];

interface Bench {
  setup: Setup;
  lab: Lab;
  sleepers: Sleepers;
  nodes: Role[];
  app: string;
  sourceId: string;
  failures: string[];
  runs: number;
  wentOn: number;
  elsewhere: number;
  killedAfterMs: number[];
}

interface Victim {
  seconds: number;
  thread: string;
  run: { id: string; path: string };
  sleeper: Sleeper;
  build: LabBuild;
  /** Of the run and of the build. */
  roles: [Role, Role];
}

export const partitionsPart: Part = {
  name: 'partitions',
  title: 'A node that is cut off goes on, or is given up and ends its work: never are there two results',
  seconds: 1_300,
  async run(setup): Promise<PartResult> {
    // Its own, as it waits for minutes: others work on theirs in the meantime.
    const lab = await startLab(setup);
    const sleepers = watchSleepers();
    setup.atEnd(() => sleepers.close());
    const { app, sourceId } = await newAppWith(lab.caller, FILES);
    const nodes = await onlySmallNodes(lab, NODES);
    const counts = { runs: 0, wentOn: 0, elsewhere: 0 };
    const bench: Bench = {
      ...counts,
      setup,
      lab,
      sleepers,
      nodes,
      app,
      sourceId,
      failures: [],
      killedAfterMs: [],
    };
    const rounds = setup.count(ROUNDS);
    for (let round = 1; round <= rounds; round++) {
      const victims: Victim[] = [];
      for (const seconds of SECONDS) victims.push(await beginOne(bench, seconds));
      await Promise.all(victims.map((victim) => cutOff(bench, victim)));
      setup.say(`${round * SECONDS.length * 2} nodes cut off; ${bench.failures.length} promises broken`);
    }
    const { failures } = bench;
    failures.push(...(await endsOf(lab.caller, app, bench.runs)));
    const figures = {
      cuts: rounds * SECONDS.length * 2,
      runs: bench.runs,
      wentOn: bench.wentOn,
      elsewhere: bench.elsewhere,
      killedAfterMostMs: Math.max(...bench.killedAfterMs),
    };
    return {
      line:
        `${figures.cuts} nodes cut off for ${SECONDS.join(', ')} s, half with a run and half with a build: ${figures.wentOn} runs and builds went on, ` +
        `${figures.elsewhere} threads went on elsewhere, after 300 s all was killed, ${(figures.killedAfterMostMs / 1000).toFixed(1)} s after the cut at most; ` +
        `${figures.runs} runs with one end each; ${failures.length} promises broken`,
      figures,
      failures,
    };
  },
};

async function beginOne(bench: Bench, seconds: number): Promise<Victim> {
  const { setup, lab, sleepers, nodes, app, sourceId } = bench;
  const thread = await newReadyThread(lab.caller, app, sourceId);
  const sleeper = sleepers.next();
  const content = timesFor(seconds < 30 ? GOES_ON_SECONDS : END_LIMIT_MS / 1000, sleeper);
  const build = await beginBuild(lab, sleepers, app);
  const run = await begin(lab.caller, thread, setup.signal, content);
  bench.runs++;
  const [runnerId] = await runnersOf(lab, [thread]);
  const roles = [runnerId, build.runnerId].map((id) => nodes.find((role) => role.registeredAs() === id)!) as [
    Role,
    Role,
  ];
  return { seconds, thread, run, sleeper, build, roles };
}

async function cutOff(bench: Bench, victim: Victim): Promise<void> {
  const { setup, failures } = bench;
  const { seconds, roles } = victim;
  const former = roles.map((role) => role.registeredAs());
  await Promise.all(roles.map((role) => role.host.cut()));
  const cutAt = Date.now();
  const heal = async () => {
    await sleep(seconds * 1000, undefined, { signal: setup.signal });
    await Promise.all(roles.map((role) => role.host.heal()));
  };
  if (seconds < 30) await Promise.all([heal(), goesOn(bench, victim)]);
  else await Promise.all([heal(), isGivenUp(bench, victim, cutAt)]);
  if (seconds < 210) return buildGoesOn(bench, victim);
  for (const sleeper of [victim.sleeper, victim.build.sleeper]) {
    const afterMs = (await sleeper.dead(0)) - cutAt;
    if (afterMs === Infinity) failures.push(`a command lives ${seconds} s after the cut`);
  }
  failures.push(...(await judgeLostBuild(bench.lab, victim.build)));
  for (const [i, role] of roles.entries())
    if ((await bench.lab.registered(role)) === former[i])
      failures.push(`${role.name} came back as ${former[i]}`);
}

/** Its run ends as if nothing had been. */
async function goesOn(bench: Bench, { run, thread, seconds, sleeper }: Victim): Promise<void> {
  const { lab, setup, app, failures } = bench;
  const end = await ended(lab.caller, run.path, setup.signal, END_LIMIT_MS);
  if (end.status !== 'completed') {
    failures.push(`${run.path}, cut off for ${seconds} s, is ${end.status} with ${end.error?.code}`);
    return;
  }
  bench.wentOn++;
  if (sleeper.pids.size !== 1) failures.push(`${run.path} worked ${sleeper.pids.size} times`);
  const gap = await longestGap(lab, app, end.resultSourceId!);
  if (gap > GAP_LIMIT_MS) failures.push(`${run.path} stood still for ${gap} ms`);
  await onlyOneResult(bench, { thread, run });
}

/** Its run is lost, its thread goes on elsewhere at once, and the former work ends, unheard. */
async function isGivenUp(
  bench: Bench,
  { run, thread, seconds, sleeper, build, roles }: Victim,
  cutAt: number,
): Promise<void> {
  const { lab, setup, failures } = bench;
  const lost = await ended(lab.caller, run.path, setup.signal);
  const took = Date.parse(lost.finishedAt) - cutAt;
  if (lost.error?.code !== 'worker_lost')
    failures.push(`${run.path} is ${lost.status} with ${lost.error?.code}`);
  if (took > LOST_LIMIT_MS) failures.push(`${run.path} ended ${took} ms after the cut`);
  const next = await begin(lab.caller, thread, setup.signal, '```sh\necho elsewhere > elsewhere.txt\n```');
  bench.runs++;
  const winner = await ended(lab.caller, next.path, setup.signal);
  if (winner.status !== 'completed') failures.push(`${next.path} is ${winner.status} ${winner.error?.code}`);
  else bench.elsewhere++;
  const isShort = seconds * 1000 < KILLED_LIMIT_MS;
  // One that is back soon is told to forget it; one that is not has to see to it itself.
  const limitMs = isShort ? seconds * 1000 + BACK_LIMIT_MS : KILLED_LIMIT_MS;
  for (const one of isShort ? [sleeper] : [sleeper, build.sleeper]) {
    const afterMs = (await one.dead(limitMs - (Date.now() - cutAt))) - cutAt;
    if (afterMs > limitMs) failures.push(`${roles[0].name}: a command lives ${limitMs} ms after the cut`);
    else if (!isShort) bench.killedAfterMs.push(afterMs);
  }
  if (sleeper.pids.size !== 1) failures.push(`${run.path} worked ${sleeper.pids.size} times`);
  await onlyOneResult(bench, { thread, run: next });
}

/** Of all runs of the thread, that one alone has a result, and it is what the thread has. */
async function onlyOneResult(
  { lab, failures }: Bench,
  { thread, run }: { thread: string; run: { id: string; path: string } },
): Promise<void> {
  const { runs } = (await lab.caller.call('GET', `${thread}/runs?limit=100`)).body;
  const results = (runs as { id: string; resultSourceId: string | null }[]).filter(
    (one) => one.resultSourceId !== null,
  );
  const { thread: now } = (await lab.caller.call('GET', thread)).body;
  if (results.length !== 1 || results[0]!.id !== run.id || now.latestSourceId !== results[0]!.resultSourceId)
    failures.push(
      `${thread} has the results ${JSON.stringify(results)} and the source ${String(now.latestSourceId)}`,
    );
}

/** Its process was never another one; it is cancelled, so that it ends. */
async function buildGoesOn(bench: Bench, { build, seconds }: Victim): Promise<void> {
  const { lab, failures } = bench;
  const { status, error } = await seenBuild(lab, build);
  if (status === 'building' && build.sleeper.isAlive() && build.sleeper.pids.size === 1) bench.wentOn++;
  else failures.push(`${build.id}, cut off for ${seconds} s, is ${status} with ${error?.code ?? 'no error'}`);
  await lab.caller.call('POST', `${build.path}/cancel`);
  await lab.until(`${build.id} ends`, async () =>
    (await seenBuild(lab, build)).status === 'failed' && !build.sleeper.isAlive() ? true : undefined,
  );
}
