/**
 * `npm run torture`: injects faults into the real service and counts what was lost. Prints one line per
 * part; exits with 1 on any loss.
 *
 *   --only <part>     one part (may be repeated)
 *   --machines        the parts of many machines: they take servers from Debian's packages
 *   --hold            only starts three machines, prints how to reach them, and keeps them until Ctrl+C, to try things by
 *                     hand; its HEADRACE_… variables are those of the APIs and workers
 *   --seconds <n>     scales the work to about this duration (1500: the full counts)
 *   --short           each kind of fault once; the times of parts are not shortened
 *   --lanes <n>       parts that run at the same time (1); figures are comparable only with one; not of many machines
 *   --seed <n>        seeds the random choices: keys, victims, times (default: random, and printed)
 *   --dir <folder>    file system to work on (/dev/shm if it has room, else the system's temporary folder)
 *   --json            prints the report as JSON to stdout instead of the lines
 *   --write           updates docs/benchmarks/torture.md for the parts that were run
 */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runnerProgram } from '../../packages/runner/src/client/runner-program.ts';
import { helpOf } from '../harness/help.ts';
import { inLanes } from '../harness/lanes.ts';
import { loadNow, machineOf } from '../harness/machine.ts';
import { createRandom } from '../harness/random.ts';
import { MAIN, startService } from '../harness/service.ts';
import { FULL_SECONDS } from './lib/part.ts';
import type { Part, PartResult } from './lib/part.ts';
import { failureText, lineOf, markdown } from './lib/report.ts';
import type { Report, Result } from './lib/report.ts';
import { accessPart } from './access/index.ts';
import { appliesPart } from './applies/index.ts';
import { automationsPart } from './automations/index.ts';
import { clientEventsPart } from './client-events/index.ts';
import { cliPart } from './cli/index.ts';
import { clientPart } from './client/index.ts';
import { faultsPart } from './faults/index.ts';
import { hostsPart } from './hosts/index.ts';
import { logPart } from './log/index.ts';
import { lostRunnersPart } from './lost-runners/index.ts';
import { clocksPart } from './machines/clocks-part.ts';
import { fleetFailoverPart } from './machines/fleet-failover-part.ts';
import { failoverPart } from './machines/failover-part.ts';
import { hold } from './machines/hold.ts';
import { brokenLinksPart } from './machines/broken-links-part.ts';
import { fullDiskPart } from './machines/full-disk-part.ts';
import { lostNodesPart } from './machines/lost-nodes-part.ts';
import { partitionsPart } from './machines/partitions-part.ts';
import { replacedPart } from './machines/replaced-part.ts';
import { s3Part } from './machines/s3-index.ts';
import { strangersPart } from './machines/strangers-part.ts';
import { mergesPart } from './merges/index.ts';
import { postmasterPart } from './postmaster/index.ts';
import { receiptsPart } from './receipts/index.ts';
import { requestsPart } from './requests/index.ts';
import { reviewLoopPart } from './review-loop/index.ts';
import { scmPart } from './scm/index.ts';
import { upgradePart } from './upgrade/index.ts';
import { webhooksPart } from './webhooks/index.ts';

const PARTS: Part[] = [
  logPart,
  clientEventsPart,
  receiptsPart,
  clientPart,
  cliPart,
  postmasterPart,
  failoverPart,
  appliesPart,
  scmPart,
  reviewLoopPart,
  webhooksPart,
  automationsPart,
  requestsPart,
  accessPart,
  mergesPart,
  faultsPart,
  upgradePart,
  lostRunnersPart,
  hostsPart,
];
/** Run only where they are asked for: they install servers, or unpack them. */
const SHARED_MACHINES: Part[] = [
  lostNodesPart,
  brokenLinksPart,
  replacedPart,
  clocksPart,
  strangersPart,
  fullDiskPart,
  fleetFailoverPart,
];
/** Next to those that share three machines, one after the other: they wait for minutes, on machines of their own or none. */
const OWN_MACHINES: Part[] = [partitionsPart, s3Part];
const MACHINE_PARTS = [...SHARED_MACHINES, ...OWN_MACHINES];
const ALL_PARTS = [...PARTS, ...MACHINE_PARTS];
const START_SECONDS = 45;
const LEAST_SHARE = 0.01;
const LEAST_LIMIT_SECONDS = 180;

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    machines: { type: 'boolean', default: false },
    hold: { type: 'boolean', default: false },
    short: { type: 'boolean', default: false },
    seconds: { type: 'string', default: String(FULL_SECONDS) },
    lanes: { type: 'string', default: '1' },
    seed: { type: 'string' },
    dir: { type: 'string' },
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const whole = (name: 'seconds' | 'lanes' | 'seed', value: string) =>
  /^[1-9]\d{0,8}$/.test(value) ? Number(value) : refuse(`--${name} takes a whole number from 1`);

function refuse(why: string): never {
  console.error(why);
  process.exit(2);
}

if (options.help) {
  console.log(helpOf(import.meta.filename));
  console.log(`\nParts: ${ALL_PARTS.map(({ name, title }) => `\n  ${name.padEnd(12)} ${title}`).join('')}`);
  process.exit(0);
}
const unknown = options.only?.filter((name) => !ALL_PARTS.some((part) => part.name === name)) ?? [];
if (unknown.length)
  refuse(`There is no part ${unknown.join(', ')}: ${ALL_PARTS.map((part) => part.name).join(', ')}`);
