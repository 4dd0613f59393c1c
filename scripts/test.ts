/**
 * `npm test [-- <arguments of vitest>]`: formatting, lint, structure, the API document and types at the same time, then
 * tests, all of them even when one fails. `npm run test:ci` also runs the longest tests, opens every page of the console in
 * a browser, checks the Helm chart, and ends with a short torture. A file that fails beside the others runs once more by
 * itself; one that passes then is named. Ends with the counts alone on a line.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, relative, resolve } from 'node:path';

const root = join(import.meta.dirname, '..');
const bin = join(root, 'node_modules/.bin');
const MINUTE_MS = 60_000;

interface Step {
  name: string;
  /** One of node_modules' commands, or a script by its path, and its arguments. */
  argv: string[];
  limitMinutes: number;
}

interface Outcome {
  name: string;
  /** `ok`, or how it failed. */
  end: string;
  seconds: number;
}

const CHECKS: Step[] = [
  { name: 'format', argv: ['oxfmt', '--check', '.'], limitMinutes: 2 },
  { name: 'lint', argv: ['oxlint', '--type-aware', '--deny-warnings'], limitMinutes: 5 },
  { name: 'structure', argv: [join(root, 'checks/structure/run.ts')], limitMinutes: 2 },
  { name: 'document', argv: ['redocly', 'lint', 'openapi.json'], limitMinutes: 2 },
  { name: 'client', argv: [join(root, 'packages/client/generator/main.ts'), '--check'], limitMinutes: 2 },
  { name: 'commands', argv: [join(root, 'packages/cli/generator/main.ts'), '--check'], limitMinutes: 2 },
  // With several checkers, each also checks the other files that it needs: four take twice the CPU time.
  { name: 'types', argv: ['tsc', '-p', 'tsconfig.json', '--checkers', '1'], limitMinutes: 5 },
  { name: 'console', argv: ['tsc', '-p', 'packages/console', '--checkers', '1'], limitMinutes: 5 },
];

/** What takes too long for a change at a desk. */
const isWhole = process.argv[2] === '--whole';
const given = process.argv.slice(isWhole ? 3 : 2);
const isSome = !isWhole && given.length === 0;

const started = performance.now();
const scratch = mkdtempSync(join(tmpdir(), 'headrace-test-'));
/** More failing files than these are no accident of a busy machine. */
const MOST_AGAIN = 5;

const vitest = (name: string, report: string, argv: string[]): Step => ({
  name,
  argv: ['vitest', 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...argv],
  limitMinutes: 60,
});
const report = join(scratch, 'report.json');
// Who names files may name those in a browser.
const tests = vitest('tests', report, [...(isSome ? ['--project', '!console'] : []), ...given]);
const chart: Step = {
  name: 'chart',
  argv: [join(root, 'checks/deploy/chart/run.ts')],
  limitMinutes: 10,
};
const torture: Step = {
  name: 'torture',
  // Parts spend half of their time waiting.
  argv: [join(root, 'checks/torture/run.ts'), '--seconds', '45', '--lanes', '2'],
  limitMinutes: 10,
};

const outcomes = await Promise.all(CHECKS.map(runQuietly));
announce('tests');
const { result, onlyBesideOthers } = await test();
outcomes.push(result);
const { passed, failed } = result;
for (const step of isWhole ? [chart, torture] : []) {
  announce(step.name);
  outcomes.push(await run(step, 'inherit'));
}
rmSync(scratch, { recursive: true, force: true });
for (const { name, end, seconds } of outcomes)
  process.stdout.write(`\n${name.padEnd(9)} ${end} (${seconds.toFixed(1)} s)`);
for (const failure of result.failures) process.stdout.write(`\nfailed: ${failure}`);
for (const file of onlyBesideOthers)
  process.stdout.write(`\nfailed beside others and passed by itself: ${file}`);
process.stdout.write(
  `\n${'total'.padEnd(9)} ${secondsSince(started)} s\n${passed} passed, ${failed} failed\n`,
);
process.exitCode = outcomes.every(({ end }) => end === 'ok') && failed === 0 && passed > 0 ? 0 : 1;

