/**
 * `npm run test:drivers`: starts each container engine that this machine has, with all of its files in a
 * temporary folder, and tests each driver for what the runner relies on (checks/drivers/vitest.config.ts).
 * Prints one line per driver: passed, FAILED, or NOT TESTED and what to install. Not part of `npm test`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CANDIDATES, packagesOf, startEngine, type Candidate, type Started } from './engines.ts';
import { sweepDeadRunners } from '../../packages/runner/src/sandbox/host.ts';

const HELP = `npm run test:drivers -- [--only NAME]... [--install] [--json] [vitest's filters]

Tests every sandbox driver that can run here: ${CANDIDATES.map(({ name }) => name).join(', ')}.
  --only NAME   test only this driver; may be repeated
  --install     as root: install missing packages with apt-get
  --json        print one JSON document to stdout instead of lines
Exits with 1 if a driver fails a test or no driver could be tested.`;
const TESTS_MS = 30 * 60_000,
  END_MS = 10_000,
  SAID_CHARACTERS = 20_000,
  SETTLE_MS = 500;

/** The message of a driver's probe whose sandboxes do not isolate (packages/runner/src/sandbox/probe.ts). */
const NO_PROBE = /the sandbox does not (isolate|start):/;

interface Outcome {
  name: string;
  status: 'passed' | 'failed' | 'not tested';
  passed: number;
  failed: string[];
  skipped: number;
  seconds: number;
  reason: string | null;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    help: { type: 'boolean' },
    json: { type: 'boolean' },
    install: { type: 'boolean' },
    only: { type: 'string', multiple: true },
  },
});
const root = join(import.meta.dirname, '../..');
const vitest = join(root, 'node_modules/.bin/vitest');
const say = (line: string): void => {
  process[values.json ? 'stderr' : 'stdout'].write(`${line}\n`);
};

/** Ctrl-C and SIGTERM end the tests and their engine first, in the same order as any other run. */
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort());

if (values.help) say(HELP);
else await main();

async function main(): Promise<void> {
  const unknown =
    values.only?.filter((name) => !CANDIDATES.some((candidate) => candidate.name === name)) ?? [];
  if (unknown.length > 0)
    throw new RangeError(
      `There is no driver ${unknown.join(', ')}; there are ${CANDIDATES.map(({ name }) => name).join(', ')}.`,
    );
  const outcomes: Outcome[] = [];
  for (const candidate of CANDIDATES.filter(({ name }) => values.only?.includes(name) ?? true)) {
    const outcome = await tried(candidate);
    if (stop.signal.aborted) {
      say(`${candidate.name.padEnd(16)} interrupted`);
      break;
    }
    outcomes.push(outcome);
    say(lineOf(outcome));
  }
  if (values.json) process.stdout.write(`${JSON.stringify(outcomes, null, 2)}\n`);
  process.exitCode =
    stop.signal.aborted ||
    outcomes.some(({ status }) => status === 'failed') ||
    outcomes.every(({ status }) => status !== 'passed')
      ? 1
      : 0;
}

async function tried(candidate: Candidate): Promise<Outcome> {
  const refusal = candidate.refuses?.() ?? missing(candidate);
  if (refusal !== null) return notTested(candidate, refusal);
  let engine: Started;
  try {
    engine = await startEngine(candidate, stop.signal);
  } catch (error) {
    return notTested(candidate, (error as Error).message);
  }
  try {
    return await tests(candidate, engine.socket);
  } finally {
    await engine.end();
  }
}

/** What has to be installed, in a sentence; null: nothing. */
function missing(candidate: Candidate): string | null {
  let packages = packagesOf(candidate);
  if (packages.length > 0 && values.install && process.getuid?.() === 0) {
    say(`Installing ${packages.join(' ')}`);
    spawnSync(
      'sh',
      [
        '-c',
        'apt-get update -qq && exec apt-get install -y -qq --no-install-recommends "$@"',
        'sh',
        ...packages,
      ],
      {
        env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
        stdio: ['ignore', 'ignore', 'inherit'],
        timeout: TESTS_MS,
      },
    );
    packages = packagesOf(candidate);
  }
  return packages.length === 0
    ? null
    : `not installed: apt-get install ${packages.join(' ')}${values.install ? ' (which failed)' : ', or --install as root'}`;
}

