/**
 * Promises of a fleet in simulated time, by many seeds: leases and silences with everything that networks and databases
 * do to them, and how evenly work is placed. Tests of the packages have some of the seeds.
 */
import { setImmediate as turn } from 'node:timers/promises';
import type { Benchmark } from '../lib/benchmark.ts';
import { mulberry32 } from '../../harness/random.ts';
import { summarize } from '../../harness/statistics.ts';
import { simulateFleet } from '../../../packages/server/src/fleet/simulation.fixture.ts';
import { simulatePlacement } from '../../../packages/server/src/runner/choose.fixture.ts';

const SEEDS = 10_000;
const PLACEMENT = { runners: 20, capacity: 16, rivals: 2 };
const MOST = 1.3;

export const fleetSeedsBenchmark: Benchmark = {
  name: 'fleet-seeds',
  title: `Leases, silences and placement in simulated time, ${SEEDS} seeds`,
  async run(setup) {
    const seeds = setup.quick ? SEEDS / 20 : SEEDS;
    const broken: string[] = [];
    let [results, lost] = [0, 0];
    const imbalances: number[] = [];
    const warm: number[] = [];
    for (let seed = 0; seed < seeds; seed++) {
      const fleet = simulateFleet(mulberry32(seed));
      broken.push(...fleet.broken.map((what) => `seed ${seed}: ${what}`));
      results += fleet.results;
      lost += fleet.lost;
      const placed = simulatePlacement(mulberry32(seed), PLACEMENT);
      imbalances.push(placed.imbalance);
      warm.push(placed.warm);
      if (seed % 1_000 === 999) setup.say(`${seed + 1} seeds`);
      // Signals are heard in between.
      await turn();
    }
    if (broken.length > 0) throw new Error(broken.slice(0, 10).join('\n'));
    const imbalance = summarize(imbalances);
    const uneven = imbalances.filter((one) => one > MOST).length;
    return {
      rows: [],
      aims: [
        {
          what: `the fullest of ${PLACEMENT.runners} runners at 70 %, of the mean, worst seed`,
          bound: 'most',
          limit: MOST,
          value: imbalance.max,
          unit: '×',
        },
      ],
      notes: [
        `${seeds} seeds of a fleet: ${results} pieces of work with one result each, ${lost} of them lost with their runner; no promise broken.`,
        `${seeds} seeds of placement: the fullest runner has ${imbalance.median.toFixed(2)} times the mean at the median, ${imbalance.p99.toFixed(2)} at p99; ${uneven} seeds are beyond ${MOST}. ${(100 * (warm.reduce((sum, one) => sum + one, 0) / seeds)).toFixed(1)} % of the work began where files of its project were.`,
      ],
    };
  },
};
