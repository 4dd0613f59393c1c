/**
 * `npm test`: lint, the API document, types, tests and a short torture, all of them even when one fails;
 * ends with the counts alone on a line.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, join, resolve } from 'node:path';

const root = join(import.meta.dirname, '..');
const bin = join(root, 'node_modules/.bin');
const scratch = mkdtempSync(join(tmpdir(), 'headrace-test-'));
const report = join(scratch, 'report.json');

const steps: { name: string; argv: string[]; limitMinutes: number }[] = [
  { name: 'format', argv: ['oxfmt', '--check', '.'], limitMinutes: 2 },
  { name: 'lint', argv: ['oxlint', '--type-aware', '--deny-warnings'], limitMinutes: 5 },
  { name: 'document', argv: ['redocly', 'lint', 'openapi.json'], limitMinutes: 2 },
  { name: 'types', argv: ['tsc', '-p', 'tsconfig.json'], limitMinutes: 5 },
  {
    name: 'tests',
    argv: [
      'vitest',
      'run',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
      ...process.argv.slice(2),
    ],
    limitMinutes: 30,
  },
  { name: 'torture', argv: [join(root, 'checks/torture/run.ts'), '--seconds', '85'], limitMinutes: 10 },
];

const summary: string[] = [];
let failedSteps = 0;
for (const { name, argv, limitMinutes } of steps) {
  process.stdout.write(`\n== ${name}: ${basename(argv[0]!)}\n`);
  const started = performance.now();
  const end = await run(argv, limitMinutes * 60_000);
  if (end !== 'ok') failedSteps++;
  summary.push(`${name.padEnd(8)} ${end} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
}
const { passed, failed } = counts();
rmSync(scratch, { recursive: true, force: true });
process.stdout.write(`\n${summary.join('\n')}\n${passed} passed, ${failed} failed\n`);
process.exitCode = failedSteps === 0 && failed === 0 && passed > 0 ? 0 : 1;

/** Runs one of node_modules' commands, or a script by its path, under this Node: `ok`, or how it ended. */
function run([command, ...args]: string[], milliseconds: number): Promise<string> {
  const env = {
    ...process.env,
    REDOCLY_TELEMETRY: 'off',
    REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
    PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}`,
  };
  const child = spawn(process.execPath, [resolve(bin, command!), ...args], {
    cwd: root,
    env,
    stdio: 'inherit',
    timeout: milliseconds,
  });
  return new Promise((done) => {
    child.once('error', (error) => done(error.message));
    child.once('close', (code, signal) => done(code === 0 ? 'ok' : `FAILED (${signal ?? `exit ${code}`})`));
  });
}

/**
 * Test counts of vitest's report. A file that could not even be loaded, or a run that did not come to its
 * tests, counts as one failure.
 */
function counts(): { passed: number; failed: number } {
  try {
    const result = JSON.parse(readFileSync(report, 'utf8')) as {
      success: boolean;
      numPassedTests: number;
      numFailedTests: number;
      testResults: { status: string; assertionResults: unknown[] }[];
    };
    const unloaded = result.testResults.filter(
      (file) => file.status === 'failed' && file.assertionResults.length === 0,
    ).length;
    const failed = result.numFailedTests + unloaded;
    return { passed: result.numPassedTests, failed: failed || (result.success ? 0 : 1) };
  } catch {
    return { passed: 0, failed: 1 };
  }
}
