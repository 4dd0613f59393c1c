/**
 * Captures of a run under way: for how long its turn is paused, by the runner's own API; and how much longer a run takes
 * that is captured all the time, over HTTP.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { tarOf } from '../../../packages/runner/src/tar.ts';
import { newAppWith, newReadyThread } from '../../harness/apps.ts';
import { makeFiles } from '../../harness/files.ts';
import type { Service } from '../../harness/service.ts';
import { summarize } from '../../harness/statistics.ts';
import type { Benchmark, Row, Setup } from '../lib/benchmark.ts';
import { startRunner } from '../lib/runner.ts';

const SIZES = [1_000, 10_000];
/** What the run makes must fit beside them. */
const RUN_FILES = 9_000;
const BYTES_EACH = 3_300;
const CHANGED = 20;
const PRELOAD = join(import.meta.dirname, '../../torture/lost-runners/short-pace.ts');
/** The preload captures every two seconds instead of every 25. */
const OFTENER = 12.5;
/** Counts for about ten seconds, and writes while it does. */
const WORK = `i=0; while [ $i -lt 120 ]; do i=$((i+1)); echo $i > made-$((i % ${CHANGED})).txt; j=0; while [ $j -lt 40000 ]; do j=$((j+1)); done; done`;

export const snapshotBenchmark: Benchmark = {
  name: 'snapshot',
  title: 'Captures of a run under way',
  async run(setup) {
    const pauses: Row[] = [];
    for (const size of SIZES) pauses.push(...(await pausesOf(setup, size)));
    const rounds = setup.quick ? 1 : 3;
    const plain = await runsOf(setup, { rounds, nodeArgs: [] });
    const captured = await runsOf(setup, { rounds, nodeArgs: ['--import', PRELOAD] });
    const share = (summarize(captured).median / summarize(plain).median - 1) * 100;
    return {
      rows: [
        ...pauses,
        {
          what: `a run of some seconds, ${RUN_FILES} files, never captured`,
          unit: 'ms',
          figures: summarize(plain),
        },
        { what: 'the same, captured every 2 s', unit: 'ms', figures: summarize(captured) },
      ],
      aims: [
        {
          what: `10,000 files, ${CHANGED} changed: pause, p50`,
          bound: 'most',
          limit: 150,
          value: pauses.at(-1)!.figures.median,
          unit: 'ms',
        },
        {
          what: 'a run is longer by captures every 25 s, by those every 2 s',
          bound: 'most',
          limit: 1,
          value: share / OFTENER,
          unit: '%',
        },
      ],
      notes: [
        `Pause: from the call that pauses the turn to the answer of the one that lets it go on, with the capture and the contents of ${CHANGED} new files in between. The run counts in a shell and writes ${CHANGED} files again and again.`,
      ],
    };
  },
};

async function pausesOf(setup: Setup, size: number): Promise<Row[]> {
  setup.say(`${size} files`);
  const runner = await startRunner(setup);
  const files = makeFiles(size, size * BYTES_EACH);
  const id = `thr_${size}`;
  await runner.putWorkspace(id, tarOf(files), { keep: { key: `src_${size}`, group: 'prj_bench' } });
  await runner.startTask(`run_${size}`, {
    kind: 'turn',
    workspaceId: id,
    agent: { name: 'scripted', command: null, folder: null, env: {}, home: {}, mode: null, install: null },
    prompt: `\`\`\`sh\n${WORK}; sleep 600\n\`\`\`\n`,
    permissions: 'allow',
    timeoutMs: 1_200_000,
  });
  const samples: number[] = [];
  for (let round = -2; round < (setup.quick ? 2 : 20); round++) {
    await sleep(500);
    const from = performance.now();
    await runner.pause(`run_${size}`);
    const { files: hashed } = await runner.capture(id, { over: `src_${size}`, added: [], removed: [] });
    for await (const part of await runner.blobs(
      id,
      hashed.map(({ path }) => path),
    ))
      void part;
    await runner.resume(`run_${size}`);
    if (round >= 0) samples.push(performance.now() - from);
  }
  await runner.deleteTask(`run_${size}`);
  return [{ what: `${size} files, ${CHANGED} changed: pause`, unit: 'ms', figures: summarize(samples) }];
}

async function runsOf(
  setup: Setup,
  { rounds, nodeArgs }: { rounds: number; nodeArgs: string[] },
): Promise<number[]> {
  const service = await setup.start({ nodeArgs });
  const { app, sourceId } = await newAppWith(service, makeFiles(RUN_FILES, RUN_FILES * BYTES_EACH));
  const thread = await newReadyThread(service, app, sourceId);
  const samples: number[] = [];
  for (let round = -1; round < rounds; round++) {
    const ms = await timeOf(service, thread);
    if (round >= 0) samples.push(ms);
  }
  await service.stop();
  return samples;
}

async function timeOf(service: Service, thread: string): Promise<number> {
  const { body } = await service.call('POST', `${thread}/messages`, { content: `\`\`\`sh\n${WORK}\n\`\`\`` });
  for (;;) {
    const { run } = (await service.call('GET', `${thread}/runs/${body.run.id as string}?waitSeconds=30`))
      .body;
    if (run.finishedAt === null) continue;
    if (run.status !== 'completed') throw new Error(`the run is ${run.status as string}`);
    return run.activeDurationMs as number;
  }
}
