/**
 * What a user who sends a message waits for: the agent's process, its first words, its first edit, the new
 * version. By the scripted agent, and by the built-in model agent against a model server on this machine,
 * which answers at once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createRunnerClient } from '../../../packages/runner/src/client/runner-client.ts';
import type { RunnerClient } from '../../../packages/runner/src/client/runner-client.ts';
import { runnerSocket } from '../../../packages/server/src/runner/link.ts';
import { newAppWith, newReadyThread } from '../../harness/apps.ts';
import type { Benchmark, Row, Setup } from '../lib/benchmark.ts';
import { makeFiles } from '../../harness/files.ts';
import { openFrames } from '../lib/frames.ts';
import type { Frame, Frames } from '../lib/frames.ts';
import { memoryBelow } from '../lib/memory.ts';
import { startModels, startServiceWithModels } from '../lib/model-server.ts';
import type { Service } from '../../harness/service.ts';
import { summarize } from '../../harness/statistics.ts';

const FILES = 100,
  BYTES = 1024 * 1024;
const IDLE_THREADS = 10;
const WAIT_MS = 60_000;
const WARM_UP = 10;
const AGENTS = [
  {
    name: 'scripted',
    modelId: 'scripted',
    message: (i: number) => `\`\`\`sh\necho 'line ${i}' >> notes.md\n\`\`\``,
    idle: '```sh\nsleep 300\n```',
  },
  {
    name: 'headrace',
    modelId: 'bench/model',
    message: (i: number) =>
      model([
        {
          say: 'I append a line.',
          call: [{ tool: 'bash', input: { command: `echo 'line ${i}' >> notes.md` } }],
        },
        { say: 'Done.' },
      ]),
    idle: model([{ hang: true }]),
  },
];

function model(steps: unknown[]): string {
  return `Append a line.\n\n\`\`\`model\n${JSON.stringify(steps)}\n\`\`\``;
}

/** ms from the sending of the message. */
interface Timing {
  accepted: number;
  ready: number;
  draft: number;
  edit: number;
  completed: number;
}
const PARTS: [keyof Timing, string][] = [
  ['accepted', 'answered 201'],
  ['ready', 'agent has its session'],
  ['draft', 'first draft frame'],
  ['edit', 'first edit done'],
  ['completed', 'run completed'],
];

interface Ground {
  service: Service;
  runner: RunnerClient;
  agent: (typeof AGENTS)[number];
}

export const agentsBenchmark: Benchmark = {
  name: 'agents',
  title: 'Message to agent, first words, first edit, new version',
  async run(setup) {
    const service = await startServiceWithModels(setup, await startModels(setup));
    const runner = createRunnerClient(runnerSocket(service.dataDir));
    setup.atEnd(() => runner.close());
    const { app, sourceId } = await newAppWith(service, makeFiles(FILES, BYTES));
    const rows: Row[] = [];
    const medians: Record<string, number> = {};
    for (const agent of AGENTS) {
      setup.say(agent.name);
      const ground: Ground = { service, runner, agent };
      const thread = await newReadyThread(service, app, sourceId);
      const frames = await openFrames(service, app, thread);
      // Code that has run a few times is faster, in the service and in the database.
      for (let i = -WARM_UP; i < 0; i++) await takeTurn(ground, thread, frames, i);
      const warm: Timing[] = [];
      for (let i = 0; i < (setup.quick ? 3 : 40); i++) warm.push(await takeTurn(ground, thread, frames, i));
      frames.close();
      const cold = await coldTurns(setup, ground, app);
      for (const [kind, timings] of [
        ['warm workspace', warm],
        ['new thread', cold],
      ] as const) {
        for (const [part, what] of PARTS)
          rows.push({
            what: `${agent.name}, ${kind}: message sent → ${what}`,
            unit: 'ms',
            figures: summarize(timings.map((timing) => timing[part])),
          });
      }
      medians[`${agent.name} draft`] = summarize(warm.map(({ draft }) => draft)).median;
      medians[`${agent.name} completed`] = summarize(warm.map(({ completed }) => completed)).median;
      rows.push({
        what: `${agent.name}: memory of a running thread's sandbox`,
        unit: 'KiB',
        figures: summarize([await memoryOfThread(ground, app, sourceId)]),
      });
    }
    return {
      rows,
      aims: [
        {
          what: 'scripted, warm: message → completed, p50',
          bound: 'most',
          limit: 250,
          value: medians['scripted completed']!,
          unit: 'ms',
        },
        {
          what: 'headrace, warm: message → first draft frame, p50',
          bound: 'most',
          limit: 500,
          value: medians['headrace draft']!,
          unit: 'ms',
        },
      ],
      notes: [
        `An app of ${FILES} files; every message appends a line with a command. The frames come from the thread's stream, the session's time from the runner's journal. headrace calls the model server twice per message, through the gateway, which reserves and settles each call; the model server answers immediately.`,
        `Memory: the mean of ${IDLE_THREADS} threads with waiting agents (a sleeping command, a hanging model); each shared page counts proportionally.`,
      ],
    };
  },
};

