/** From the end of a run to its commit on the pull request's branch. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '../../harness/service.ts';
import { summarize } from '../../harness/statistics.ts';
import type { Benchmark } from '../lib/benchmark.ts';

const READY_MS = 60_000;

export const pullRequestsBenchmark: Benchmark = {
  name: 'pull-requests',
  title: 'Pushes of runs',
  async run(setup) {
    const service = await setup.start();
    const opened = await openOne(service);
    const pushes = summarize(await pushTimes(service, opened, setup.quick ? 3 : 20));
    setup.say(`completed to pushed: ${pushes.median.toFixed(0)} ms`);
    return {
      rows: [{ what: 'run completed to pushed', unit: 'ms', figures: pushes }],
      aims: [
        { what: 'run completed to pushed', bound: 'most', limit: 500, value: pushes.median, unit: 'ms' },
      ],
      notes: [
        "Counted from the run's finishedAt to the moment in which a caller that waits has read the new headSha, by the clock of one machine.",
      ],
    };
  },
};

interface Opened {
  threadId: string;
  prId: string;
}

async function openOne(service: Service): Promise<Opened> {
  const post = async (path: string, body: object) => (await service.call('POST', path, body)).body;
  const { repository } = await post('/api/source-control/scm/repositories', {
    name: 'benchmark',
    files: [{ path: 'a.txt', content: 'a\n' }],
  });
  const { project } = await post('/api/projects', { name: 'Benchmark', repositoryId: repository.id });
  const { thread } = await post('/api/threads', { projectId: project.id, title: 'Benchmark' });
  const threadId = thread.id as string;
  const now = async () => (await service.call('GET', `/api/threads/${threadId}`)).body.thread;
  for (const deadline = Date.now() + READY_MS; (await now()).initializationState !== 'completed';) {
    if (Date.now() > deadline) throw new Error('the thread was not ready in time');
    await sleep(50);
  }
  await post(`/api/threads/${threadId}/edits`, {
    expectedSourceId: (await now()).latestSourceId,
    changes: [{ path: 'b.txt', content: 'b\n' }],
  });
  const { pullRequest } = await post(`/api/threads/${threadId}/pull-requests`, {});
  return { threadId, prId: pullRequest.id as string };
}

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
