/**
 * Nodes lost in mid-run, four with a run and one with a build at a time: unplugged, so that nobody is told, or their runner
 * killed while its starter lives and starts the next one. Threads go on on other nodes with the work of the last snapshot.
 * Truth: the time of the kill, the file of times that each thread ends with, and the processes that builds were seen to have.
 *
 * Seen to fail: no snapshots while runs work (all work since the run's beginning is missing).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { newAppWith, newReadyThread } from '../../harness/apps.ts';
import { makeFiles } from '../../harness/files.ts';
import { percentile } from '../../harness/statistics.ts';
import { endsOf, judgeThread } from '../lost-runners/judge.ts';
import { begin, COMPLETE, ended } from '../lost-runners/runs.ts';
import type { Part, PartResult, Setup } from '../lib/part.ts';
import { onlySmallNodes, runnersOf } from './lab-nodes.ts';
import { beginBuild, judgeLostBuild, watchSleepers } from './lab-sleepers.ts';
import type { LabBuild } from './lab-sleepers.ts';
import type { Role } from './lab-role.ts';
import { sharedLab } from './lab.ts';
import type { Lab } from './lab.ts';

/** At a time; and one build. */
const THREADS = 4;
const FAULTS_A_ROUND = THREADS + 1;
const FAULTS = 50;
/** As many again are there when a round's nodes are lost. */
const NODES = 2 * FAULTS_A_ROUND;
const WORK_MS = { least: 4_000, most: 40_000 };
const END_LIMIT_MS = 35_000;
const READY_LIMIT_MS = 1_000;
/** A shared machine may be slow: then as long as three first messages of new threads take. */
const READY_SHARE = 3;
const LOST_WORK_LIMIT_MS = 30_000;
const FILES = makeFiles(1_000, 2_000_000);

