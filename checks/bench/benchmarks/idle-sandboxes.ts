/**
 * How much memory waiting sandboxes take, and how long fifty take to start at once: in a separate runner,
 * over its socket.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { TaskRequest } from '../../../packages/runner/src/protocol.ts';
import { tarOf } from '../../../packages/runner/src/tar.ts';
import type { Benchmark, Outcome, Row, Setup } from '../lib/benchmark.ts';
import { makeFiles } from '../../harness/files.ts';
import { memoryBelow, memoryOf } from '../lib/memory.ts';
import { startRunner } from '../lib/runner.ts';
import type { BenchRunner } from '../lib/runner.ts';
import { summarize } from '../../harness/statistics.ts';

const FILES = 100,
  BYTES = 320 * 1024;
const AT_ONCE = 50;
const ASK_EVERY_MS = 20;
/** Beyond it an agent that waits for a gateway would give up. */
const TIMEOUT_MS = 50_000;
const JOB = 'echo written > job.txt && test "$(cat job.txt)" = written';

const exec = (workspaceId: string, command: string): TaskRequest => ({
  kind: 'exec',
  workspaceId,
  command,
  timeoutMs: TIMEOUT_MS,
});
const turn = (
  workspaceId: string,
  name: string,
  prompt: string,
  env: Record<string, string> = {},
): TaskRequest => ({
  kind: 'turn',
  workspaceId,
  prompt,
  gateway: true,
  permissions: 'allow',
  timeoutMs: TIMEOUT_MS,
  agent: { name, command: null, folder: null, env, home: {}, mode: null, install: null },
});
/** `count` of them at a time; `isThere`: the journal entry from which on it waits. */
const IDLE = [
  {
    what: 'a command that sleeps',
    count: AT_ONCE,
    task: (id: string) => exec(id, 'echo there; exec sleep 600'),
    isThere: 'output',
  },
  {
    what: 'the agent scripted, in a command that sleeps',
    count: 20,
    task: (id: string) => turn(id, 'scripted', '```sh\nsleep 600\n```'),
    isThere: 'tool',
  },
  // No worker serves the gateway here: its first call waits.
  {
    what: 'the agent headrace, in a call of its model',
    count: 10,
    task: (id: string) =>
      turn(id, 'headrace', 'Wait.', {
        HEADRACE_WIRE: 'anthropic',
        HEADRACE_MODEL: 'none',
        HEADRACE_GATEWAY: 'http://127.0.0.1:4401/none/v1',
        HEADRACE_TOKEN: 'none',
      }),
    isThere: 'ready',
  },
];

export const idleSandboxesBenchmark: Benchmark = {
  name: 'idle-sandboxes',
  title: 'Waiting sandboxes, and fifty in parallel',
  async run(setup): Promise<Outcome> {
    const runner = await startRunner(setup);
    const tar = tarOf(makeFiles(FILES, BYTES));
    const workspaces = Array.from({ length: AT_ONCE }, (_, i) => `thr_${i}`);
    for (const id of workspaces) await runner.putWorkspace(id, tar);
    const rows: Row[] = [];
    const row = (what: string, unit: Row['unit'], samples: number[]) => {
      rows.push({ what, unit, figures: summarize(samples) });
    };
    await smallJobs(runner, workspaces, 'warm-up');
    for (const { what, count, task, isThere } of IDLE) {
      setup.say(what);
      const memory = await memoryOfIdle(runner, workspaces.slice(0, count), task, isThere);
      row(`${what}: processes, each of ${count}`, 'KiB', [memory.processes]);
      row(`${what}: its control group`, 'KiB', [memory.group]);
      if (count === AT_ONCE) row(`${what}: the runner's own growth`, 'KiB', [memory.runner]);
      row(`${what}: ${count} posted at once → all wait`, 'ms', [memory.ms]);
    }
    await jobsAtOnce(setup, runner, workspaces, row);
    return {
      rows,
      aims: [],
      notes: [
        `${AT_ONCE} workspaces of ${FILES} files. Memory is the total growth divided by the number of sandboxes, in two views of the same memory: processes with their share of shared pages (PSS), and control groups with the kernel's memory and their in-memory folders. The job writes a file, reads it and exits; its time is from POST /tasks to the end of its journal. GET /status is asked every ${ASK_EVERY_MS} ms in the meantime. For fifty working threads in the service's own process, see the benchmark \`threads\`.`,
      ],
    };
  },
};

