/**
 * Requests a second of GET thread, compared with a bare Fastify route that reads the thread's row by its
 * primary key on the same database and gives the same answer.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { newAppWith, newReadyThread } from '../../harness/apps.ts';
import type { Benchmark, Setup } from '../lib/benchmark.ts';
import { pidOf, startDatabase, startServiceOn } from '../../harness/database.ts';
import { makeFiles } from '../../harness/files.ts';
import { cpuOfTree } from '../lib/cpu.ts';
import { load } from '../lib/load.ts';
import { addressOf } from '../../harness/service.ts';
import { summarize } from '../../harness/statistics.ts';

const CONNECTIONS = 16;

export const readsBenchmark: Benchmark = {
  name: 'reads',
  title: `GET thread over ${CONNECTIONS} connections`,
  async run(setup) {
    const database = await startDatabase(setup.scratch);
    setup.atEnd(() => database.stop());
    const service = await startServiceOn(setup, database);
    const { app, sourceId } = await newAppWith(service, makeFiles(10, 10_000));
    const thread = await newReadyThread(service, app, sourceId);
    const sent = await service.call('POST', `${thread}/messages`, { content: 'Nothing to do.' });
    await service.call('GET', `${thread}/runs/${sent.body.run.id as string}?waitSeconds=30`);
    const bare = await startBare(setup, database.url, thread.split('/').at(-1)!);
    await expectSame(service.base, bare.base, thread, service.key);

    const seconds = setup.quick ? 1 : 3;
    const postgresPid = pidOf(database);
    /** Requests a second, and µs of CPU for each request: of the server, of PostgreSQL. */
    const ask = async (base: string, pid: number, headers: Record<string, string>): Promise<Measured> => {
      const cpu = () => [cpuOfTree(pid), cpuOfTree(postgresPid)];
      const from = cpu();
      const rate = await load(base, () => ({ method: 'GET', path: thread, headers }), CONNECTIONS, seconds);
      const [server, postgres] = cpu().map((ms, i) => ((ms - from[i]!) * 1000) / (rate * seconds));
      return { rate, server: server!, postgres: postgres! };
    };
    const [ours, theirs]: [Measured[], Measured[]] = [[], []];
    for (let round = -1; round < (setup.quick ? 2 : 8); round++) {
      const now = [
        await ask(service.base, service.pid, { 'x-api-key': service.key }),
        await ask(bare.base, bare.pid, {}),
      ] as const;
      // The first round compiles both.
      if (round < 0) continue;
      ours.push(now[0]);
      theirs.push(now[1]);
      setup.say(`round ${round + 1}: service ${now[0].rate.toFixed(0)}/s, bare ${now[1].rate.toFixed(0)}/s`);
    }
    const figures = (series: Measured[], of: keyof Measured) => summarize(series.map((one) => one[of]));
    const [service_, bare_] = [figures(ours, 'rate'), figures(theirs, 'rate')];
    return {
      rows: [
        { what: 'service', unit: 'requests/s', figures: service_ },
        { what: 'bare Fastify route', unit: 'requests/s', figures: bare_ },
        { what: 'service, CPU of Node a request', unit: 'µs', figures: figures(ours, 'server') },
        { what: 'bare, CPU of Node a request', unit: 'µs', figures: figures(theirs, 'server') },
        { what: 'service, CPU of PostgreSQL a request', unit: 'µs', figures: figures(ours, 'postgres') },
        { what: 'bare, CPU of PostgreSQL a request', unit: 'µs', figures: figures(theirs, 'postgres') },
      ],
      aims: [
        {
          what: 'of the bare route (medians)',
          bound: 'least',
          limit: 60,
          value: (service_.median / bare_.median) * 100,
          unit: '%',
        },
      ],
      notes: [
        `In turns of ${seconds} s. Both have a pool of 24 connections to the same PostgreSQL and give the same answer; the load comes from the benchmark's own process on the same cores.`,
      ],
    };
  },
};

interface Measured {
  rate: number;
  server: number;
  postgres: number;
}

async function startBare(
  setup: Setup,
  url: string,
  threadId: string,
): Promise<{ base: string; pid: number }> {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, '../bare-server.ts')],
    {
      env: { PATH: process.env.PATH, DATABASE_URL: url, BENCH_THREAD_ID: threadId },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  setup.atEnd(() => void child.kill('SIGKILL'));
  return { base: await addressOf(child), pid: child.pid! };
}

/** Both have to give the same answer, or they do not do the same work. */
async function expectSame(service: string, bare: string, path: string, key: string): Promise<void> {
  const answers = await Promise.all(
    [fetch(service + path, { headers: { 'x-api-key': key } }), fetch(bare + path)].map(async (response) =>
      (await response).text(),
    ),
  );
  if (answers[0] !== answers[1]) throw new Error(`The bare route answers otherwise:\n${answers.join('\n')}`);
}