const chosen = options.only
  ? ALL_PARTS.filter(({ name }) => options.only!.includes(name))
  : options.machines
    ? MACHINE_PARTS
    : PARTS;
const seconds = whole('seconds', options.seconds);
const lanes = whole('lanes', options.lanes);
const isWhole = options.machines && !options.only;
if (options.machines && lanes > 1) refuse('Parts of many machines share them: they take no --lanes');
const seed =
  options.seed === undefined ? 1 + Math.floor(Math.random() * 999_999) : whole('seed', options.seed);
/** Services must be started even for very little work. */
const share = Math.max(LEAST_SHARE, (seconds - START_SECONDS) / (FULL_SECONDS - START_SECONDS));

const MEMORY = '/dev/shm';
const MEMORY_LEAST_BYTES = 4 * 2 ** 30;

/** Memory where there is enough: the promises are the same on a slow disk, only later. */
function folder(): string {
  if (options.dir !== undefined) return resolve(options.dir);
  try {
    accessSync(MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= MEMORY_LEAST_BYTES ? MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}

const scratch = mkdtempSync(join(folder(), 'headrace-torture-'));
// Half of a start's work is reading its modules: kept, so that what is killed is soon back. Only a process
// that ends by itself writes it.
process.env.NODE_COMPILE_CACHE = join(scratch, 'modules');
// Each set of V8 flags has a cache of its own; a runner has --expose-gc.
for (const argv of [[MAIN], ['--expose-gc', await runnerProgram(scratch)]])
  spawnSync(process.execPath, [...argv, '--help'], { stdio: 'ignore', timeout: 60_000 });
type Ends = (() => Promise<void> | void)[];
/** What the parts under way clean up. */
const running = new Set<Ends>();

/** What the whole run cleans up. */
const wholeEnds: Ends = [];
running.add(wholeEnds);

async function cleanUp(ends: Ends): Promise<void> {
  running.delete(ends);
  for (const end of ends.splice(0).toReversed())
    await Promise.try(end).catch((error: unknown) => console.error(`  cleaning up: ${String(error)}`));
}

async function leave(why: string): Promise<void> {
  console.error(`\n${why}; cleaning up`);
  running.delete(wholeEnds);
  await Promise.all([...running].map(cleanUp));
  await cleanUp(wholeEnds);
  rmSync(scratch, { recursive: true, force: true });
  process.exit(1);
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void leave(signal));
process.once(
  'unhandledRejection',
  (error) => void leave(error instanceof Error ? (error.stack ?? error.message) : String(error)),
);

/** Runs a part within its time. What it throws is a failure of the part. */
async function torture(part: Part): Promise<PartResult> {
  const own = mkdtempSync(join(scratch, `${part.name}-`));
  const ends: Ends = [];
  running.add(ends);
  const limit = 3 * part.seconds * share + LEAST_LIMIT_SECONDS;
  const late = new AbortController();
  const { promise: isLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const error = new Error(`it did not end within ${limit.toFixed(0)} s`);
    late.abort(error);
    reject(error);
  }, limit * 1000);
  try {
    const result = part.run({
      scratch: own,
      say: (line) => process.stderr.write(`  ${lanes > 1 || isWhole ? `${part.name}: ` : ''}${line}\n`),
      signal: late.signal,
      random: createRandom(seed).fork(part.name),
      count: (full, least = 1) => (options.short ? least : Math.max(least, Math.round(full * share))),
      atEnd: (end) => {
        ends.push(end);
      },
      whole: {
        scratch,
        atEnd: (end) => {
          wholeEnds.push(end);
        },
      },
      async start(how = {}) {
        const service = await startService(own, how);
        ends.push(() => service.stop());
        return service;
      },
    });
    return await Promise.race([result, isLate]);
  } catch (error) {
    return {
      line: 'did not come to its end',
      figures: {},
      failures: [error instanceof Error ? (error.stack ?? error.message) : String(error)],
    };
  } finally {
    clearTimeout(timer);
    await cleanUp(ends);
    rmSync(own, { recursive: true, force: true });
  }
}

if (options.hold) await hold({ scratch, say: console.error, atEnd: (end) => void wholeEnds.push(end) });

const report: Report = {
  date: new Date().toISOString(),
  seed,
  seconds,
  isShort: options.short,
  machine: machineOf(scratch),
  results: [],
};
async function one(part: Part): Promise<void> {
  process.stderr.write(`${part.name}: ${part.title}\n`);
  const [before, from] = [loadNow(), performance.now()];
  const outcome = await torture(part);
  const result: Result = {
    name: part.name,
    title: part.title,
    ...outcome,
    took: (performance.now() - from) / 1000,
    load: [before, loadNow()],
  };
  report.results.push(result);
  if (!options.json) console.log(lineOf(result, seed));
  if (result.failures.length) console.error(failureText(result));
}
const queues = isWhole ? [SHARED_MACHINES, OWN_MACHINES] : [chosen];
await Promise.all(queues.map((parts) => inLanes(lanes, parts, one)));
await cleanUp(wholeEnds);
rmSync(scratch, { recursive: true, force: true });
if (options.json) console.log(JSON.stringify(report, null, 2));
const FIGURES = join(import.meta.dirname, '../../docs/benchmarks/torture.md');
if (options.write) writeFileSync(FIGURES, markdown(report, ALL_PARTS, readFileSync(FIGURES, 'utf8')));
process.exit(report.results.some((result) => result.failures.length) ? 1 : 0);
