/**
 * The disk of one node full, which has runs under way: it says what it lacks, as `doctor` does there, and gets no new work,
 * which all completes on the other nodes. A run that has no more to write goes on; one that has ends, and its thread works
 * elsewhere at its next message. When there is room again, the node takes work again. Truth: the row of the runner, where
 * each thread is, and the log.
 *
 * Seen to fail: a runner that does not look at its disk (its row never says so).
 */
import { execFile, spawn } from 'node:child_process';
import { join } from 'node:path';
import { newAppWith, newReadyThread } from '../../harness/apps.ts';
import { endOf } from '../../harness/service.ts';
import { endsOf } from '../lost-runners/judge.ts';
import { begin, ended } from '../lost-runners/runs.ts';
import type { Part, PartResult, Setup } from '../lib/part.ts';
import { runnersOf } from './lab-nodes.ts';
import { OPEN_DISK } from './lab-network.ts';
import type { Role } from './lab-role.ts';
import { sharedLab } from './lab.ts';
import type { Lab } from './lab.ts';

const ROUNDS = 5;
const DISK_MEGABYTES = 512;
const NEW_THREADS = 6;
/** From a disk's change until the runner's row says so: a round of registrations, on a busy machine. */
const SEEN_LIMIT_MS = 15_000;
const END_LIMIT_MS = 90_000;
/** New threads until one has to be at the node that has room again. */
const MOST_TRIES = 40;
const CLI = join(import.meta.dirname, '../../../packages/cli/src/main.ts');
const CLI_LIMIT_MS = 60_000;
const WAITS = '```sh\nsleep 20\n```';
const WRITES =
  '```sh\nfor i in $(seq 1000); do head -c 1000000 /dev/zero > big.$i || exit 7; sleep 0.2; done\n```';
const QUICK = '```sh\necho done > done.txt\n```';

interface Bench {
  setup: Setup;
  lab: Lab;
  node: Role;
  app: string;
  sourceId: string;
  failures: string[];
  runs: number;
  seenMs: number[];
  codes: Map<string, number>;
}

export const fullDiskPart: Part = {
  name: 'full-disk',
  title: 'A node whose disk is full says so and gets no new work, and takes work again when there is room',
  seconds: 400,
  async run(setup): Promise<PartResult> {
    const lab = await sharedLab(setup);
    const node = await lab.addRunner({}, DISK_MEGABYTES);
    await lab.registered(node);
    const { app, sourceId } = await newAppWith(lab.caller, [{ path: 'a.txt', content: 'a\n' }]);
    const bench: Bench = {
      setup,
      lab,
      node,
      app,
      sourceId,
      failures: [],
      runs: 0,
      seenMs: [],
      codes: new Map(),
    };
    const rounds = setup.count(ROUNDS, 1);
    for (let round = 1; round <= rounds && !setup.signal.aborted; round++) {
      await fillAndFree(bench);
      setup.say(`${round} times full; ${bench.failures.length} promises broken`);
    }
    const { failures, runs, seenMs, codes } = bench;
    failures.push(...(await endsOf(lab.caller, app, runs)));
    const figures = { rounds, runs, elsewhere: rounds * NEW_THREADS, seenMostMs: Math.max(...seenMs) };
    const ends = [...codes].map(([code, times]) => `${times} × ${code}`).join(', ');
    return {
      line: `a node's disk full ${rounds} times with two runs under way (${ends}): named by doctor and its row within ${(figures.seenMostMs / 1000).toFixed(1)} s, ${figures.elsewhere} new threads worked elsewhere, and it took work again; ${runs} runs with one end each; ${failures.length} promises broken`,
      figures,
      failures,
    };
  },
};

