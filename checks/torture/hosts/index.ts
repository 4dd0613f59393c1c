/**
 * The line of a host is cut, or only the service's end of it stays open for a while; its program, all processes of the service, or both are
 * killed, in the middle of runs and restores; and a worker is stopped before it writes a worktree, and goes on when another one has
 * done its work. Truth: the lines that each block of a script has appended to a file of its worktree, and the files that a
 * restore has to bring back together.
 *
 * Seen to fail without: the place in the journal where reading goes on after a break (four entries on: tools are missing), what a host
 * keeps of the tasks that ever began (lines doubled when both were killed), the number of a connection at its end (the host counts as
 * offline, and runs do not end), the fence at a host (a worker that comes back late puts a restore over later work).
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Part, Setup } from '../lib/part.ts';
import { makeWorld } from './world.ts';
import type { World } from './world.ts';

const THREADS = 3;
const DISCONNECTS = 100;
const KILLS = 30;
const KINDS = ['restore', 'host', 'service', 'both'] as const;
const STOPS = 10;
/** Each takes `BLOCK_SECONDS` at least. */
const BLOCKS = 5,
  BLOCK_SECONDS = 0.3;
/** A run that has begun works for as long at least. */
const MIDDLE_MS = (BLOCKS - 1) * BLOCK_SECONDS * 1000;
const AWAY_MS = 400,
  BETWEEN_MS = 2_500;
/** On a slow machine a run whose connection is always cut would never end. */
const CUTS_A_ROUND = 5;
/** Each so many connections end for the host alone. */
const LEFT_EVERY = 3;
/** After its end is known, and until a host that is connected has to be seen so. */
const SETTLE_MS = 300,
  ONLINE_MS = 10_000;

interface Run {
  thread: string;
  id: string;
  /** Begins each of its lines. */
  mark: string;
}

export const hostsPart: Part = {
  name: 'hosts',
  title: 'A host loses, doubles and halves nothing, whatever ends its connection, its program or its service',
  seconds: 600,
  async run(setup) {
    const world = await makeWorld(setup);
    const threads: string[] = [];
    for (let i = 0; i < THREADS; i++) threads.push(await world.newThread());
    const failures: string[] = [];
    const counts = {
      disconnects: 0,
      left: 0,
      kills: 0,
      stops: 0,
      runs: 0,
      completed: 0,
      lost: 0,
      restores: 0,
    };

    const cuts = setup.count(DISCONNECTS, 3);
    for (let round = 0; counts.disconnects < cuts && !setup.signal.aborted; round++) {
      const runs = await Promise.all(threads.map((thread) => begin(world, thread)));
      const all = Promise.all(runs.map((run) => endOfRun(world, run)));
      const over = new AbortController();
      void Promise.allSettled([all]).then(() => over.abort());
      // The first cut of each other round is in the middle of all runs.
      if (round % 2 === 0) await Promise.all(runs.map((run) => works(world, run)));
      const last = Math.min(cuts, counts.disconnects + CUTS_A_ROUND);
      for (let most = MIDDLE_MS; !over.signal.aborted && counts.disconnects < last; most = BETWEEN_MS) {
        await sleep(setup.random.below(most));
        const isLeft = counts.disconnects % LEFT_EVERY === LEFT_EVERY - 1;
        await disconnect(world, setup, isLeft);
        counts.disconnects++;
        counts.left += Number(isLeft);
      }
      for (const [index, status] of (await all).entries()) {
        counts.runs++;
        counts.completed += Number(status === 'completed');
        if (status !== 'completed') failures.push(`run ${runs[index]!.id} ended ${status} after a cut`);
        failures.push(...(await judge(world, runs[index]!, status)));
      }
      setup.say(`${counts.disconnects} connections cut, ${counts.runs} runs`);
    }

    const kills = setup.count(KILLS, KINDS.length);
    for (let round = 0; round < kills && !setup.signal.aborted; round++) {
      const kind = KINDS[round % KINDS.length]!;
      if (kind === 'restore') failures.push(...(await killInRestore(world, setup, threads[0]!)));
      else {
        const runs = await Promise.all(threads.map((thread) => begin(world, thread)));
        // In the middle of all runs, and each other time whenever it is.
        if (round % (2 * KINDS.length) < KINDS.length)
          await Promise.all(runs.map((run) => works(world, run)));
        await sleep(setup.random.below(MIDDLE_MS));
        await world.kill({ host: kind !== 'service', service: kind !== 'host' });
        for (const run of runs) {
          const status = await endOfRun(world, run);
          counts.runs++;
          counts.completed += Number(status === 'completed');
          counts.lost += Number(status === 'host_lost');
          if (status !== 'completed' && (kind === 'service' || status !== 'host_lost'))
            failures.push(`run ${run.id} ended ${status} after a kill of the ${kind}`);
          failures.push(...(await judge(world, run, status)));
        }
      }
      counts.restores += Number(kind === 'restore');
      counts.kills++;
      setup.say(`${counts.kills} kills`);
    }

    const stops = setup.count(STOPS);
    while (counts.stops < stops && !setup.signal.aborted) {
      failures.push(...(await stopInRestore(world, threads[0]!)));
      counts.stops++;
      setup.say(`${counts.stops} workers stopped`);
    }
    failures.push(...world.deaths);
    return {
      line: `${counts.disconnects} disconnects (${counts.left} of which the service heard late) and ${counts.kills} kill -9 (of the host, of the service, of both, and of the host in ${counts.restores} restores) in ${counts.runs} runs of ${BLOCKS} blocks, ${THREADS} side by side: ${counts.completed} completed, ${counts.lost} host_lost; ${counts.stops} workers that came back late to a restore; ${failures.length} promises broken`,
      figures: { ...counts, failures: failures.length },
      failures,
    };
  },
};

