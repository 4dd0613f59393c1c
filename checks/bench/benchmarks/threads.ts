/**
 * Whether many agents hold up everybody else: 50 threads of 5 projects get a message at once, and their
 * scripted agents work at the same time in one service process. For comparison, the same with one thread.
 * Meanwhile /health is asked 50 times a second.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { newAppWith, newReadyThread } from '../../harness/apps.ts';
import type { Benchmark, Row } from '../lib/benchmark.ts';
import { makeFiles } from '../../harness/files.ts';
import type { AppFile } from '../../harness/files.ts';
import type { Caller } from '../../harness/http.ts';
import { inLanes } from '../../harness/lanes.ts';
import { makeProbe } from '../lib/probe.ts';
import { summarize } from '../../harness/statistics.ts';

const PROJECTS = 5;
const THREADS = 50;
const FILES = 100;
const BYTES = 320 * 1024;
const HEALTH_EVERY_MS = 20;
const PREPARED_AT_ONCE = 8;
const STEPS = 4;

/**
 * An agent that mostly waits, as one that asks a model does: each step thinks, says something and edits a
 * file.
 */
const script = (text: string) =>
  Array.from(
    { length: STEPS },
    (_, step) =>
      `Step ${step}.\n\`\`\`sh\nsleep 1.5; for i in 1 2 3 4 5; do echo "${text} $i"; done; echo '${text} ${step}' >> notes-${step}.txt\n\`\`\``,
  ).join('\n');

export const threadsBenchmark: Benchmark = {
  name: 'threads',
  title: '50 threads at work in one process',
  async run(setup) {
    const probe = makeProbe(setup.scratch);
    const service = await setup.start(probe.options);
    const threads = await prepare(service, makeFiles(FILES, BYTES));
    await work(service, threads.slice(0, 1), 'first');
    const rows: Row[] = [];
    const measured = async (count: number, rounds: number) => {
      const [health, whole]: [number[], number[]] = [[], []];
      await probe.ask(service.pid);
      const stop = new AbortController();
      const asking = askHealth(service, health, stop.signal);
      let together = 0;
      for (let round = 0; round < rounds; round++) {
        const runs = await work(service, threads.slice(0, count), `round ${round} of ${count}`);
        whole.push(...runs.map((run) => run.ms));
        together = Math.max(together, atOnce(runs));
      }
      stop.abort();
      await asking;
      const { loop } = await probe.ask(service.pid);
      const label = count === 1 ? '1 thread' : `${count} threads`;
      rows.push(
        { what: `${label}: delay of the event loop`, unit: 'ms', figures: loop },
        { what: `${label}: GET /health, sent → answered`, unit: 'ms', figures: summarize(health) },
        { what: `${label}: message sent → completed seen`, unit: 'ms', figures: summarize(whole) },
      );
      setup.say(`${label}: at most ${together} runs at once`);
      return { loop, health: summarize(health), together };
    };
    await measured(1, setup.quick ? 1 : 5);
    const many = await measured(THREADS, setup.quick ? 1 : 5);
    return {
      rows,
      aims: [
        {
          what: `event loop, ${THREADS} threads, p99`,
          bound: 'most',
          limit: 100,
          value: many.loop.p99,
          unit: 'ms',
        },
        {
          what: `GET /health, ${THREADS} threads, p99`,
          bound: 'most',
          limit: 100,
          value: many.health.p99,
          unit: 'ms',
        },
      ],
      notes: [
        `${THREADS} threads of ${PROJECTS} projects of ${FILES} files; each run is ${STEPS} shell commands that sleep 1.5 s, print and edit a file, with the agent's reply shown as drafts. ${many.together} were running at the same time. As many long polls wait for the runs to end. perf_hooks.monitorEventLoopDelay inside the service, sampled every 10 ms; these 10 ms are subtracted.`,
      ],
    };
  },
};

async function prepare(service: Caller, files: AppFile[]): Promise<string[]> {
  const threads: string[] = [];
  for (let project = 0; project < PROJECTS; project++) {
    const { app, sourceId } = await newAppWith(service, files);
    await inLanes(PREPARED_AT_ONCE, Array.from({ length: THREADS / PROJECTS }), async () => {
      threads.push(await newReadyThread(service, app, sourceId));
    });
  }
  return threads;
}

interface Run {
  ms: number;
  startedAt: number;
  finishedAt: number;
}

/** One message to each thread at once; resolves when all runs have completed. */
async function work(service: Caller, threads: readonly string[], text: string): Promise<Run[]> {
  return Promise.all(
    threads.map(async (thread): Promise<Run> => {
      const from = performance.now();
      const sent = await service.call('POST', `${thread}/messages`, { content: script(text) });
      for (;;) {
        const { run } = (
          await service.call('GET', `${thread}/runs/${sent.body.run.id as string}?waitSeconds=30`)
        ).body;
        if (run.finishedAt === null) continue;
        if (run.status !== 'completed' || run.resultSourceId === run.baseSourceId)
          throw new Error(`A run ended ${String(run.status)}: ${JSON.stringify(run.error)}`);
        return {
          ms: performance.now() - from,
          startedAt: Date.parse(run.startedAt),
          finishedAt: Date.parse(run.finishedAt),
        };
      }
    }),
  );
}

/** The most of them that were under way at one time. */
const atOnce = (runs: readonly Run[]) =>
  Math.max(
    ...runs.map(
      ({ startedAt: at }) => runs.filter((run) => run.startedAt <= at && run.finishedAt > at).length,
    ),
  );

/** At a fixed rate, whether or not earlier ones were answered. */
async function askHealth(service: Caller, latencies: number[], signal: AbortSignal): Promise<void> {
  const asked: Promise<unknown>[] = [];
  while (!signal.aborted) {
    asked.push(service.call('GET', '/health').then(({ ms }) => latencies.push(ms)));
    await sleep(HEALTH_EVERY_MS);
  }
  await Promise.all(asked);
}
