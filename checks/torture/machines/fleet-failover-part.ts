/**
 * The primary of the three machines' PostgreSQL killed, in turns with its host unplugged first, so that nobody is told; the
 * standby promoted, and HAProxy sent there. Writers write through HAProxy and through each API, and runs are under way, which
 * have to complete. Then the same without a synchronous standby: the end of the log is lost, and no cursor skips an event.
 *
 * Seen to fail: a standby that is not synchronous and behind (acknowledged writes are lost), and cursors whose generation is not
 * compared (they go on).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { newAppWith, newReadyThread } from '../../harness/apps.ts';
import { begin, ended } from '../lost-runners/runs.ts';
import { endsOf } from '../lost-runners/judge.ts';
import { newWeather } from '../lib/delivery.ts';
import type { Part, PartResult, Setup } from '../lib/part.ts';
import { makeWorld } from '../log/world.ts';
import { failovers } from './failovers.ts';
import { sharedLab } from './lab.ts';
import type { Lab } from './lab.ts';

const SYNCHRONOUS = 20;
const ASYNCHRONOUS = 5;
/** One killed, one unplugged. */
const LEAST = 2;
/** Without a primary, so that heartbeats are old. */
const AWAY_MS = 4_000;
/** From unplugging until whatever promotes standbys has seen it. */
const UNSEEN_MS = 3_000;
const RUNS = 3;
/** Of each run's command: it begins before the failover, and ends after it. */
const WORK_SECONDS = 12;
const END_LIMIT_MS = 120_000;

export const fleetFailoverPart: Part = {
  name: 'fleet-failover',
  title:
    'No acknowledged write and no run is lost when the database behind HAProxy fails over, and no event is skipped',
  seconds: 700,
  async run(setup): Promise<PartResult> {
    const lab = await sharedLab(setup);
    const { database, caller } = lab;
    await database.setSynchronous(true);
    const failures: string[] = [];
    const weather = newWeather();
    const work = await workUnderWay(lab, setup, failures);
    const world = await makeWorld(caller);
    const stage = {
      setup,
      database,
      callers: [caller, ...lab.apis],
      world,
      weather,
      failures,
      async failOver(n: number) {
        await work.begin();
        if (n % 2 === 1) return database.failOver(AWAY_MS);
        const { site } = database.primary();
        const host = Object.values(lab.databaseHosts).find(({ address }) => address === site!.address)!;
        await host.cut();
        await sleep(UNSEEN_MS, undefined, { signal: setup.signal });
        await database.failOver(AWAY_MS);
        await host.heal();
      },
      afterwards: () => work.complete(),
    };
    const counts = {
      synchronous: setup.count(SYNCHRONOUS, LEAST),
      asynchronous: setup.count(ASYNCHRONOUS, 1),
    };
    const { line, figures } = await failovers(stage, counts);
    failures.push(
      ...lab.roles.flatMap((role) => (role.isUp() ? [] : [`${role.name} ended: ${role.said().slice(-500)}`])),
    );
    const { runs, lostRuns } = work;
    return {
      line: `behind HAProxy, ${line}; ${runs()} runs under way: ${lostRuns()} lost; ${failures.length} promises broken`,
      figures: { ...figures, runs: runs(), lostRuns: lostRuns() },
      failures,
    };
  },
};

/** Runs that are at work while the primary dies. */
async function workUnderWay(lab: Lab, { signal }: Setup, failures: string[]) {
  const { caller } = lab;
  const { app, sourceId } = await newAppWith(caller, [{ path: 'a.txt', content: 'a\n' }]);
  const threads: string[] = [];
  for (let i = 0; i < RUNS; i++) threads.push(await newReadyThread(caller, app, sourceId));
  const content = `\`\`\`sh\nsleep ${WORK_SECONDS}; date +%s%3N >> work.txt\n\`\`\``;
  let [runs, lost] = [0, 0];
  let current: { path: string }[] = [];
  return {
    runs: () => runs,
    lostRuns: () => lost,
    async begin() {
      current = await Promise.all(threads.map((thread) => begin(caller, thread, signal, content)));
      runs += current.length;
    },
    async complete() {
      for (const { path } of current) {
        const run = await ended(caller, path, signal, END_LIMIT_MS);
        if (run.status === 'completed') continue;
        lost++;
        failures.push(`${path} is ${run.status} with ${run.error?.code ?? 'no error'}`);
      }
      failures.push(...(await endsOf(caller, app, runs)));
    },
  };
}
