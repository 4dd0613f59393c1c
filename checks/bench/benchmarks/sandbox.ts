/**
 * What starting a sandbox costs: from the request to the confirmed end of a command that does nothing,
 * compared with the same command without a sandbox.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { CANDIDATES, packagesOf, startEngine } from '../../drivers/engines.ts';
import type { Candidate } from '../../drivers/engines.ts';
import type { Benchmark, Outcome, Row, Setup } from '../lib/benchmark.ts';
import { openSandboxes, runBwrap, runPlain } from '../lib/sandboxes.ts';
import type { Started } from '../lib/sandboxes.ts';
import { summarize } from '../../harness/statistics.ts';

/** Waiting launches are made again 30 ms after one was taken, one at a time. */
const REFILLED_MS = 150;
const WARM_UP = 3;

interface Way {
  what: string;
  run(command: string[]): Promise<Started>;
}

export const sandboxBenchmark: Benchmark = {
  name: 'sandbox',
  title: 'Start of a sandbox',
  async run(setup): Promise<Outcome> {
    const sandboxes = await openSandboxes(setup.scratch, { driver: 'bubblewrap' });
    setup.atEnd(() => sandboxes.close());
    const ways: Way[] = [
      { what: 'bubblewrap', run: (command) => sandboxes.run(command) },
      { what: 'bubblewrap, no launch waiting', run: (command) => sandboxes.run(command, true) },
      { what: 'bwrap by hand, the same arguments', run: (command) => runBwrap(sandboxes, command) },
      { what: 'plain process of the host', run: runPlain },
    ];
    const { rows, median } = await inTurns(setup, ways, setup.quick ? 5 : 40);
    const leftOut: string[] = [];
    for (const candidate of CANDIDATES.filter(({ engine }) => engine))
      rows.push(
        ...(await byEngine(setup, candidate).catch((error: Error) => {
          leftOut.push(`${candidate.name} (${error.message.slice(0, 200)})`);
          return [];
        })),
      );
    if (leftOut.length > 0) setup.say(`left out: ${leftOut.join(', ')}`);
    return {
      rows,
      aims: [{ what: 'bubblewrap, start to end, p50', bound: 'most', limit: 25, value: median, unit: 'ms' }],
      notes: [
        `/bin/true until it ended, and /bin/echo until its first byte was read; the four ways in turns. The end of a sandbox is confirmed: its init is reaped and its control group is empty and removed. ${REFILLED_MS} ms pass before each start, so that launches are warm again: a task that comes sooner after two others finds none. By hand, there is no control group, no rlimit and no shell in between. The benchmark's own process starts all of them; its size is ${Math.round(process.memoryUsage.rss() / 2 ** 20)} MiB.${leftOut.length > 0 ? ` Left out: ${leftOut.join(', ')}.` : ''}`,
      ],
    };
  },
};

/** The same by the container driver, on an engine that is started for it. Throws why it cannot be. */
async function byEngine(setup: Setup, candidate: Candidate): Promise<Row[]> {
  const [refusal, packages] = [candidate.refuses?.() ?? null, packagesOf(candidate)];
  if (refusal !== null || packages.length > 0)
    throw new Error(refusal ?? `not installed: ${packages.join(' ')}`);
  const { socket, end } = await startEngine(candidate);
  setup.atEnd(end);
  const containers = await openSandboxes(setup.scratch, {
    driver: 'container',
    socket,
    runtime: candidate.runtime ?? null,
  });
  setup.atEnd(() => containers.close());
  return (
    await inTurns(
      setup,
      [{ what: `container, ${candidate.name}`, run: (command) => containers.run(command) }],
      setup.quick ? 2 : 8,
    )
  ).rows;
}

async function inTurns(
  { say }: Setup,
  ways: Way[],
  rounds: number,
): Promise<{ rows: Row[]; median: number }> {
  const rows: Row[] = [];
  const samples = ways.map(() => ({ gone: [] as number[], first: [] as number[] }));
  for (let round = -WARM_UP; round < rounds; round++) {
    for (const [i, way] of ways.entries()) {
      await sleep(REFILLED_MS);
      const { gone } = await way.run(['/bin/true']);
      await sleep(REFILLED_MS);
      const { first } = await way.run(['/bin/echo', 'ready']);
      if (first === null) throw new Error(`${way.what} printed nothing`);
      if (round < 0) continue;
      samples[i]!.gone.push(gone);
      samples[i]!.first.push(first);
    }
  }
  for (const [i, { what }] of ways.entries())
    rows.push({
      what: `${what}: start → ended, nothing left`,
      unit: 'ms',
      figures: summarize(samples[i]!.gone),
    });
  for (const [i, { what }] of ways.entries())
    rows.push({ what: `${what}: start → first byte`, unit: 'ms', figures: summarize(samples[i]!.first) });
  say(`${ways[0]!.what}: ${summarize(samples[0]!.gone).median.toFixed(1)} ms`);
  return { rows, median: summarize(samples[0]!.gone).median };
}
