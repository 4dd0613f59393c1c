/** The run's result as lines for the console and as Markdown. */
import type { Machine } from '../../harness/machine.ts';
import { FULL_SECONDS } from './part.ts';
import type { PartResult } from './part.ts';

export interface Result extends PartResult {
  name: string;
  title: string;
  /** How long it took. */
  took: number;
  /** The machine's load (one minute) before and after. */
  load: [number, number];
}

export interface Report {
  date: string;
  seed: number;
  /** What the run was given; `FULL_SECONDS` means the full counts. */
  seconds: number;
  /** Each kind of fault once. */
  isShort: boolean;
  machine: Machine;
  results: Result[];
}

const FAILURES_SHOWN = 20;

export const lineOf = ({ name, line, took, failures }: Result, seed: number) =>
  `${failures.length ? 'FAILED' : 'ok'} ${name}: ${line} (${took.toFixed(0)} s, seed ${seed})`;

export function failureText({ failures }: Result): string {
  const more = failures.length - FAILURES_SHOWN;
  return [...failures.slice(0, FAILURES_SHOWN), ...(more > 0 ? [`and ${more} more`] : [])]
    .map((failure) => `  - ${failure}`)
    .join('\n');
}

/**
 * The file of the last run of each of `parts`: sections of those that were not run now stay as `earlier`
 * has them.
 */
export function markdown(report: Report, parts: readonly { title: string }[], earlier: string): string {
  const { machine: m, results } = report;
  const sections = new Map(
    earlier
      .split(/^(?=## )/m)
      .slice(1)
      .map((section) => [/^## (.*)$/m.exec(section)![1]!, section.trimEnd()]),
  );
  for (const result of results) sections.set(result.title, sectionOf(result, report));
  return `${[
    '# Promises under faults',
    'The last run of each part, written by `npm run torture -- --write`.',
    `${m.cores} cores (${m.processor}), ${m.memoryGiB} GiB, Linux ${m.kernel}, ${m.fileSystem}, Node ${m.node}. Services, PostgreSQL (embedded, fsync on), sandboxes, writers and readers share these cores.`,
    `The truth is what the service answered to clients, which repeat each write with its key until it is answered, and what the tables contain at the end. \`ok\` means that nothing was lost, duplicated, reordered or answered wrongly. The file headers in \`checks/torture/\` name the faults that were planted in the service to make parts fail. A run of fewer than ${FULL_SECONDS} seconds has proportionally smaller counts; the lines give the actual counts.`,
    ...parts.flatMap(({ title }) => sections.get(title) ?? []),
  ].join('\n\n')}\n`;
}

const sectionOf = (result: Result, { date, seconds, isShort, seed }: Report): string =>
  [
    `## ${result.title}`,
    `    ${lineOf(result, seed)}`,
    `${countsOf(seconds, isShort)}, ${date}; machine's load over one minute: ${result.load.join(' → ')}.`,
    ...(result.failures.length ? [failureText(result)] : []),
  ].join('\n\n');

function countsOf(seconds: number, isShort: boolean): string {
  if (isShort) return '`--short`';
  return seconds === FULL_SECONDS ? 'Full counts' : `\`--seconds ${seconds}\``;
}
