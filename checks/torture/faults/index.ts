/**
 * Whole tables of faults: every step of archiving, restoring, commands, runs, applies and repairs by every
 * way to fail at it. `npm test` runs a fixed slice of the same rows (packages/server/src/fault-tables.fixture.ts).
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Part, PartResult, Setup } from '../lib/part.ts';
import { TABLES } from './tables.ts';

const ROOT = join(import.meta.dirname, '../../..');

/** What is used of vitest's JSON report. */
interface Report {
  numPassedTests: number;
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: { status: string; fullName: string; failureMessages: string[] }[];
  }[];
}

export const faultsPart: Part = {
  name: 'faults',
  title: 'Every step of the work on threads and applies comes to its end, whatever fails at it',
  seconds: 240,
  async run(setup) {
    // A short run has none: `npm test` has run its slice of them.
    const from = setup.random.below(TABLES.length);
    const tables = [...TABLES.slice(from), ...TABLES.slice(0, from)].slice(0, setup.count(TABLES.length, 0));
    const report = tables.length === 0 ? null : await runTables(setup, tables);
    const failures = report === null ? [] : failuresOf(report);
    const cases = report?.numPassedTests ?? 0;
    return {
      line: `${cases} cases of ${tables.length} of ${TABLES.length} tables: ${failures.length} failed`,
      figures: { tables: tables.length, cases, failed: failures.length },
      failures,
    } satisfies PartResult;
  },
};

async function runTables({ scratch, signal }: Setup, tables: readonly string[]): Promise<Report> {
  const report = join(scratch, 'report.json');
  const child = spawn(
    process.execPath,
    [
      join(ROOT, 'node_modules/.bin/vitest'),
      'run',
      `--config=${join(import.meta.dirname, 'vitest.config.ts')}`,
      '--reporter=json',
      `--outputFile=${report}`,
      ...tables,
    ],
    { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'], signal },
  );
  await once(child, 'close');
  return JSON.parse(readFileSync(report, 'utf8')) as Report;
}

/** A file that could not be loaded is one failure. */
const failuresOf = ({ testResults }: Report): string[] =>
  testResults.flatMap(({ name, status, message, assertionResults }) =>
    status === 'failed' && assertionResults.length === 0
      ? [`${name}: ${message}`]
      : assertionResults
          .filter((test) => test.status === 'failed')
          .map((test) => `${test.fullName}: ${test.failureMessages.join('\n')}`),
  );
