/**
 * Pull requests of both providers with enabled review loops, while processes are killed, checks and comments arrive
 * at random, others push and one provider fails one call in ten. At the end, each pass, reply and merge has happened
 * once, and each loop is merged or ready, or shows why it stopped.
 *
 * Planted faults that it detects: replies without a check whether they exist (a thread has one twice); others' commits
 * that hide a run from the commit with its change (a run is in no commit).
 */
import { newWeather } from '../lib/delivery.ts';
import { startFleet } from '../lib/fleet.ts';
import { openTable } from '../lib/log-table.ts';
import { counted } from '../lib/numbers.ts';
import type { Part } from '../lib/part.ts';
import { startStorm } from '../lib/storm.ts';
import { beginTrouble, makeThreads, startStandIn } from '../scm/world.ts';
import type { World } from '../scm/world.ts';
import { judge } from './judge.ts';
import { openReviewed, review } from './people.ts';
import type { Reviewed } from './people.ts';
import { repliesMade, settleGreen, settleResolved } from './settle.ts';
import type { Ending } from './settle.ts';

const PULLS = 50;
const KILLS = 50;
const STEPS = 8;
/** An api must live long enough to answer something between its kills, even on a busy machine. */
const LEAST_UP_MS = 1_500;

export const reviewLoopPart: Part = {
  name: 'review-loop',
  title: 'Each pass, reply and merge of a review loop happens once, and no loop stops without a reason',
  seconds: 240,
  async run(setup) {
    const pulls = setup.count(PULLS, 4);
    const kills = setup.count(KILLS, 4);
    const steps = setup.count(STEPS, 4);
    const { standIn, env } = await startStandIn(setup);
    const pollSeconds = String(Math.ceil(pulls / 10));
    const fleet = await startFleet(setup, {
      apis: 2,
      workers: 2,
      env: { ...env, HEADRACE_SCM_POLL_SECONDS: pollSeconds },
    });
    const table = await openTable(setup, fleet.database.url);
    const world: World = { setup, fleet, weather: newWeather(), standIn, threads: [], failures: [] };
    await makeThreads(world, pulls);
    const all: Reviewed[] = [];
    for (const [n, thread] of world.threads.entries()) {
      const one = await openReviewed(world, thread, { autoMerge: n % 3 !== 2 });
      if (one) all.push(one);
    }
    setup.say(`${all.length} pull requests are open`);
    // Replies are sent there.
    beginTrouble(world, '/api/graphql');
    const storm = startStorm(setup, fleet, {
      total: steps * all.length,
      kills,
      isSpared: (member) => member.role === 'api' && member.upFor() < LEAST_UP_MS,
    });
    const from = performance.now();
    await Promise.all(all.map((one) => review(world, one, { steps, storm })));
    await storm.over;
    await fleet.allUp();
    const seconds = (performance.now() - from) / 1000;
    setup.say(`${steps * all.length} steps in ${seconds.toFixed(0)} s; everything is green from now on`);
    const ending: Ending = { world, table, reasons: new Map() };
    await Promise.all(all.map((one) => settleGreen(ending, one)));
    standIn.trouble = null;
    setup.say('all comments are resolved');
    await Promise.all(all.map((one) => settleResolved(ending, one)));
    await repliesMade(ending);
    const verdict = await judge(world, table, all);
    const { weather, failures } = world;
    const killed = storm.kills;
    const stops = [...ending.reasons].map(([reason, times]) => `${times} × ${reason}`).join(', ');
    return {
      line:
        `${counted(all.length)} pull requests, ${counted(steps * all.length)} checks, comments and pushes, ${kills} kill -9 (${killed.api} api, ${killed.worker} worker): ` +
        `${verdict.passes} passes by message and ${verdict.updates} by update, ${verdict.replies} replies, ${verdict.merges} merges, stopped and restarted at the end: ${stops || 'none'}: ${verdict.failures.length} contradictions`,
      figures: {
        pulls: all.length,
        killedApis: killed.api,
        killedWorkers: killed.worker,
        passes: verdict.passes,
        updates: verdict.updates,
        replies: verdict.replies,
        merges: verdict.merges,
        contradictions: verdict.failures.length,
        seconds: Math.round(seconds),
      },
      failures: [...failures, ...weather.faults, ...fleet.deaths, ...verdict.failures],
    };
  },
};
