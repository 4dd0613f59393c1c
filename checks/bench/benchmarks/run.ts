/**
 * From a message to the end of its run: one line of shell on an app of 1,000 files, by the built-in
 * scripted agent.
 */
import { newAppWith, newReadyThread } from '../../harness/apps.ts';
import type { Benchmark } from '../lib/benchmark.ts';
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
    const service = await setup.start();
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
      ],
      aims: [{ what: 'warm, p50', bound: 'most', limit: 300, value: total.median, unit: 'ms' }],
      notes: [
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
