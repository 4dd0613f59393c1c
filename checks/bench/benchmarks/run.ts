/**
 * From a message to the end of its run: one line of shell on an app of 1,000 files, by the built-in
 * scripted agent; and the CPU that it costs each of the processes.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuOf, countCpu } from '../lib/cpu.ts';
import { pidOf, startDatabase, startServiceOn } from '../../harness/database.ts';
import { runnerOf } from '../../harness/service.ts';
import type { Service } from '../../harness/service.ts';
import { newAppWith, newReadyThread } from '../../harness/apps.ts';
import type { Benchmark, Row, Setup } from '../lib/benchmark.ts';
import { makeFiles } from '../../harness/files.ts';
import type { Caller } from '../../harness/http.ts';
import { summarize } from '../../harness/statistics.ts';

const FILES = 1_000;
const BYTES = 4 * 1024 * 1024;

interface Timing {
  total: number;
  queued: number;
  running: number;
}

export const runBenchmark: Benchmark = {
  name: 'run',
  title: 'Message to completed run: a one-line edit on 1,000 files',
  async run(setup) {
    const database = await startDatabase(setup.scratch);
    setup.atEnd(() => database.stop());
    const service = await startServiceOn(setup, database);
    const { app, sourceId } = await newAppWith(service, makeFiles(FILES, BYTES));
    const thread = await newReadyThread(service, app, sourceId);
    await edit(service, thread, 'first');
    const warm: Timing[] = [];
    const cold: Timing[] = [];
    for (let round = 0; round < (setup.quick ? 4 : 30); round++) {
      for (let i = 0; i < 3; i++) warm.push(await edit(service, thread, `warm ${round} ${i}`));
      if (round % 3 > 0) continue;
      const { body } = await service.call('POST', `${app}/threads`, {});
      const fresh = `${app}/threads/${body.thread.id as string}`;
      cold.push(await edit(service, fresh, `cold ${round}`));
      await service.call('DELETE', fresh);
    }
    const cpu = await cpuRows(setup, { service, postgres: pidOf(database), app, sourceId, thread });
    const of = (timings: Timing[], part: keyof Timing) => summarize(timings.map((timing) => timing[part]));
    const total = of(warm, 'total');
    return {
      rows: [
        { what: 'warm workspace: message sent → completed seen', unit: 'ms', figures: total },
        { what: 'of that, queued → running', unit: 'ms', figures: of(warm, 'queued') },
        { what: 'of that, running → completed', unit: 'ms', figures: of(warm, 'running') },
        { what: 'new thread: first message sent → completed seen', unit: 'ms', figures: of(cold, 'total') },
        { what: 'of that, queued → running (workspace made)', unit: 'ms', figures: of(cold, 'queued') },
        { what: 'of that, running → completed', unit: 'ms', figures: of(cold, 'running') },
        ...cpu,
      ],
      aims: [{ what: 'warm, p50', bound: 'most', limit: 300, value: total.median, unit: 'ms' }],
      notes: [
        'CPU is time on a processor, whatever else ran on the machine. That of the sandboxes has all that the runner starts. What the processes do at rest is in the rows of the runs too: the slower the machine, the more of it.',
        "GET run?waitSeconds=30, sent when the message was answered, observes the end. A run creates a sandbox, runs the line, captures all files, hashes them and stores a new version. The parts are the run's own times.",
      ],
    };
  },
};

async function edit(service: Caller, thread: string, text: string): Promise<Timing> {
  const from = performance.now();
  const sent = await service.call('POST', `${thread}/messages`, {
    content: `\`\`\`sh\necho '${text}' >> src/area-0/part-0/file-7.ts\n\`\`\``,
  });
  const { run } = (await service.call('GET', `${thread}/runs/${sent.body.run.id as string}?waitSeconds=30`))
    .body;
  const total = performance.now() - from;
  if (run.status !== 'completed')
    throw new Error(`The run ended ${String(run.status)}: ${JSON.stringify(run.error)}`);
  if (run.resultSourceId === run.baseSourceId) throw new Error('The run changed nothing');
  return {
    total,
    queued: Date.parse(run.startedAt) - Date.parse(run.createdAt),
    running: Date.parse(run.finishedAt) - Date.parse(run.startedAt),
  };
}

const TOGETHER = 20;

interface Subject {
  service: Service;
  postgres: number;
  app: string;
  sourceId: string;
  thread: string;
}

/** ms of CPU of each group of processes: for a run, one after the other and at once, and for a second of rest. */
async function cpuRows(setup: Setup, { service, postgres, app, sourceId, thread }: Subject): Promise<Row[]> {
  const runner = runnerOf(service.dataDir);
  const [belowRunner, ofPostgres] = [
    countCpu(setup, 'runner', runner),
    countCpu(setup, 'postgres', postgres),
  ];
  const now = () => {
    const parts = { server: cpuOf(service.pid), PostgreSQL: ofPostgres(), runner: cpuOf(runner) };
    return { ...parts, sandboxes: belowRunner() - parts.runner };
  };
  type Parts = ReturnType<typeof now>;
  const names = ['server', 'PostgreSQL', 'runner', 'sandboxes'] as const;
  const series = async (what: string, unit: number, work: () => Promise<unknown>): Promise<Row[]> => {
    const rounds: Parts[] = [];
    for (let round = 0; round < (setup.quick ? 2 : 6); round++) {
      const from = now();
      await work();
      const to = now();
      rounds.push(Object.fromEntries(names.map((name) => [name, (to[name] - from[name]) / unit])) as Parts);
    }
    const row = (part: string, of: (parts: Parts) => number): Row => ({
      what: `${what}, CPU of ${part}`,
      unit: 'ms',
      figures: summarize(rounds.map(of)),
    });
    return [
      row('all processes', (parts) => names.reduce((sum, name) => sum + parts[name], 0)),
      ...names.map((name) => row(name, (parts) => parts[name])),
    ];
  };
  const threads: string[] = [];
  for (let i = 0; i < TOGETHER; i++) threads.push(await newReadyThread(service, app, sourceId));
  for (const one of threads) await edit(service, one, 'first');
  let n = 0;
  return [
    ...(await series('a run', TOGETHER, async () => {
      for (let i = 0; i < TOGETHER; i++) await edit(service, thread, `cpu ${++n}`);
    })),
    ...(await series(`a run, ${TOGETHER} at once`, TOGETHER, () =>
      Promise.all(threads.map((one) => edit(service, one, `cpu ${++n}`))),
    )),
    ...(await series('a second at rest', 3, () => sleep(3_000))),
  ];
}