interface Idle {
  processes: number;
  group: number;
  runner: number;
  ms: number;
}

async function memoryOfIdle(
  runner: BenchRunner,
  workspaces: readonly string[],
  task: (id: string) => TaskRequest,
  isThere: string,
): Promise<Idle> {
  const now = () => ({
    processes: memoryBelow(runner.pid),
    group: runner.groupKiB(),
    runner: memoryOf(runner.pid),
  });
  await settle();
  const before = now();
  const from = performance.now();
  await Promise.all(
    workspaces.map(async (id) => {
      await runner.startTask(`idle_${id}`, task(id));
      for await (const entry of runner.journal(`idle_${id}`)) {
        if (entry.type === isThere) return;
        if (entry.type === 'end') throw new Error(`It did not wait: ${JSON.stringify(entry)}`);
      }
    }),
  );
  const ms = performance.now() - from;
  await settle();
  const after = now();
  for (const id of workspaces)
    if ((await runner.task(`idle_${id}`)).status !== 'running')
      throw new Error('One did not wait until it was looked at');
  await Promise.all(workspaces.map((id) => runner.deleteTask(`idle_${id}`)));
  const each = (part: keyof typeof before) => (after[part] - before[part]) / workspaces.length;
  return { processes: each('processes'), group: each('group'), runner: each('runner'), ms };
}

/** Until launches wait again, and what was begun is through. */
const settle = () => sleep(1_000);

async function jobsAtOnce(
  setup: Setup,
  runner: BenchRunner,
  workspaces: readonly string[],
  row: (what: string, unit: Row['unit'], samples: number[]) => void,
): Promise<void> {
  const [one, many, whole, status]: [number[], number[], number[], number[]] = [[], [], [], []];
  for (let round = 0; round < (setup.quick ? 1 : 8); round++) {
    setup.say(`${AT_ONCE} jobs at once, round ${round}`);
    await settle();
    one.push(...(await smallJobs(runner, workspaces.slice(0, 1), `one ${round}`)));
    const stop = new AbortController();
    const asking = askStatus(runner, status, stop.signal);
    const from = performance.now();
    many.push(...(await smallJobs(runner, workspaces, `many ${round}`)));
    whole.push(performance.now() - from);
    stop.abort();
    await asking;
  }
  row('one small job: sent → ended', 'ms', one);
  row(`${AT_ONCE} small jobs at once: sent → ended, each`, 'ms', many);
  row(`${AT_ONCE} small jobs at once: all ended`, 'ms', whole);
  row(
    'that is',
    'sandboxes/s',
    whole.map((ms) => (AT_ONCE / ms) * 1000),
  );
  row('GET /status of the runner meanwhile', 'ms', status);
}

async function smallJobs(
  runner: BenchRunner,
  workspaces: readonly string[],
  label: string,
): Promise<number[]> {
  return Promise.all(
    workspaces.map(async (id) => {
      const task = `job_${label.replaceAll(' ', '_')}_${id}`;
      const from = performance.now();
      await runner.startTask(task, exec(id, JOB));
      const end = (await Array.fromAsync(runner.journal(task))).at(-1)!;
      const ms = performance.now() - from;
      if (end.type !== 'end' || end.exitCode !== 0) throw new Error(`A job ended so: ${JSON.stringify(end)}`);
      await runner.deleteTask(task);
      return ms;
    }),
  );
}

/** At a fixed rate, whether or not earlier ones were answered. */
async function askStatus(runner: BenchRunner, latencies: number[], signal: AbortSignal): Promise<void> {
  const asked: Promise<unknown>[] = [];
  while (!signal.aborted) {
    const from = performance.now();
    asked.push(runner.status().then(() => latencies.push(performance.now() - from)));
    await sleep(ASK_EVERY_MS);
  }
  await Promise.all(asked);
}
