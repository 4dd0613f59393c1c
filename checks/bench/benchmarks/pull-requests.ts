/** From the end of a run to its commit on the pull request's branch, and what polls of many quiet ones cost. */
import type { Service } from '../../harness/service.ts';
import { summarize } from '../../harness/statistics.ts';
import type { Benchmark } from '../lib/benchmark.ts';
import { newProject, openPull, pollMany } from '../lib/pulls.ts';
import type { Opened } from '../lib/pulls.ts';

/** Five times as seldom without a review loop: each one is looked at every 60 seconds. */
const POLL_SECONDS = 12;

export const pullRequestsBenchmark: Benchmark = {
  name: 'pull-requests',
  title: 'Pushes of runs, and polls of pull requests',
  async run(setup) {
    const service = await setup.start();
    const opened = await openPull(service, await newProject(service));
    const pushes = summarize(await pushTimes(service, opened, setup.quick ? 3 : 20));
    setup.say(`completed to pushed: ${pushes.median.toFixed(0)} ms`);
    await service.stop();
    const { rows: polls } = await pollMany(setup, {
      count: setup.quick ? 100 : 1_000,
      env: { HEADRACE_SCM_POLL_SECONDS: String(POLL_SECONDS) },
      atRest: 'p.looked_at is not null',
    });
    return {
      rows: [{ what: 'run completed to pushed', unit: 'ms', figures: pushes }, ...polls],
      aims: [
        { what: 'run completed to pushed', bound: 'most', limit: 500, value: pushes.median, unit: 'ms' },
      ],
      notes: [
        'CPU of a look is that of the service with its git processes, and of PostgreSQL, all else that they do meanwhile included.',
        "Counted from the run's finishedAt to the moment in which a caller that waits has read the new headSha, by the clock of one machine.",
      ],
    };
  },
};

async function pushTimes(service: Service, { threadId, prId }: Opened, rounds: number): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const read = async (query = '') =>
      (await service.call('GET', `/api/threads/${threadId}/pull-requests/${prId}${query}`)).body.pullRequest;
    const { headSha } = await read();
    const { run } = (
      await service.call('POST', `/api/threads/${threadId}/messages`, {
        content: `\`\`\`file b.txt\n${round}\n\`\`\``,
      })
    ).body;
    let now = await read();
    while (now.headSha === headSha) now = await read(`?afterVersion=${now.version as number}&waitSeconds=30`);
    const seen = Date.now();
    const ended = (await service.call('GET', `/api/threads/${threadId}/runs/${run.id as string}`)).body.run;
    times.push(seen - Date.parse(ended.finishedAt));
  }
  return times;
}
