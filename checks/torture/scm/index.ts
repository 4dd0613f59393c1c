/**
 * Pull requests of many threads in repositories of both providers, while processes are killed, others push to
 * the same branches and one provider fails one call in ten. At the end the repositories' own logs of references,
 * the providers' pull requests and the threads' files have to agree, and no secret may have been left anywhere.
 *
 * Seen to fail: others' commits that are not taken over (the thread's files are not its branch's).
 */
import { newWeather } from '../lib/delivery.ts';
import { startFleet } from '../lib/fleet.ts';
import { openTable } from '../lib/log-table.ts';
import { counted } from '../lib/numbers.ts';
import type { Part } from '../lib/part.ts';
import { startStorm } from '../lib/storm.ts';
import { judge } from './judge.ts';
import { pullRequests } from './pulls.ts';
import { findSecrets, watchCommandLines } from './secrets.ts';
import { beginTrouble, makeThreads, startStandIn } from './world.ts';
import type { World } from './world.ts';

const THREADS = 20;
const PULLS = 200;
const KILLS = 100;
/** An api answers something between its kills, also on a busy machine. */
const LEAST_UP_MS = 1_500;

export const scmPart: Part = {
  name: 'scm',
  title:
    'No branch is moved by force, no commit is lost and no pull request is made twice, during kills and pushes of others',
  seconds: 260,
  async run(setup) {
    const { standIn, env } = await startStandIn(setup);
    const fleet = await startFleet(setup, { apis: 2, workers: 2, env });
    const table = await openTable(setup, fleet.database.url);
    const world: World = { setup, fleet, weather: newWeather(), standIn, threads: [], failures: [] };
    const pulls = setup.count(PULLS, 4);
    const threads = Math.min(THREADS, Math.max(4, Math.ceil(pulls / 3)));
    await makeThreads(world, threads);
    setup.say(`${threads} threads are ready`);
    beginTrouble(world);
    const secrets = { 'the service key': fleet.key, "the provider's token": standIn.token };
    const commandLines = watchCommandLines(setup, secrets);
    const count = Math.max(1, Math.round(pulls / threads));
    const kills = setup.count(KILLS, 4);
    const storm = startStorm(setup, fleet, {
      total: count * threads,
      kills,
      isSpared: (member) => member.role === 'api' && member.upFor() < LEAST_UP_MS,
    });
    const from = performance.now();
    const all = await Promise.all(
      world.threads.map((thread) => pullRequests(world, thread, { count, storm })),
    );
    await storm.over;
    await fleet.allUp();
    const seconds = (performance.now() - from) / 1000;
    standIn.trouble = null;
    setup.say(`${count * threads} pull requests in ${seconds.toFixed(0)} s; comparing`);
    const verdict = await judge(world, table, all);
    const leaks = [
      ...commandLines.stop(),
      ...(await findSecrets(table, [fleet.dataDir, fleet.log], secrets)),
    ];
    const { weather, failures } = world;
    const killed = storm.kills;
    return {
      line:
        `${counted(verdict.pulls)} pull requests of ${threads} threads, ${kills} kill -9 (${killed.api} api, ${killed.worker} worker), ${counted(weather.unanswered)} answers lost, ${counted(weather.unavailable)} told to wait: ` +
        `${counted(verdict.pushes)} moves of branches, ${verdict.others} pushes of others: ${verdict.failures.length} contradictions, ${leaks.length} secrets in logs, files, rows and command lines`,
      figures: {
        pulls: verdict.pulls,
        threads,
        killedApis: killed.api,
        killedWorkers: killed.worker,
        unanswered: weather.unanswered,
        pushes: verdict.pushes,
        others: verdict.others,
        contradictions: verdict.failures.length,
        leaks: leaks.length,
        seconds: Math.round(seconds),
      },
      failures: [...failures, ...weather.faults, ...fleet.deaths, ...verdict.failures, ...leaks],
    };
  },
};