function announce(name: string): void {
  process.stdout.write(`\n== ${name}, after ${secondsSince(started)} s\n`);
}

/** Runs the tests, and a few files that failed once more, one after the other. */
async function test(): Promise<{ result: Outcome & Counts; onlyBesideOthers: string[] }> {
  const first = { ...(await run(tests, 'inherit')), ...countsOf(report) };
  const { files } = first;
  if (files.length === 0 || files.length > MOST_AGAIN) return { result: first, onlyBesideOthers: [] };
  announce('tests that failed');
  const again = join(scratch, 'again.json');
  const second = await run(vitest('tests', again, ['--maxWorkers', '1', ...files]), 'inherit');
  const counts = countsOf(again);
  return {
    result: {
      ...second,
      seconds: first.seconds + second.seconds,
      ...counts,
      passed: first.passed + first.failed - counts.failed,
    },
    onlyBesideOthers: files.filter((file) => !counts.files.includes(file)),
  };
}

function secondsSince(from: number): string {
  return ((performance.now() - from) / 1000).toFixed(1);
}

/** Runs a step and prints what it says when it has ended, apart from what others say meanwhile. */
async function runQuietly(step: Step): Promise<Outcome> {
  const said: Buffer[] = [];
  const outcome = await run(step, (part) => said.push(part));
  process.stdout.write(`\n== ${step.name}: ${outcome.end}\n${Buffer.concat(said).toString()}`);
  return outcome;
}

/** Runs a step under this Node. Its output is this process's, or goes to a function. */
function run(
  { name, argv: [command, ...args], limitMinutes }: Step,
  output: 'inherit' | ((part: Buffer) => void),
): Promise<Outcome> {
  const from = performance.now();
  const child = spawn(process.execPath, [resolve(bin, command!), ...args], {
    cwd: root,
    env: {
      ...process.env,
      ...(isSome ? { HEADRACE_TESTS: 'some' } : {}),
      REDOCLY_TELEMETRY: 'off',
      REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
      PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}`,
    },
    stdio: output === 'inherit' ? 'inherit' : ['ignore', 'pipe', 'pipe'],
    timeout: limitMinutes * MINUTE_MS,
  });
  if (output !== 'inherit') for (const pipe of [child.stdout!, child.stderr!]) pipe.on('data', output);
  return new Promise((done) => {
    const finish = (end: string) => done({ name, end, seconds: (performance.now() - from) / 1000 });
    child.once('error', (error) => finish(error.message));
    child.once('close', (code, signal) => finish(code === 0 ? 'ok' : `FAILED (${signal ?? `exit ${code}`})`));
  });
}

interface Counts {
  passed: number;
  failed: number;
  /** Paths of files with failures. */
  files: string[];
  /** Each failed test: its file, its name and the first line of what it says. */
  failures: string[];
}

/**
 * Test counts of vitest's report. A file that could not even be loaded counts as one failure, and so does a
 * run that ended before its tests.
 */
function countsOf(path: string): Counts {
  try {
    const { success, numPassedTests, numFailedTests, testResults } = JSON.parse(
      readFileSync(path, 'utf8'),
    ) as {
      success: boolean;
      numPassedTests: number;
      numFailedTests: number;
      testResults: {
        name: string;
        status: string;
        message: string;
        assertionResults: { fullName: string; status: string; failureMessages: string[] }[];
      }[];
    };
    const failing = testResults.filter((file) => file.status === 'failed');
    const unloaded = failing.filter((file) => file.assertionResults.length === 0).length;
    const failed = numFailedTests + unloaded || (success ? 0 : 1);
    const failures = failing.flatMap(({ name, message, assertionResults }) => {
      const tests = assertionResults.filter((one) => one.status === 'failed');
      const said = tests.map((one) => `${one.fullName}: ${one.failureMessages[0]}`);
      return (said.length > 0 ? said : [message]).map(
        (text) => `${relative(root, name)}: ${text.split('\n', 1)[0]}`,
      );
    });
    return {
      passed: numPassedTests,
      failed,
      files: failing.map(({ name }) => relative(root, name)),
      failures,
    };
  } catch {
    return { passed: 0, failed: 1, files: [], failures: [] };
  }
}
