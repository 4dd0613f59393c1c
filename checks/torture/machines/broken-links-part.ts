/**
 * A worker no longer reaches the runner of a run that it drives; both reach all others. The other worker takes the run over,
 * which goes on without a pause. Up to three at a time, each at another runner. Truth: the worker that holds the job,
 * the processes as this host sees them, and the file of the result.
 *
 * Seen to fail: a worker that waits for a runner that others reach, and does not give the job back (nobody takes it over).
 */
import { newAppWith, newReadyThread } from '../../harness/apps.ts';
import { endsOf } from '../lost-runners/judge.ts';
import { begin, ended } from '../lost-runners/runs.ts';
import type { Part, PartResult } from '../lib/part.ts';
import { longestGap, onlySmallNodes, runnersOf, timesFor } from './lab-nodes.ts';
import type { Role } from './lab-role.ts';
import { watchSleepers } from './lab-sleepers.ts';
import { sharedLab } from './lab.ts';
import type { Lab } from './lab.ts';

const THREADS = 3;
const ROUNDS = 7;
const WORK_SECONDS = 60;
const GAP_LIMIT_MS = 10_000;
/** Until the call of the worker that is cut off has ended, it has given the job back, and the other one has it. */
const TAKEN_LIMIT_MS = 50_000;
const END_LIMIT_MS = 200_000;
const FILES = [{ path: 'a.txt', content: 'a\n' }];

export const brokenLinksPart: Part = {
  name: 'broken-links',
  title: 'A run lives on when its worker no longer reaches its runner: another worker takes it over',
  seconds: 700,
  async run(setup): Promise<PartResult> {
    const { signal } = setup;
    const lab = await sharedLab(setup);
    const { caller } = lab;
    await onlySmallNodes(lab, THREADS);
    const workers = await workersOf(lab);
    const sleepers = watchSleepers();
    setup.atEnd(() => sleepers.close());
    const { app, sourceId } = await newAppWith(caller, FILES);
    const failures: string[] = [];
    const takenMs: number[] = [];
    let runs = 0;
    for (let round = 1; round <= setup.count(ROUNDS); round++) {
      const threads: string[] = [];
      for (let i = 0; i < THREADS; i++) threads.push(await newReadyThread(caller, app, sourceId));
      await Promise.all(
        threads.map(async (thread) => {
          const sleeper = sleepers.next();
          const run = await begin(caller, thread, signal, timesFor(WORK_SECONDS, sleeper));
          runs++;
          const [bootId] = await runnersOf(lab, [thread]);
          const runner = lab.of('runner').find((role) => role.registeredAs() === bootId)!;
          const holder = await holderOf(lab, thread);
          const worker = workers.get(holder!)!;
          const cutAt = Date.now();
          await lab.cutBetween(worker.host, runner.host);
          const next = await lab.until(`${run.path} has another worker`, async () => {
            const now = await holderOf(lab, thread);
            return now !== undefined && now !== holder ? now : undefined;
          });
          const took = Date.now() - cutAt;
          takenMs.push(took);
          if (took > TAKEN_LIMIT_MS || !workers.has(next))
            failures.push(`${run.path} was taken over by ${next} after ${took} ms`);
          const end = await ended(caller, run.path, signal, END_LIMIT_MS);
          await lab.healBetween(worker.host, runner.host);
          if (end.status !== 'completed') {
            failures.push(`${run.path} is ${end.status} with ${end.error?.code ?? 'no error'}`);
            return;
          }
          if (sleeper.pids.size !== 1) failures.push(`${run.path} worked ${sleeper.pids.size} times`);
          const gap = await longestGap(lab, app, end.resultSourceId!);
          if (gap > GAP_LIMIT_MS) failures.push(`${run.path} stood still for ${gap} ms`);
        }),
      );
      setup.say(`${takenMs.length} links broken; taken over within ${Math.max(...takenMs)} ms`);
    }
    failures.push(...(await endsOf(caller, app, runs)));
    const figures = { links: takenMs.length, runs, takenMostMs: Math.max(...takenMs) };
    return {
      line: `${figures.links} links between a worker and the runner of its run broken, up to ${THREADS} at a time: the other worker took each run over within ${(figures.takenMostMs / 1000).toFixed(1)} s; ${runs} runs with one end each; ${failures.length} promises broken`,
      figures,
      failures,
    };
  },
};

/** The id of each worker in the database: one of them is away for a moment, so that it shows whose is whose. */
async function workersOf(lab: Lab): Promise<Map<string, Role>> {
  const [one, two] = lab.of('worker') as [Role, Role];
  const ids = async () => (await lab.query<{ id: string }>('select id from workers')).map(({ id }) => id);
  two.terminate();
  await two.ended();
  const [first] = await lab.until('one worker is left', async () => {
    const left = await ids();
    return left.length === 1 ? left : undefined;
  });
  await two.start();
  const second = await lab.until('the other worker is there', async () =>
    (await ids()).find((id) => id !== first),
  );
  return new Map([
    [first!, one],
    [second, two],
  ]);
}

async function holderOf(lab: Lab, thread: string): Promise<string | undefined> {
  const [job] = await lab.query<{ worker_id: string }>(
    "select worker_id from jobs where key = $1 and status = 'active'",
    [`thread:${thread.split('/').at(-1)!}`],
  );
  return job?.worker_id;
}