async function tests(candidate: Candidate, socket: string | null): Promise<Outcome> {
  const { name, runtime } = candidate;
  const scratch = mkdtempSync(join(tmpdir(), 'headrace-test-')),
    report = join(scratch, 'report.json');
  const as =
    candidate.uid === undefined
      ? []
      : ['setpriv', `--reuid=${candidate.uid}`, `--regid=${candidate.uid}`, '--clear-groups', '--'];
  if (candidate.uid !== undefined) chownSync(scratch, candidate.uid, candidate.uid);
  const choice =
    socket === null ? { driver: 'bubblewrap' } : { driver: 'container', socket, runtime: runtime ?? null };
  const env = {
    ...process.env,
    ...(candidate.uid !== undefined && { HOME: scratch, TMPDIR: scratch }),
    HEADRACE_TEST_ENGINES: JSON.stringify([{ name, choice }]),
    NO_COLOR: '1',
  };
  const startedAt = performance.now();
  try {
    // By default the configuration is bundled in its own folder, where another user may not write.
    const { isOk, said } = await ranOut(
      [
        ...as,
        process.execPath,
        vitest,
        'run',
        '--configLoader',
        'runner',
        '--config',
        'checks/drivers/vitest.config.ts',
        '--reporter=default',
        '--reporter=json',
        `--outputFile.json=${report}`,
        ...positionals,
      ],
      env,
    );
    const found = counts(report, isOk);
    if (candidate.mayNotIsolate && found.failed.some((line) => NO_PROBE.test(line)))
      return notTested(
        candidate,
        `it does not pass the probe, so that nothing would run: ${found.failed[0]!.replace(/^\S+: /, '')}`,
      );
    if (found.status === 'failed' && !stop.signal.aborted) process.stderr.write(`${said}\n`);
    return { name, ...found, seconds: Math.round((performance.now() - startedAt) / 1000) };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
    sweepDeadRunners();
  }
}

/**
 * Runs the tests in their own process group and leaves none of it running, however they end. Returns the end
 * of their output.
 */
async function ranOut(
  [program, ...args]: string[],
  env: NodeJS.ProcessEnv,
): Promise<{ isOk: boolean; said: string }> {
  const child = spawn(program!, args, { cwd: root, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const kill = (signal: NodeJS.Signals): void => {
    try {
      process.kill(-child.pid!, signal);
    } catch {
      /* none left */
    }
  };
  const end = (): void => {
    kill('SIGTERM');
    setTimeout(() => kill('SIGKILL'), END_MS).unref();
  };
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => {
      said = (said + part).slice(-SAID_CHARACTERS);
    });
  const timer = setTimeout(end, TESTS_MS);
  stop.signal.addEventListener('abort', end);
  if (stop.signal.aborted) end();
  try {
    return await new Promise((resolve) => {
      child
        .once('error', (error) => resolve({ isOk: false, said: error.message }))
        .once('exit', (code) => {
          kill('SIGKILL');
          setTimeout(() => resolve({ isOk: code === 0, said }), SETTLE_MS);
        });
    });
  } finally {
    clearTimeout(timer);
    stop.signal.removeEventListener('abort', end);
  }
}

/**
 * The counts of vitest's report. A file that could not be loaded, a missing report, and an exit that the
 * report does not explain (an error outside the tests) are failures.
 */
function counts(
  report: string,
  isOk: boolean,
): Pick<Outcome, 'status' | 'passed' | 'failed' | 'skipped' | 'reason'> {
  try {
    const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
      testResults: {
        name: string;
        status: string;
        message: string;
        assertionResults: { status: string; fullName: string; failureMessages: string[] }[];
      }[];
    };
    const all = testResults.flatMap((file) => file.assertionResults);
    const failed = [
      ...testResults
        .filter((file) => file.status === 'failed' && file.assertionResults.length === 0)
        .map((file) => `${file.name}: ${file.message}`),
      ...all
        .filter(({ status }) => status === 'failed')
        .map(({ fullName, failureMessages }) => `${fullName}: ${failureMessages[0]?.split('\n')[0] ?? ''}`),
    ];
    if (failed.length === 0 && !isOk) failed.push('the tests passed, and something beside them failed');
    const passed = all.filter(({ status }) => status === 'passed').length;
    return {
      status: failed.length === 0 && passed > 0 ? 'passed' : 'failed',
      passed,
      failed,
      skipped: all.filter(({ status }) => status !== 'passed' && status !== 'failed').length,
      reason: null,
    };
  } catch {
    return { status: 'failed', passed: 0, failed: ['the tests came to no end'], skipped: 0, reason: null };
  }
}

function notTested({ name }: Candidate, reason: string): Outcome {
  return { name, status: 'not tested', passed: 0, failed: [], skipped: 0, seconds: 0, reason };
}

function lineOf({ name, status, passed, failed, skipped, seconds, reason }: Outcome): string {
  if (status === 'not tested') return `${name.padEnd(16)} NOT TESTED: ${reason}`;
  const sums = `${passed} passed, ${failed.length} failed, ${skipped} skipped, ${seconds} s`;
  return `${name.padEnd(16)} ${status === 'passed' ? 'passed' : 'FAILED'} (${sums})${failed.map((line) => `\n  - ${line}`).join('')}`;
}
