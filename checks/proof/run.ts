/**
 * `npm run replay -- [options] [repository ...]`: repeats the merges in repositories' histories with
 * Headrace and with git, and compares the verdict, the conflicting paths and every file of the result.
 *
 * A repository is a folder, a bundle or an address that git can clone (default: the bundles in
 * checks/harness/histories). Works on temporary clones. Exits with 1 when an answer differs from git's.
 *
 *   --reverts <n>   in addition to the real merges, this many randomly drawn reverts, as many cherry-picks and as many merges of distant commits (200)
 *   --seed <n>      seeds the random choices (1)
 *   --json          prints the reports as JSON to stdout; progress always goes to stderr
 *   --help
 */
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { helpOf } from '../harness/help.ts';
import { createRandom } from '../harness/random.ts';
import { summarize } from '../harness/statistics.ts';
import { replay } from './replay/replay.ts';
import type { ReplayReport } from './replay/replay.ts';

const HISTORIES = join(import.meta.dirname, '../harness/histories');
const NAMES: Record<keyof ReplayReport['merges'], string> = {
  merge: 'merges',
  revert: 'reverts',
  pick: 'picks',
  distant: 'distant',
};
const PROGRESS_MS = 500;
/** Number of differences to print in full: the rest are likely of the same kind. */
const TOLD = 20;

const { values: options, positionals } = read();
if (options.help) {
  console.log(helpOf(import.meta.filename));
  process.exit(0);
}
const drawn = whole('reverts', options.reverts);
const seed = whole('seed', options.seed);
const repositories =
  positionals.length > 0
    ? positionals.map(locate)
    : readdirSync(HISTORIES)
        .filter((name) => name.endsWith('.bundle'))
        .map((name) => join(HISTORIES, name));
const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => interrupted.abort(new Error('interrupted')));

const reports: ReplayReport[] = [];
for (const repository of repositories) {
  try {
    const report = await replay({
      repository,
      reverts: drawn,
      below: createRandom(seed).fork('triples').below,
      signal: interrupted.signal,
      onProgress: progressOf(repository),
    });
    reports.push(report);
    if (!options.json) tell(report);
  } catch (error) {
    console.error(`\n${repository}: ${(error as Error).message}`);
    process.exitCode = 1;
    if (interrupted.signal.aborted) break;
  }
}
if (options.json)
  console.log(
    JSON.stringify(
      reports.map(({ milliseconds, ...report }) => ({
        ...report,
        milliseconds: milliseconds.length > 0 ? summarize(milliseconds) : null,
      })),
      null,
      2,
    ),
  );
if (reports.some((report) => report.differences.length > 0)) process.exitCode = 1;

function tell({
  repository,
  commits,
  merges,
  skipped,
  leftOut,
  differences,
  milliseconds,
}: ReplayReport): void {
  console.log(`\n${repository}: ${commits} commits`);
  for (const [kind, { replayed, clean, conflicted }] of Object.entries(merges))
    console.log(
      `  ${NAMES[kind as keyof typeof merges].padEnd(8)} ${replayed}: ${clean} clean, ${conflicted} conflicted`,
    );
  if (Object.values(skipped).some((n) => n > 0))
    console.log(
      `  skipped  ${skipped.crissCross} with several bases, ${skipped.unrelated} of unrelated histories, ${skipped.octopus} of more than two parents, ${skipped.aborted} on which git aborts`,
    );
  if (leftOut.symlink + leftOut.submodule + leftOut.name > 0)
    console.log(
      `  left out ${leftOut.symlink} symlinks, ${leftOut.submodule} submodules, ${leftOut.name} names that no source may have`,
    );
  if (milliseconds.length > 0) {
    const { median, p99, max } = summarize(milliseconds);
    console.log(`  ms       ${median.toFixed(1)} median, ${p99.toFixed(1)} p99, ${max.toFixed(1)} at most`);
  }
  console.log(
    differences.length === 0 ? "  every answer is git's" : `  ${differences.length} differences from git`,
  );
  for (const { merge, path, what, git, headrace } of differences.slice(0, TOLD)) {
    console.log(
      `\n  ${merge.kind} ${merge.commit} (base ${merge.base}, head ${merge.head}, draft ${merge.draft})\n  ${what}${path === null ? '' : ` at ${path}`}\n  --- git\n${git}\n  --- headrace\n${headrace}`,
    );
  }
  if (differences.length > TOLD) console.log(`\n  and ${differences.length - TOLD} more: --json has all`);
}

function progressOf(repository: string): (done: number, all: number) => void {
  let last = performance.now();
  return (done, all) => {
    if (performance.now() - last < PROGRESS_MS && done < all) return;
    last = performance.now();
    process.stderr.write(`  ${repository}: ${done} of ${all}\n`);
  };
}

/** npm runs scripts in the project's folder: a relative path is meant from where npm was called. */
function locate(repository: string): string {
  const path = resolve(process.env['INIT_CWD'] ?? process.cwd(), repository);
  return existsSync(path) ? path : repository;
}

function whole(name: string, value: string): number {
  if (!/^\d{1,9}$/.test(value)) refuse(`--${name} takes a whole number`);
  return Number(value);
}

function refuse(why: string): never {
  console.error(`${why}; see --help`);
  process.exit(2);
}

function read() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        reverts: { type: 'string', default: '200' },
        seed: { type: 'string', default: '1' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    return refuse((error as Error).message);
  }
}