/** Ends the connection that the host has, and waits for the next one. Throws where that one does not count. */
async function disconnect(
  { line, epoch, isOnline, until }: World,
  setup: Setup,
  isLeft: boolean,
): Promise<void> {
  const before = await epoch();
  const end = isLeft ? line.leave() : line.cut();
  await sleep(setup.random.below(AWAY_MS));
  line.mend();
  await until(async () => (await epoch()) > before, 'another connection');
  if (!end) return;
  end();
  await sleep(SETTLE_MS);
  for (const deadline = Date.now() + ONLINE_MS; Date.now() < deadline; await sleep(50))
    if (await isOnline()) return;
  throw new Error('The host is offline since an older connection of it ended.');
}

const fenced = (command: string): string => `\`\`\`sh\n${command}\n\`\`\``;

/** Sends a message whose blocks each append one line and print it. */
async function begin(world: World, thread: string, content?: string): Promise<Run> {
  const mark = `r${Math.random().toString(36).slice(2)}`;
  const blocks = Array.from({ length: BLOCKS }, (_, i) =>
    fenced(`echo ${mark}.${i} >> count.txt; sleep ${BLOCK_SECONDS}; echo printed-${i}`),
  );
  const { body } = await world.service.call('POST', `${thread}/messages`, {
    content: content ?? blocks.join('\n'),
  });
  return { thread, id: body.run.id as string, mark };
}

/** `completed`, or the code of its failure. */
const endOfRun = (world: World, { thread, id }: Run): Promise<string> =>
  world.until(async () => {
    const { run } = (await world.service.call('GET', `${thread}/runs/${id}`)).body;
    if (run.finishedAt === null) return false;
    return run.status === 'completed' ? 'completed' : String(run.error?.code ?? run.status);
  }, `the end of the run ${id}`);

/** Resolves when its agent has worked. */
const works = (world: World, { thread, mark }: Run): Promise<unknown> =>
  world.until(async () => linesOf(world, thread).some((line) => line.startsWith(mark)), 'the work of a run');

