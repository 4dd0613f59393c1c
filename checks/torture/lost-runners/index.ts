/**
 * Runners, and sometimes the service with them, are killed in mid-run, again and again, while agents append the time to
 * a file. Each next message goes on with what the run before it had. Truth: the times of the kills, and the file of
 * the last run, which completes.
 *
 * Seen to fail: a service that captures nothing (all work of all runs lost).
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { newAppWith, newReadyThread } from '../../harness/apps.ts';
import { runnerOf } from '../../harness/service.ts';
import { percentile } from '../../harness/statistics.ts';
import type { Part } from '../lib/part.ts';
import { endsOf, judgeThread } from './judge.ts';
import type { Kill } from './judge.ts';
import { LIMIT_MS, SHORT_PACE } from './pace.ts';
import { begin, COMPLETE, ended } from './runs.ts';

const THREADS = 4;
const KILLS = 50;
/** Of the service as well, each third time: the runner lives on for a moment, and is killed then. */
const SERVICE_KILLS = 3;
/** Runs work for as long before the kill: less than a pace now and then. */
const WORK_MS = { least: 500, most: 3 * SHORT_PACE.fullMs };
/** Until a worker has found the runs of one that was killed. Without one nothing is captured. */
const TAKEOVER_MS = 4_000;
const FILES = [{ path: 'a.txt', content: 'a\n' }];
const PRELOAD = join(import.meta.dirname, 'short-pace.ts');

export const lostRunnersPart: Part = {
  name: 'lost-runners',
  title: 'A runner that dies takes no more work along than a pace of snapshots',
  seconds: 420,
  async run(setup) {
    const how = { nodeArgs: ['--import', PRELOAD], env: { HEADRACE_RUN_CONCURRENCY: String(THREADS) } };
    let service = await setup.start(how);
    const { app, sourceId } = await newAppWith(service, FILES);
    const threads: string[] = [];
    for (let i = 0; i < THREADS; i++) threads.push(await newReadyThread(service, app, sourceId));
    const kills: Kill[] = [];
    for (let round = 0; round < setup.count(KILLS, 2) && !setup.signal.aborted; round++) {
      const runs = await Promise.all(threads.map((thread) => begin(service, thread, setup.signal)));
      await sleep(WORK_MS.least + setup.random.below(WORK_MS.most - WORK_MS.least));
      const runner = runnerOf(service.dataDir);
      let awayMs = 0;
      if (round % SERVICE_KILLS === SERVICE_KILLS - 1) {
        const from = Date.now();
        await service.kill9();
        service = await setup.start({ ...how, dataDir: service.dataDir, key: service.key });
        awayMs = Date.now() - from + TAKEOVER_MS;
        await sleep(setup.random.below(WORK_MS.most));
      }
      process.kill(runner, 'SIGKILL');
      kills.push({ at: Date.now(), awayMs, runs });
      await Promise.all(runs.map(({ path }) => ended(service, path, setup.signal)));
      setup.say(`${kills.length} runners killed`);
    }
    const judged = await Promise.all(
      threads.map(async (thread, index) => {
        const { path } = await begin(service, thread, setup.signal, COMPLETE);
        const run = await ended(service, path, setup.signal);
        const ours = kills.map(({ at, awayMs, runs }) => ({ at, awayMs, run: runs[index]! }));
        return judgeThread(service, { app, thread, run, kills: ours, sourceId, limitMs: LIMIT_MS });
      }),
    );
    const lost = judged.flatMap((one) => one.lostMs);
    const failures = [
      ...judged.flatMap((one) => one.failures),
      ...(await endsOf(service, app, (kills.length + 1) * THREADS)),
    ];
    const figures = {
      kills: kills.length,
      runs: lost.length,
      lostMedianMs: Math.round(percentile(lost, 0.5)),
      lostMostMs: Math.max(...lost),
      failures: failures.length,
    };
    return {
      line: `${figures.kills} kill -9 of runners (${Math.floor(figures.kills / SERVICE_KILLS)} after one of the service) with ${THREADS} runs each: of ${figures.runs} runs at most ${figures.lostMostMs} ms of work lost, median ${figures.lostMedianMs} ms, with ${LIMIT_MS} ms allowed at a pace of ${SHORT_PACE.fullMs} ms, and the time without a worker; ${failures.length} promises broken`,
      figures,
      failures,
    };
  },
};
