/**
 * Restoring and capturing a workspace at the runner's own API, compared with tar and git on the same files on
 * the same file system.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tarOf } from '../../../packages/runner/src/tar.ts';
import type { CaptureResult, Origin, OverRequest } from '../../../packages/runner/src/protocol.ts';
import type { Benchmark, Outcome, Row, Setup } from '../lib/benchmark.ts';
import { makeFiles, writeFiles } from '../../harness/files.ts';
import type { AppFile } from '../../harness/files.ts';
import { timed } from '../../harness/git.ts';
import { startRunner } from '../lib/runner.ts';
import type { BenchRunner } from '../lib/runner.ts';
import { summarize } from '../../harness/statistics.ts';

const SIZES = [100, 1_000, 10_000];
const BYTES_EACH = 3_300;
const CHANGED = 10;
/** A folder of 50 files that is renamed. */
const FOLDER = 'src/area-0/part-1';

type Series = Record<string, number[]>;

export const workspaceBenchmark: Benchmark = {
  name: 'workspace',
  title: 'Restore and capture of a workspace',
  async run(setup): Promise<Outcome> {
    const runner = await startRunner(setup);
    const rows: Row[] = [];
    let largest: Series = {};
    for (const size of SIZES) {
      setup.say(`${size} files`);
      const series: Series = {};
      const bench = await prepare(setup, runner, size, series);
      for (let round = -1; round < (setup.quick ? 1 : size === 10_000 ? 5 : 8); round++) {
        await oneRound(bench);
        // The first is for code and files that nobody has touched yet.
        if (round < 0) for (const samples of Object.values(series)) samples.length = 0;
      }
      for (const [what, samples] of Object.entries(series))
        rows.push({ what: `${size} files, ${what}`, unit: 'ms', figures: summarize(samples) });
      largest = series;
    }
    const { restore } = await runner.status();
    const median = (what: string) => summarize(largest[what]!).median;
    return {
      rows,
      aims: [
        ...['first time', 'again', `next version`].map((what) => ({
          what: `10,000 files, restore, ${what}: of tar's time, p50`,
          bound: 'most' as const,
          limit: 0.5,
          value: median(`restore, ${what}`) / median('tar -x'),
          unit: '×' as const,
        })),
        {
          what: `10,000 files, capture, ${CHANGED} changed, p50`,
          bound: 'most',
          limit: 50,
          value: median(`capture, ${CHANGED} changed`),
          unit: 'ms',
        },
      ],
      notes: [
        `Kept sources are restored by ${restore === 'overlay' ? 'a mount' : 'copying'}. Restore: PUT /workspaces/:id, sent → answered, replacing an existing workspace. First time: a tar of all files, kept under a new key; again: over what is kept; next version: over what is kept, with a patch of ten files. Capture: POST /workspaces/:id/capture, compared with the kept files, sent → answered, after the patched restore and then after commands in the workspace, which are not in the figures; all files hashed: the same with a list of paths, as if nothing were kept. tar (from a file) and git (a ready repository whose objects are in one pack, its index to be made) run on the file system that holds the workspaces. Every capture's hashes are compared with the expected ones.`,
      ],
    };
  },
};

interface Bench {
  runner: BenchRunner;
  files: AppFile[];
  folder: string;
  series: Series;
  round: number;
}

/** The files as an archive and as a repository, next to the workspaces. */
async function prepare(setup: Setup, runner: BenchRunner, size: number, series: Series): Promise<Bench> {
  const folder = runner.folder();
  const files = makeFiles(size, size * BYTES_EACH);
  writeFiles(join(folder, 'files'), files);
  await timed(
    'git init -q && git add -A && git commit -q -m files && git repack -q -a -d && mv .git ../repository.git',
    { cwd: join(folder, 'files') },
  );
  rmSync(join(folder, 'files'), { recursive: true });
  return { runner, files, folder, series, round: 0 };
}

async function oneRound(bench: Bench): Promise<void> {
  const round = ++bench.round;
  // Contents of this round's own: no version was ever seen before.
  const first = changed(bench.files, bench.files.length / 2, `version ${round}`);
  const next = changed(first, 0, `next ${round}`);
  await restoreByTar(bench, first);
  await restoreByGit(bench);
  const keep = { key: `src_${first.length}_${round}`, group: 'prj_bench' };
  await restore(bench, 'restore, first time', tarOf(first), { keep });
  await checkInside(bench, first);
  await restore(bench, 'restore, again', undefined, { base: keep.key });
  await checkInside(bench, first);
  await restore(bench, 'restore, next version', patchOf(next.slice(0, CHANGED)), { base: keep.key });
  await captures(bench, keep.key, first, next);
  await bench.runner.deleteWorkspace(idOf(bench));
}