async function fillAndFree(bench: Bench): Promise<void> {
  const { setup, lab, node, failures } = bench;
  const { caller } = lab;
  const { signal } = setup;
  const id = await lab.registered(node);
  const others = lab.of('runner').filter((role) => role !== node);
  for (const role of others) role.terminate();
  await Promise.all(others.map((role) => role.ended()));
  const threads = [
    await newReadyThread(caller, bench.app, bench.sourceId),
    await newReadyThread(caller, bench.app, bench.sourceId),
  ] as const;
  const [waiting, writing] = threads;
  const runs = [];
  for (const [thread, content] of [
    [waiting, WAITS],
    [writing, WRITES],
  ] as const)
    runs.push(await begin(caller, thread, signal, content));
  bench.runs += runs.length;
  await Promise.all(others.map((role) => role.start()));
  for (const role of others) await lab.registered(role);
  const empty = fill(bench);
  // What it has written may go with it, and is filled again.
  await ended(caller, runs[1]!.path, signal, END_LIMIT_MS);
  await seen(bench, id, false);
  const said = await doctorOf(bench);
  if (!/room for workspaces/.test(said))
    failures.push(`doctor does not name the disk: ${said.slice(0, 500)}`);
  for (let i = 0; i < NEW_THREADS; i++) {
    const thread = await newReadyThread(caller, bench.app, bench.sourceId);
    await completes(bench, thread);
    if ((await runnersOf(lab, [thread]))[0] === id) failures.push(`${thread} began at the full node`);
  }
  for (const [i, { path }] of runs.entries()) {
    const run = await ended(caller, path, signal, END_LIMIT_MS);
    const code = run.error?.code ?? run.status;
    bench.codes.set(code, (bench.codes.get(code) ?? 0) + 1);
    if (run.status !== 'completed' && !run.error?.code)
      failures.push(`${path} is ${run.status} without a code`);
    const thread = threads[i]!;
    await completes(bench, thread);
    if ((await runnersOf(lab, [thread]))[0] === id) failures.push(`${thread} went on at the full node`);
  }
  await empty();
  const now = await lab.registered(node);
  await seen(bench, now, true);
  await takesWork(bench, now);
}

/** Fills the node's disk, again and again, as what ends there leaves room. Returns what ends that and makes room. */
function fill({ setup, node }: Bench): () => Promise<void> {
  const [command, ...enter] = node.host.enter;
  const script = `while :; do cat /dev/zero >> ${OPEN_DISK}/filling; sleep 0.1; done`;
  const child = spawn(command!, [...enter, 'sh', '-c', script], { stdio: 'ignore' });
  setup.atEnd(() => void child.kill('SIGKILL'));
  return async () => {
    child.kill('SIGKILL');
    await endOf(child);
    await node.host.run('rm', `${OPEN_DISK}/filling`);
  };
}

/** Its next message is done, wherever. */
async function completes(bench: Bench, thread: string): Promise<void> {
  const { setup, lab, failures } = bench;
  bench.runs++;
  const { path } = await begin(lab.caller, thread, setup.signal, QUICK);
  const { status, error } = await ended(lab.caller, path, setup.signal, END_LIMIT_MS);
  if (status !== 'completed') failures.push(`${path} is ${status} with ${error?.code ?? 'no error'}`);
}

/** New work comes there again: of apps that no other node keeps files of. */
async function takesWork({ lab }: Bench, id: string): Promise<void> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const { app, sourceId } = await newAppWith(lab.caller, [{ path: 'a.txt', content: 'a\n' }]);
    const thread = await newReadyThread(lab.caller, app, sourceId);
    if ((await runnersOf(lab, [thread]))[0] === id) return;
  }
  throw new Error(`${MOST_TRIES} threads of new apps are all elsewhere`);
}

/** Resolves when the row of the runner says whether it takes work. */
async function seen({ lab, seenMs, failures }: Bench, id: string, isWell: boolean): Promise<void> {
  const from = Date.now();
  await lab.until(`the runner ${isWell ? 'has room' : 'is full'}`, async () => {
    const [row] = await lab.query<{ is_ok: boolean; missing: string }>(
      "select is_ok, status->>'missing' as missing from runners where boot_id = $1",
      [id],
    );
    return row?.is_ok === isWell && row.missing.includes('room for workspaces') !== isWell ? true : undefined;
  });
  const took = Date.now() - from;
  seenMs.push(took);
  if (took > SEEN_LIMIT_MS) failures.push(`the runner's row changed after ${took} ms`);
}

/** What it prints on the node, whatever it finds. */
function doctorOf({ node }: Bench): Promise<string> {
  const [command, ...enter] = node.host.enter;
  return new Promise((resolve) => {
    execFile(
      command!,
      [...enter, process.execPath, CLI, 'doctor', '--json'],
      { timeout: CLI_LIMIT_MS, env: { ...process.env, ...node.env } },
      (_error, stdout, stderr) => resolve(stdout + stderr),
    );
  });
}
