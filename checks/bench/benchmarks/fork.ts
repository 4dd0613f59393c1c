/**
 * Forks of a thread with 10,000 files and 500 messages, beside the creation of a thread from the head of the same app, in
 * turns: until the answer, and until the workspace is ready. Each thread is deleted before the next one is made.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { newAppWith, newReadyThread } from '../../harness/apps.ts';
import { makeFiles } from '../../harness/files.ts';
import type { Service } from '../../harness/service.ts';
import { summarize } from '../../harness/statistics.ts';
import type { Benchmark } from '../lib/benchmark.ts';

const FILES = 10_000;
const BYTES = 32 * 1024 * 1024;
/** With its reply each is two messages. */
const RUNS = 250;
/** As much as a transcript may have, nearly: the replies are short. */
const MESSAGE = 'What a person says to an agent. '.repeat(14);
const AIM_MS = 150;

export const forkBenchmark: Benchmark = {
  name: 'fork',
  title: `Forks of a thread with ${FILES} files and ${2 * RUNS} messages`,
  async run(setup) {
    const service = await setup.start();
    const { app, sourceId } = await newAppWith(service, makeFiles(FILES, BYTES));
    const parent = await newReadyThread(service, app, sourceId);
    await converse(service, parent, setup.quick ? 5 : RUNS);
    setup.say(`said ${await countInherited(service, app, parent)} messages that a fork inherits`);
    const how = {
      fork: [`${parent}/fork`, {}],
      bare: [`${parent}/fork`, { transcript: false }],
      thread: [`${app}/threads`, {}],
    } as const;
    const answered: Record<keyof typeof how, number[]> = { fork: [], bare: [], thread: [] };
    const ready: typeof answered = { fork: [], bare: [], thread: [] };
    const rounds = setup.quick ? 2 : 60;
    for (let round = -3; round < rounds; round++)
      for (const name of ['fork', 'thread', 'bare'] as const) {
        const [path, body] = how[name];
        const made = await makeThread(service, app, path, body);
        // The first ones compile, and keep the source's files.
        if (round < 0) continue;
        answered[name].push(made.answeredMs);
        ready[name].push(made.readyMs);
      }
    const fork = summarize(answered.fork);
    return {
      rows: [
        { what: 'fork: sent → answered', unit: 'ms', figures: fork },
        { what: 'fork without a transcript: sent → answered', unit: 'ms', figures: summarize(answered.bare) },
        { what: 'thread: sent → answered', unit: 'ms', figures: summarize(answered.thread) },
        { what: 'fork: sent → workspace ready', unit: 'ms', figures: summarize(ready.fork) },
        { what: 'thread: sent → workspace ready', unit: 'ms', figures: summarize(ready.thread) },
      ],
      aims: [{ what: 'answer of a fork, p95', bound: 'most', limit: AIM_MS, value: fork.p95, unit: 'ms' }],
      notes: [
        `In turns, one at a time. The parent had ${RUNS} runs, each with a message of ${MESSAGE.length} characters and its reply. A workspace is looked for every 5 ms.`,
      ],
    };
  },
};

/** Messages whose runs change no file. */
async function converse(service: Service, thread: string, runs: number): Promise<void> {
  let last = '';
  for (let i = 0; i < runs; i++) {
    const { body } = await service.call('POST', `${thread}/messages`, { content: `${i}. ${MESSAGE}` });
    last = body.run.id as string;
  }
  for (;;) {
    const { body } = await service.call('GET', `${thread}/runs/${last}?waitSeconds=30`);
    if (body.run.finishedAt !== null) return;
  }
}

async function countInherited(service: Service, app: string, parent: string): Promise<number> {
  const { body } = await service.call('POST', `${parent}/fork`, {});
  let count = 0;
  for (let cursor = ''; ;) {
    const query = `inherited=true&limit=200${cursor}`;
    const page = await service.call('GET', `${app}/threads/${body.thread.id as string}/messages?${query}`);
    count += (page.body.messages as unknown[]).length;
    if (page.body.hasMore !== true) return count;
    cursor = `&cursor=${page.body.nextCursor as string}`;
  }
}

async function makeThread(service: Service, app: string, path: string, body: object) {
  const from = performance.now();
  const made = await service.call('POST', path, body);
  const answeredMs = performance.now() - from;
  const thread = `${app}/threads/${made.body.thread.id as string}`;
  for (;;) {
    const now = await service.call('GET', thread);
    if (now.body.thread.workspaceStatus === 'ready') break;
    if (now.body.thread.initializationState === 'failed')
      throw new Error('A workspace could not be prepared.');
    await sleep(5);
  }
  const readyMs = performance.now() - from;
  await service.call('DELETE', thread);
  return { answeredMs, readyMs };
}