export const lostNodesPart: Part = {
  name: 'lost-nodes',
  title:
    'Work goes on elsewhere when a node is lost, with what is at most half a minute old, and no build runs twice',
  seconds: 1_000,
  async run(setup): Promise<PartResult> {
    const { signal } = setup;
    const lab = await sharedLab(setup);
    const nodes = await onlySmallNodes(lab, NODES);
    const { caller } = lab;
    const sleepers = watchSleepers();
    setup.atEnd(() => sleepers.close());
    const { app, sourceId } = await newAppWith(caller, FILES);
    const threads: string[] = [];
    for (let i = 0; i < THREADS; i++) threads.push(await newReadyThread(caller, app, sourceId));
    const kills: { at: number; runs: Awaited<ReturnType<typeof begin>>[] }[] = [];
    const lostBuilds: LabBuild[] = [];
    const endMs: number[] = [];
    const elsewhereMs: number[] = [];
    const newMs: number[] = [];
    const failures: string[] = [];
    const counts = { unplugged: 0, killed: 0 };
    let down: Role[] = [];
    for (let round = 0; round < setup.count(FAULTS / FAULTS_A_ROUND, 1) && !signal.aborted; round++) {
      const runs = [];
      // One after the other: each is to be as quick as it can be.
      for (const thread of threads) {
        const run = await begin(caller, thread, signal);
        runs.push(run);
        if (round > 0) elsewhereMs.push(run.readyMs);
        if (round === 0) newMs.push(await readyOfNew(setup, lab, app, sourceId));
      }
      const workMs = WORK_MS.least + setup.random.below(WORK_MS.most - WORK_MS.least);
      const isOver = sleep(workMs, undefined, { signal });
      await Promise.all(down.map((role) => role.plugIn()));
      const build = await beginBuild(lab, sleepers, app);
      lostBuilds.push(build);
      await isOver;
      const at = await runnersOf(lab, threads);
      const victims = nodes.filter((role) => [...at, build.runnerId].includes(role.registeredAs() ?? ''));
      if (victims.length !== FAULTS_A_ROUND)
        failures.push(`round ${round + 1}: ${victims.length} nodes had the work, not ${FAULTS_A_ROUND}`);
      const unplugged = victims.filter(() => setup.random.below(3) > 0);
      const killedAt = Date.now();
      await Promise.all(
        victims.map((role) => (unplugged.includes(role) ? role.unplug() : Promise.resolve(role.crash()))),
      );
      counts.unplugged += unplugged.length;
      counts.killed += victims.length - unplugged.length;
      kills.push({ at: Date.now(), runs });
      down = unplugged;
      for (const { path } of runs) {
        const run = await ended(caller, path, signal);
        const took = Date.parse(run.finishedAt) - killedAt;
        endMs.push(took);
        if (run.error?.code !== 'worker_lost')
          failures.push(`${path} is ${run.status} with ${run.error?.code ?? 'no error'}`);
        if (took > END_LIMIT_MS) failures.push(`${path} ended ${took} ms after its node`);
      }
      setup.say(`${counts.unplugged + counts.killed} nodes lost; runs ended within ${Math.max(...endMs)} ms`);
    }
    const judged = [];
    for (const [index, thread] of threads.entries()) {
      const last = await begin(caller, thread, signal, COMPLETE);
      elsewhereMs.push(last.readyMs);
      const run = await ended(caller, last.path, signal);
      const ours = kills.map(({ at, runs }) => ({ at, awayMs: 0, run: runs[index]! }));
      judged.push(
        await judgeThread(caller, { app, thread, run, kills: ours, sourceId, limitMs: LOST_WORK_LIMIT_MS }),
      );
    }
    const readyLimit = Math.max(READY_LIMIT_MS, READY_SHARE * percentile(newMs, 0.5));
    for (const ms of elsewhereMs)
      if (ms > readyLimit)
        failures.push(
          `a next message was ready after ${ms} ms, those of new threads after ${newMs.join(', ')} ms`,
        );
    failures.push(
      ...judged.flatMap((one) => one.failures),
      ...(await endsOf(caller, app, (kills.length + 1) * THREADS + newMs.length)),
      ...(await Promise.all(lostBuilds.map((build) => judgeLostBuild(lab, build)))).flat(),
    );
    const lost = judged.flatMap((one) => one.lostMs);
    const figures = {
      nodes: counts.unplugged + counts.killed,
      ...counts,
      runs: endMs.length,
      endMostMs: Math.max(...endMs),
      readyMedianMs: Math.round(percentile(elsewhereMs, 0.5)),
      readyMostMs: Math.max(...elsewhereMs),
      readyNewMedianMs: Math.round(percentile(newMs, 0.5)),
      lostWorkMedianMs: Math.round(percentile(lost, 0.5)),
      lostWorkMostMs: Math.max(...lost),
      builds: lostBuilds.length,
    };
    return {
      line:
        `${figures.nodes} nodes lost (${counts.unplugged} unplugged, ${counts.killed} with their runner killed) with ${figures.runs} runs and ${figures.builds} builds: ` +
        `runs ended within ${(figures.endMostMs / 1000).toFixed(1)} s, the next message worked elsewhere on 1,000 files after ${figures.readyMedianMs} ms (median; at most ${figures.readyMostMs}; a new thread's first: ${figures.readyNewMedianMs}), ` +
        `at most ${(figures.lostWorkMostMs / 1000).toFixed(1)} s of work lost (median ${(figures.lostWorkMedianMs / 1000).toFixed(1)}); ${failures.length} promises broken`,
      figures,
      failures,
    };
  },
};

/** How long the first message of a new thread of the same files takes until its command begins. */
async function readyOfNew(
  { signal }: Setup,
  { caller }: Lab,
  app: string,
  sourceId: string,
): Promise<number> {
  const { body } = await caller.call('POST', `${app}/threads`, { sourceId });
  const run = await begin(caller, `${app}/threads/${body.thread.id as string}`, signal, COMPLETE);
  await ended(caller, run.path, signal);
  return run.readyMs;
}