/** Where a thread works, as git tells of it. */
function worktreeOf(world: World, thread: string): string {
  const list = execFileSync('git', ['worktree', 'list', '--porcelain'], {
    cwd: world.folder,
    encoding: 'utf8',
  });
  const part = list
    .split('\n\n')
    .find((one) => one.includes(`branch refs/heads/headrace/${thread.slice(-6)}`));
  return /^worktree (.*)$/m.exec(part ?? '')![1]!;
}

function linesOf(world: World, thread: string): string[] {
  const file = join(worktreeOf(world, thread), 'count.txt');
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
}

/** No line doubled; of a completed run every line, and every tool with its output, once and in order. */
async function judge(world: World, { thread, id }: Run, status: string): Promise<string[]> {
  const failures: string[] = [];
  const lines = linesOf(world, thread);
  if (new Set(lines).size !== lines.length)
    failures.push(`${thread} has doubled lines: ${lines.slice(-12).join(' ')}`);
  if (status !== 'completed') return failures;
  const last = lines.slice(-BLOCKS);
  const mark = last[0]?.split('.')[0];
  if (last.some((line, i) => line !== `${mark}.${i}`))
    failures.push(`run ${id} has the lines ${last.join(' ')}`);
  const { tools } = (await world.service.call('GET', `${thread}/runs/${id}/tools`)).body;
  const told = (tools as { status: string }[]).map((tool) => [
    tool.status,
    /printed-\d+/.exec(JSON.stringify({ ...tool, input: undefined, title: undefined }))?.[0],
  ]);
  const wanted = Array.from({ length: BLOCKS }, (_, i) => ['completed', `printed-${i}`]);
  if (JSON.stringify(told) !== JSON.stringify(wanted))
    failures.push(`run ${id} told ${JSON.stringify(told)}`);
  return failures;
}

const writing = (value: number): string =>
  fenced(`for f in many/*.txt; do echo ${value} > $f; done; echo x${Date.now()}${value} >> count.txt`);

/** Two versions of many files, and a restore of the first that is under way. */
async function beginRestore(world: World, thread: string): Promise<Run> {
  const first = await begin(world, thread, writing(1));
  await endOfRun(world, first);
  await endOfRun(world, await begin(world, thread, writing(2)));
  const { checkpoints } = (await world.service.call('GET', `${thread}/checkpoints?limit=100`)).body;
  const at = (checkpoints as { id: string; runId: string }[]).find(({ runId }) => runId === first.id)!;
  const { body } = await world.service.call('POST', `${thread}/checkpoints/${at.id}/restore`, {});
  return { thread, id: body.result.runId as string, mark: '' };
}

function valuesIn(world: World, thread: string): Set<string> {
  const folder = join(worktreeOf(world, thread), 'many');
  return new Set(readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8').trim()));
}

/** After a restore whose host was killed, the worktree has one of the versions, and not both. */
async function killInRestore(world: World, setup: Setup, thread: string): Promise<string[]> {
  const run = await beginRestore(world, thread);
  await sleep(setup.random.below(400));
  await world.kill({ host: true });
  const status = await endOfRun(world, run);
  const values = valuesIn(world, thread);
  const isWhole = values.size === 1 && (status !== 'completed' || values.has('1'));
  return isWhole ? [] : [`the restore ${run.id} ended ${status} and left ${[...values].join(' and ')}`];
}

/** A worker that comes back late to a restore does not undo what was done since. */
async function stopInRestore(world: World, thread: string): Promise<string[]> {
  const stopping = world.stopAtPatch();
  // Its failure is reported where it is awaited.
  stopping.catch(() => {});
  const restore = await beginRestore(world, thread);
  const stopped = await stopping;
  const statuses = [await endOfRun(world, restore)];
  statuses.push(await endOfRun(world, await begin(world, thread, writing(3))));
  await stopped.goOn();
  const values = [...valuesIn(world, thread)];
  return statuses.every((status) => status === 'completed') && values.join() === '3'
    ? []
    : [`a restore and a run ended ${statuses.join(' and ')} and left ${values.join(' and ')}`];
}
