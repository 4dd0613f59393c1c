/** The time from a red status to the run of its pass, and the cost of a thousand idle loops. */
import { setTimeout as sleep } from 'node:timers/promises';
import { inLanes } from '../../harness/lanes.ts';
import type { Service } from '../../harness/service.ts';
import { summarize } from '../../harness/statistics.ts';
import type { Benchmark } from '../lib/benchmark.ts';
import { newProject, openPull, pollMany } from '../lib/pulls.ts';
import type { Opened } from '../lib/pulls.ts';

const LOOPS = 200;
const MADE_AT_ONCE = 4;
const BEGUN_MS = 30_000;
const LOOK_MS = 10;
const INSTRUCTIONS = 'Make it green.\n\n```sh\necho fixed >> fixes.txt\n```\n';

export const reviewLoopBenchmark: Benchmark = {
  name: 'review-loop',
  title: 'A red status to the run that fixes it, and idle review loops',
  async run(setup) {
    const service = await setup.start();
    const opened = await openLoops(service, setup.quick ? 10 : LOOPS);
    setup.say(`${opened.length} loops are open`);
    const begun: number[] = [];
    for (const one of opened.slice(0, opened.length / 2)) begun.push(await redToBegun(service, one));
    const begins = summarize(begun);
    setup.say(`red status to start of the run: p99 ${begins.p99.toFixed(0)} ms`);
    await service.stop();
    const { rows, looksPerSecond, cpuMs } = await pollMany(setup, {
      count: setup.quick ? 100 : 1_000,
      env: { HEADRACE_REVIEW_CHECK_GRACE_SECONDS: '1' },
      body: { reviewLoop: { enabled: true } },
      atRest: "l.status = 'ready' and p.looked_at is not null",
    });
    const share = (looksPerSecond * cpuMs) / 10;
    setup.say(`${(looksPerSecond * 3_600).toFixed(0)} looks per hour, ${share.toFixed(0)} % of a core`);
    return {
      rows: [
        { what: `red status to start of the run, ${opened.length} open loops`, unit: 'ms', figures: begins },
        ...rows,
      ],
      aims: [
        {
          what: 'red status to start of the run, p99',
          bound: 'most',
          limit: 2_000,
          value: begins.p99,
          unit: 'ms',
        },
        { what: 'idle loops, share of a core', bound: 'most', limit: 50, value: share, unit: '%' },
      ],
      notes: [
        "From sending the status to the run's startedAt, by one machine's clock. Each run is the first one of its thread.",
      ],
    };
  },
};

async function openLoops(service: Service, count: number): Promise<Opened[]> {
  const project = await newProject(service);
  await service.call('PATCH', `/api/projects/${project.projectId}/settings`, {
    reviewLoop: { instructions: INSTRUCTIONS },
  });
  const opened: Opened[] = [];
  await inLanes(MADE_AT_ONCE, Array.from({ length: count }), async () => {
    opened.push(await openPull(service, project, { reviewLoop: { enabled: true } }));
  });
  return opened;
}

async function redToBegun(service: Service, { repositoryId, threadId, headSha }: Opened): Promise<number> {
  const from = Date.now();
  await service.call(
    'POST',
    `/api/source-control/scm/repositories/${repositoryId}/commits/${headSha}/statuses`,
    {
      context: 'tests',
      state: 'failure',
      log: 'expected 1, was 2\n'.repeat(100),
    },
  );
  for (; Date.now() - from < BEGUN_MS; await sleep(LOOK_MS)) {
    const { runs } = (await service.call('GET', `/api/threads/${threadId}/runs`)).body;
    if (runs[0]?.startedAt) return Date.parse(runs[0].startedAt) - from;
  }
  throw new Error('the pass did not begin in time');
}
