/** A part of `npm run lint`: prints the figures of the code's structure; exit 1 when one is over its bound. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { importCircles, importGraph, lineLengthQuantile, tablesOf, tableWriters } from './figures.ts';

const HELP = `node checks/structure/run.ts [--json]

Measures the non-test .ts and .tsx files under packages/ and ends with 1 when a figure is over its bound:
line lengths, circles of imports (types count), and tables that more than one domain writes.
  --json   one JSON document on stdout`;

const ROOT = join(import.meta.dirname, '../..');
const SERVER = 'packages/server/src/';
const MAX_LINE_P90 = 100;
/** Receipts and the outbox are written at commit as well: db/transaction.ts. */
const SHARED_TABLES = new Set(['operations', 'outbox']);
/** Fewer files than this mean that the measurement itself is broken. */
const LEAST_FILES = 500;

/** What package names in imports stand for: the workspaces' `exports`. */
const ALIASES = new Map(
  ['runner', 'server', 'client', 'agent', 'cli'].flatMap((name) => {
    const { exports = {} } = JSON.parse(
      readFileSync(join(ROOT, `packages/${name}/package.json`), 'utf8'),
    ) as { exports?: Record<string, string> };
    return Object.entries(exports).map(([from, to]): [string, string] => [
      join(`@headrace/${name}`, from),
      join(`packages/${name}`, to),
    ]);
  }),
);

const { values } = parseArgs({ options: { json: { type: 'boolean' }, help: { type: 'boolean' } } });
if (values.help) process.stdout.write(`${HELP}\n`);
else measure();

function measure(): void {
  const files = sourceFiles();
  const circles = importCircles(importGraph(files, ALIASES));
  const writers = tableWriters(files, SERVER, tables());
  const shared = [...writers].filter(([, domains]) => domains.size > 1);
  const p90 = lineLengthQuantile(files, 0.9);
  const faults = [
    ...(files.size < LEAST_FILES ? [`only ${files.size} files were found`] : []),
    ...(p90 > MAX_LINE_P90 ? [`90% of the lines have up to ${p90} columns, more than ${MAX_LINE_P90}`] : []),
    ...circles.map((circle) => `${circle.length} files import each other in a circle: ${circle.join(', ')}`),
    ...shared
      .filter(([table]) => !SHARED_TABLES.has(table))
      .map(([table, domains]) => `${table} is written by ${[...domains.values()].flat().sort().join(', ')}`),
  ];
  const figures = {
    files: files.size,
    lineP90: p90,
    lineMax: lineLengthQuantile(files, 1 - Number.EPSILON),
    circles,
    writtenTables: writers.size,
    sharedTables: shared.map(([table]) => table),
    faults,
  };
  process.exitCode = faults.length ? 1 : 0;
  process.stdout.write(values.json ? `${JSON.stringify(figures, null, 2)}\n` : describe(figures));
}

/** Text of the non-test files under packages/ that git knows or would add. */
function sourceFiles(): Map<string, string> {
  const names = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'packages'], { cwd: ROOT })
    .toString()
    .split('\n')
    .filter((name) => /\.tsx?$/.test(name) && !/\.(test|fixture)\.tsx?$/.test(name))
    .filter((name) => existsSync(join(ROOT, name)));
  return new Map(names.map((name) => [name, readFileSync(join(ROOT, name), 'utf8')]));
}

function tables(): Set<string> {
  const folder = `${SERVER}db/migrations`;
  const names = execFileSync('git', ['ls-files', '-co', '--exclude-standard', folder], { cwd: ROOT })
    .toString()
    .split('\n')
    .filter((name) => name.endsWith('.sql'));
  return tablesOf(names.map((name) => readFileSync(join(ROOT, name), 'utf8')));
}

interface Figures {
  files: number;
  lineP90: number;
  lineMax: number;
  circles: string[][];
  writtenTables: number;
  sharedTables: string[];
  faults: string[];
}

function describe({
  files,
  lineP90,
  lineMax,
  circles,
  writtenTables,
  sharedTables,
  faults,
}: Figures): string {
  const largest = circles[0]?.length ?? 0;
  const lines = [
    `${files} files; lines: p90 ${lineP90} columns, longest ${lineMax}`,
    `${circles.length} circles of imports, the largest of ${largest} files`,
    `${writtenTables} tables written, ${sharedTables.length} by more than one domain: ${sharedTables.join(', ') || 'none'}`,
    ...faults.map((fault) => `FAILED: ${fault}`),
  ];
  return `${lines.join('\n')}\n`;
}
