/** The run's result as a table for the console and as Markdown. */
import { isMet } from './benchmark.ts';
import type { Aim, Outcome } from './benchmark.ts';
import type { Machine } from '../../harness/machine.ts';

export interface Result extends Outcome {
  name: string;
  title: string;
  seconds: number;
  /** The machine's load (one minute) before and after. */
  load: [number, number];
}

export interface Report {
  date: string;
  quick: boolean;
  machine: Machine;
  results: Result[];
  failures: { name: string; message: string }[];
}

const number = (value: number) =>
  value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
const HEADINGS = ['', 'n', 'min', 'median', 'p95', 'p99', 'max', 'unit'];

const cells = ({ rows }: Result) =>
  rows.map(({ what, unit, figures: f }) => [
    what,
    String(f.count),
    ...[f.min, f.median, f.p95, f.p99, f.max].map(number),
    unit,
  ]);
const aimText = (aim: Aim) =>
  `${aim.what}: ${number(aim.value)} ${aim.unit}, aim ${aim.bound === 'most' ? '≤' : '≥'} ${aim.limit} ${aim.unit}: ${isMet(aim) ? 'met' : 'NOT MET'}`;

export function consoleText(result: Result): string {
  const table = [HEADINGS, ...cells(result)];
  const widths = HEADINGS.map((_, column) => Math.max(...table.map((row) => row[column]!.length)));
  const lines = table.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!)))
      .join('  '),
  );
  return [
    `${result.title} (load ${result.load.join(' → ')})`,
    ...lines,
    ...result.aims.map((aim) => `  ${aimText(aim)}`),
  ].join('\n');
}

const tableRow = (row: string[]) => `| ${row.join(' | ')} |`;

export function markdown({ date, quick, machine: m, results, failures }: Report): string {
  const aims = results.flatMap((result) =>
    result.aims.map((aim) => [
      result.title,
      aim.what,
      `${number(aim.value)} ${aim.unit}`,
      `${aim.bound === 'most' ? '≤' : '≥'} ${aim.limit} ${aim.unit}`,
      isMet(aim) ? 'yes' : '**no**',
      result.load.join(' → '),
    ]),
  );
  return [
    '# Benchmark results',
    '',
    `Written by \`npm run bench -- --write\` on ${date}${quick ? ' in the short form: too few samples to rely on' : ''}.`,
    '',
    `${m.cores} cores (${m.processor}), ${m.memoryGiB} GiB, Linux ${m.kernel}, ${m.fileSystem}, Node ${m.node}, git ${m.git}. Service, PostgreSQL (embedded, fsync on), sandboxes, load and git share these cores. *Load* is the machine's load average over one minute, before and after the benchmark.`,
    '',
    tableRow(['Benchmark', 'Figure', 'Measured', 'Target', 'Met', 'Load']),
    tableRow(['---', '---', '---:', '---:', '---', '---']),
    ...aims.map(tableRow),
    '',
    ...failures.map(({ name, message }) => `**${name} failed**: ${message.split('\n')[0]}\n`),
    ...results.flatMap((result) => [
      `## ${result.title}`,
      '',
      tableRow(HEADINGS),
      tableRow(HEADINGS.map((_, i) => (i === 0 ? '---' : '---:'))),
      ...cells(result).map(tableRow),
      '',
      ...result.notes,
      '',
    ]),
  ].join('\n');
}