/** The same files with ten others among them, from the one at `at`. */
const changed = (files: readonly AppFile[], at: number, text: string): AppFile[] =>
  files.map((file, i) =>
    i >= at && i < at + CHANGED ? { ...file, content: `${text}\n${file.content}` } : file,
  );

const note = ({ series }: Bench, what: string, ms: number) => {
  (series[what] ??= []).push(ms);
};

async function restoreByTar(bench: Bench, files: AppFile[]): Promise<void> {
  const tree = join(bench.folder, 'tar');
  mkdirSync(tree);
  writeFileSync(join(bench.folder, 'files.tar'), tarOf(files));
  note(bench, 'tar -x', (await timed('tar -xf ../files.tar', { cwd: tree })).ms);
  checkCount(tree, files.length);
  rmSync(tree, { recursive: true });
}

async function restoreByGit(bench: Bench): Promise<void> {
  await timed('git clone -q --shared --no-checkout repository.git git', { cwd: bench.folder });
  const tree = join(bench.folder, 'git');
  note(bench, 'git checkout', (await timed('git checkout -q HEAD', { cwd: tree })).ms);
  checkCount(join(tree, 'src'), bench.files.length);
  rmSync(tree, { recursive: true });
}

function checkCount(folder: string, expected: number): void {
  const count = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  ).length;
  if (count !== expected) throw new Error(`${folder} has ${count} files, not ${expected}`);
}

async function restore(bench: Bench, what: string, tar: Buffer | undefined, origin: Origin): Promise<void> {
  const from = performance.now();
  await bench.runner.putWorkspace(idOf(bench), tar, origin);
  note(bench, what, performance.now() - from);
}

const patchOf = (files: readonly AppFile[]) =>
  tarOf([{ path: '.headrace-patch.json', content: '{"delete":[]}' }, ...files]);

/** As many files as there should be, with this round's line in the one that has it. */
async function checkInside(bench: Bench, files: AppFile[]): Promise<void> {
  const { path, content } = files[files.length / 2]!;
  await bench.runner.exec(
    idOf(bench),
    `test "$(find . -type f | wc -l)" = ${files.length} && test "$(head -n 1 ${path})" = '${content.split('\n')[0]}'`,
  );
}

const idOf = ({ files }: Bench) => `thr_${files.length}`;

async function captures(
  bench: Bench,
  over: string,
  kept: readonly AppFile[],
  files: readonly AppFile[],
): Promise<void> {
  const id = idOf(bench);
  const isOverlay = (await bench.runner.status()).restore === 'overlay';
  const [below, expected] = [hashesOf(kept), hashesOf(files)];
  const capture = async (
    what: string,
    base: string[] | OverRequest = isOverlay ? { over, added: [], removed: [] } : [...below.keys()],
  ) => {
    const from = performance.now();
    const result = await bench.runner.capture(id, base);
    note(bench, what, performance.now() - from);
    checkCapture(what, result, below, expected);
  };
  await capture('capture, first after the restore');
  await bench.runner.exec(id, 'true');
  await capture('capture, nothing changed');
  const touched = files.slice(-CHANGED);
  await bench.runner.exec(id, touched.map(({ path }) => `echo changed >> ${path}`).join('; '));
  for (const { path, content } of touched) expected.set(path, sha256Of(`${content}changed\n`));
  await capture(`capture, ${CHANGED} changed`);
  await bench.runner.exec(id, `mv ${FOLDER} ${FOLDER}-moved`);
  for (const path of [...expected.keys()].filter((one) => one.startsWith(`${FOLDER}/`))) {
    expected.set(path.replace(FOLDER, `${FOLDER}-moved`), expected.get(path)!);
    expected.delete(path);
  }
  await capture('capture, a folder of 50 renamed');
  await capture('capture, all files hashed', [...expected.keys()]);
}

const sha256Of = (text: string) => createHash('sha256').update(text).digest('hex');
const hashesOf = (files: readonly AppFile[]) =>
  new Map(files.map(({ path, content }) => [path, sha256Of(content)]));

/** `below`: the hashes of the kept files that the workspace lies over. */
function checkCapture(
  what: string,
  { files, over }: CaptureResult,
  below: ReadonlyMap<string, string>,
  expected: ReadonlyMap<string, string>,
): void {
  const missing = new Set(over?.missing);
  const kept = over ? [...below].filter(([path]) => !missing.has(path)) : [];
  const seen = new Map([
    ...kept,
    ...(over?.moved ?? []).map(({ path, from }) => [path, below.get(from)!] as const),
    ...files.map(({ path, sha256 }) => [path, sha256] as const),
  ]);
  const wrong = [...seen].find(([path, sha256]) => expected.get(path) !== sha256);
  if (wrong || seen.size !== expected.size)
    throw new Error(
      `${what}: ${seen.size} files of ${expected.size}; ${wrong ? `${wrong[0]} is not what it should be` : 'some are missing'}`,
    );
}
