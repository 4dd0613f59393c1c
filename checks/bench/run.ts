/**
 * `npm run bench`: measures the real service and prints a table.
 *
 *   --only <name>     one benchmark (may be repeated)
 *   --quick           few samples: to check that everything works
 *   --dir <folder>    file system to measure on (the system's temporary folder)
 *   --profile <dir>   CPU profiles of the service, one file per thread
 *   --write           rewrites docs/benchmarks/results.md; with --only, --out is required
 *   --out <file>      the file that --write writes
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { agentsBenchmark } from './benchmarks/agents.ts';
import { appliesBenchmark } from './benchmarks/applies.ts';
import { applyBenchmark } from './benchmarks/apply.ts';
import { buildBenchmark } from './benchmarks/build.ts';
import { cliBenchmark } from './benchmarks/cli.ts';
import { clientEventsBenchmark } from './benchmarks/client-events.ts';
import { clientBenchmark } from './benchmarks/client.ts';
import { commitsBenchmark } from './benchmarks/commits.ts';
import { consoleBenchmark } from './benchmarks/console.ts';
import { consoleLargeBenchmark } from './benchmarks/console-large.ts';
import { draftsBenchmark } from './benchmarks/drafts.ts';
import { environmentBenchmark } from './benchmarks/environment.ts';
import { setupBenchmark } from './benchmarks/setup.ts';
import { eventLagBenchmark } from './benchmarks/event-lag.ts';
import { eventLoopBenchmark } from './benchmarks/event-loop.ts';
import { fleetSeedsBenchmark } from './benchmarks/fleet-seeds.ts';
import { forkBenchmark } from './benchmarks/fork.ts';
import { gatewayBenchmark } from './benchmarks/gateway.ts';
import { gitHttpBenchmark } from './benchmarks/git-http.ts';
import { growthBenchmark } from './benchmarks/growth.ts';
import { idleSandboxesBenchmark } from './benchmarks/idle-sandboxes.ts';
import { idleStreamsBenchmark } from './benchmarks/idle-streams.ts';
import { importBenchmark } from './benchmarks/import.ts';
import { jobsBenchmark } from './benchmarks/jobs.ts';
import { machineLinkBenchmark } from './benchmarks/machine-link.ts';
import { manyMachinesBenchmark } from './benchmarks/many-machines.ts';
import { mergeBenchmark } from './benchmarks/merge.ts';
import { metricsBenchmark } from './benchmarks/metrics.ts';
import { placementBenchmark } from './benchmarks/placement.ts';
import { publishBenchmark } from './benchmarks/publish.ts';
import { pullRequestsBenchmark } from './benchmarks/pull-requests.ts';
import { pushBenchmark } from './benchmarks/push.ts';
import { readsBenchmark } from './benchmarks/reads.ts';
import { receiptsBenchmark } from './benchmarks/receipts.ts';
import { reviewLoopBenchmark } from './benchmarks/review-loop.ts';
import { repositoryWorkspaceBenchmark } from './benchmarks/repository-workspace.ts';
import { reopenBenchmark } from './benchmarks/reopen.ts';
import { repositoriesBenchmark } from './benchmarks/repositories.ts';
import { runBenchmark } from './benchmarks/run.ts';
import { sandboxBenchmark } from './benchmarks/sandbox.ts';
import { schedulesBenchmark } from './benchmarks/schedules.ts';
import { searchBenchmark } from './benchmarks/search.ts';
import { storageBenchmark } from './benchmarks/storage.ts';
import { threadsBenchmark } from './benchmarks/threads.ts';
import { webhooksBenchmark } from './benchmarks/webhooks.ts';
import { snapshotBenchmark } from './benchmarks/snapshot.ts';
import { workspaceBenchmark } from './benchmarks/workspace.ts';
import type { Benchmark, Outcome } from './lib/benchmark.ts';
import { helpOf } from '../harness/help.ts';
import { loadNow, machineOf } from '../harness/machine.ts';
import { consoleText, markdown } from './lib/report.ts';
import type { Report, Result } from './lib/report.ts';
import { startService } from '../harness/service.ts';

// This process starts sandboxes and git: the smaller it is, the faster they start.
const BENCHMARKS: Benchmark[] = [
  sandboxBenchmark,
  workspaceBenchmark,
  snapshotBenchmark,
  repositoryWorkspaceBenchmark,
  reopenBenchmark,
  repositoriesBenchmark,
  buildBenchmark,
  environmentBenchmark,
  setupBenchmark,
  idleSandboxesBenchmark,
  importBenchmark,
  pushBenchmark,
  runBenchmark,
  agentsBenchmark,
  gatewayBenchmark,
  threadsBenchmark,
  forkBenchmark,
  applyBenchmark,
  appliesBenchmark,
  mergeBenchmark,
  commitsBenchmark,
  gitHttpBenchmark,
  pullRequestsBenchmark,
  reviewLoopBenchmark,
  searchBenchmark,
  storageBenchmark,
  publishBenchmark,
  eventLagBenchmark,
  draftsBenchmark,
  webhooksBenchmark,
  schedulesBenchmark,
  jobsBenchmark,
  placementBenchmark,
  fleetSeedsBenchmark,
  manyMachinesBenchmark,
  machineLinkBenchmark,
  idleStreamsBenchmark,
  readsBenchmark,
  receiptsBenchmark,
  metricsBenchmark,
  eventLoopBenchmark,
  growthBenchmark,
  clientEventsBenchmark,
  clientBenchmark,
  cliBenchmark,
  consoleBenchmark,
  consoleLargeBenchmark,
];
const RUN_LIMIT_MS = 25 * 60_000;

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    quick: { type: 'boolean', default: false },
    dir: { type: 'string', default: tmpdir() },
    profile: { type: 'string' },
    write: { type: 'boolean', default: false },
    out: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (options.help) {
  console.log(helpOf(import.meta.filename));
  console.log(
    `\nBenchmarks: ${BENCHMARKS.map(({ name, title }) => `\n  ${name.padEnd(16)} ${title}`).join('')}`,
  );
  process.exit(0);
}
const chosen = BENCHMARKS.filter(({ name }) => options.only?.includes(name) ?? true);
const unknown = options.only?.filter((name) => !BENCHMARKS.some((b) => b.name === name)) ?? [];
if (unknown.length || (options.write && !options.out && chosen.length < BENCHMARKS.length)) {
  console.error(
    unknown.length
      ? `There is no benchmark ${unknown.join(', ')}: ${BENCHMARKS.map((b) => b.name).join(', ')}`
      : '--write needs a run of all benchmarks, or another file: --out <file>',
  );
  process.exit(2);
}

const scratch = mkdtempSync(join(resolve(options.dir), 'headrace-bench-'));
const ends: (() => Promise<void> | void)[] = [];
const say = (line: string) => process.stderr.write(`  ${line}\n`);

let isLeaving = false;

async function cleanUp(): Promise<void> {
  for (let end = ends.pop(); end; end = ends.pop())
    await Promise.try(end).catch((error: unknown) => say(`cleaning up: ${String(error)}`));
}

async function leave(why: string): Promise<void> {
  console.error(`\n${why}; cleaning up`);
  isLeaving = true;
  await cleanUp();
  rmSync(scratch, { recursive: true, force: true });
  process.exit(1);
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void leave(signal));
setTimeout(() => void leave('The run took longer than 25 minutes'), RUN_LIMIT_MS).unref();

async function measure(benchmark: Benchmark): Promise<Outcome> {
  const profile = options.profile
    ? ['--cpu-prof', '--cpu-prof-dir', join(resolve(options.profile), benchmark.name)]
    : [];
  const own = mkdtempSync(join(scratch, `${benchmark.name}-`));
  try {
    return await benchmark.run({
      scratch: own,
      quick: options.quick,
      say,
      atEnd: (end) => {
        ends.push(end);
      },
      async start(how = {}) {
        const service = await startService(own, { ...how, nodeArgs: [...profile, ...(how.nodeArgs ?? [])] });
        ends.push(() => service.stop());
        return service;
      },
    });
  } finally {
    // The clean-up takes away what the benchmark runs on, so it fails; the process ends after the clean-up.
    if (isLeaving) await new Promise(() => {});
    await cleanUp();
  }
}

const report: Report = {
  date: new Date().toISOString(),
  quick: options.quick,
  machine: machineOf(scratch),
  results: [],
  failures: [],
};
for (const benchmark of chosen) {
  process.stderr.write(`${benchmark.name}: ${benchmark.title}\n`);
  const [before, from] = [loadNow(), performance.now()];
  try {
    const outcome = await measure(benchmark);
    const result: Result = {
      name: benchmark.name,
      title: benchmark.title,
      ...outcome,
      seconds: (performance.now() - from) / 1000,
      load: [before, loadNow()],
    };
    report.results.push(result);
    console.log(`\n${consoleText(result)}\n`);
  } catch (error) {
    report.failures.push({ name: benchmark.name, message: String(error) });
    console.error(`${benchmark.name} failed: ${error instanceof Error ? error.stack : String(error)}`);
  }
}
rmSync(scratch, { recursive: true, force: true });
const results = join(import.meta.dirname, 'results');
mkdirSync(results, { recursive: true });
writeFileSync(
  join(results, `${report.date.replaceAll(':', '-')}.json`),
  `${JSON.stringify(report, null, 2)}\n`,
);
if (options.write) {
  const file = resolve(options.out ?? join(import.meta.dirname, '../../docs/benchmarks/results.md'));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${markdown(report).trimEnd()}\n`);
}
process.exit(report.failures.length ? 1 : 0);