async function coldTurns(setup: Setup, ground: Ground, app: string): Promise<Timing[]> {
  const { service } = ground;
  const timings: Timing[] = [];
  for (let i = 0; i < (setup.quick ? 2 : 15); i++) {
    const thread = `${app}/threads/${(await service.call('POST', `${app}/threads`, {})).body.thread.id as string}`;
    const frames = await openFrames(service, app, thread);
    timings.push(await takeTurn(ground, thread, frames, i));
    frames.close();
    await service.call('DELETE', thread);
  }
  return timings;
}

async function takeTurn(
  { service, runner, agent }: Ground,
  thread: string,
  frames: Frames,
  i: number,
): Promise<Timing> {
  const from = performance.now();
  const wallFrom = Date.now();
  const { body } = await service.call('POST', `${thread}/messages`, {
    content: agent.message(i),
    modelId: agent.modelId,
  });
  const accepted = performance.now() - from;
  const runId = body.run.id as string;
  const ready = readyAt(runner, runId);
  const of = (frame: Frame) => frame.data['runId'] === runId;
  const draft = frames.first((frame) => frame.event === 'draft' && of(frame));
  const edit = frames.first(
    (frame) =>
      frame.event === 'tool.updated' &&
      of(frame) &&
      (frame.data['data'] as { status: string }).status === 'completed',
  );
  const completed = await frames.first(
    (frame) => /^run\.(completed|failed|cancelled)$/.test(frame.event) && of(frame),
  );
  if (completed.event !== 'run.completed')
    throw new Error(
      `The run ended so: ${JSON.stringify((await service.call('GET', `${thread}/runs/${runId}`)).body.run.error)}`,
    );
  return {
    accepted,
    ready: (await ready) - wallFrom,
    draft: (await draft).at - from,
    edit: (await edit).at - from,
    completed: completed.at - from,
  };
}

/** When the agent had its session, by the runner's clock, which is this machine's. */
async function readyAt(runner: RunnerClient, runId: string): Promise<number> {
  for (const deadline = Date.now() + WAIT_MS; Date.now() < deadline; await sleep(2)) {
    if (
      !(await runner.task(runId).then(
        () => true,
        () => false,
      ))
    )
      continue;
    for await (const entry of runner.journal(runId)) {
      if (entry.type === 'ready') return Date.parse(entry.at);
      if (entry.type === 'end') break;
    }
  }
  throw new Error('The agent did not begin.');
}

async function memoryOfThread(
  { service, runner, agent }: Ground,
  app: string,
  sourceId: string,
): Promise<number> {
  const { pid } = await runner.status();
  const before = memoryBelow(pid);
  const threads: string[] = [];
  for (let i = 0; i < IDLE_THREADS; i++) {
    const thread = await newReadyThread(service, app, sourceId);
    const { body } = await service.call('POST', `${thread}/messages`, {
      content: agent.idle,
      modelId: agent.modelId,
    });
    await readyAt(runner, body.run.id as string);
    threads.push(thread);
  }
  await sleep(1_000);
  const each = (memoryBelow(pid) - before) / IDLE_THREADS;
  for (const thread of threads) await service.call('DELETE', thread);
  return each;
}
