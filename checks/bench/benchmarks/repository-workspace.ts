/**
 * Restoring and capturing a workspace with a commit's history and links, side by side with the same files
 * without them, at the runner's own API.
 */
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { CaptureResult, Origin } from '../../../packages/runner/src/protocol.ts';
import { tarOf } from '../../../packages/runner/src/tar.ts';
import { packHistory } from '../../../packages/server/src/workspaces/history/pack-history.ts';
import { makeFiles, writeFiles } from '../../harness/files.ts';
import type { AppFile } from '../../harness/files.ts';
import { timed } from '../../harness/git.ts';
import { summarize } from '../../harness/statistics.ts';
import type { Aim, Benchmark, Outcome, Row, Setup } from '../lib/benchmark.ts';
import { startRunner } from '../lib/runner.ts';
import type { BenchRunner } from '../lib/runner.ts';

const SIZES = [1_000, 10_000];
const BYTES_EACH = 3_300;
/** One link for so many files. */
const FILES_A_LINK = 100;
const COMMITS = 60,
  DEPTH = 50;
const CHANGED = 10;

type Series = Record<string, number[]>;

export const repositoryWorkspaceBenchmark: Benchmark = {
  name: 'repository-workspace',
  title: 'Workspaces with history and links',
  async run(setup): Promise<Outcome> {
    const runner = await startRunner(setup);
    const rows: Row[] = [];
    const aims: Aim[] = [];
    for (const size of SIZES) {
      setup.say(`${size} files`);
      const bench = await prepare(setup, runner, size);
      for (let round = -1; round < (setup.quick ? 1 : 8); round++) {
        await oneRound(bench, round);
        // The first is for code and files that nobody has touched yet.
        if (round < 0) for (const samples of Object.values(bench.series)) samples.length = 0;
      }
      for (const [what, samples] of Object.entries(bench.series))
        rows.push({ what: `${size} files, ${what}`, unit: 'ms', figures: summarize(samples) });
      const median = (what: string) => summarize(bench.series[what]!).median;
      for (const what of Object.keys(bench.series).filter((one) => one.endsWith(WITH)))
        aims.push({
          what: `${size} files, ${what}: of the same without, p50`,
          bound: 'most',
          limit: 1.5,
          value: median(what) / median(what.slice(0, -WITH.length)),
          unit: '×',
        });
    }
    return {
      rows,
      aims,
      notes: [
        `Both kinds alternate. A link for ${FILES_A_LINK} files; ${COMMITS} commits, of which ${DEPTH} are shown. Kept: PUT /workspaces/:id with all files, which are kept; again: over what is kept; copied: with all files, kept nowhere, as where there are no overlays. The history is made once a commit: packed by git on the host, then kept by the runner. Capture: compared with the kept files, after ${CHANGED} changed; copied: all files hashed.`,
      ],
    };
  },
};

const WITH = ', with history and links';

interface Bench {
  runner: BenchRunner;
  files: AppFile[];
  links: { path: string; content: string; target: string }[];
  dir: string;
  head: string;
  series: Series;
}

async function prepare(setup: Setup, runner: BenchRunner, size: number): Promise<Bench> {
  const folder = runner.folder();
  const files = makeFiles(size, size * BYTES_EACH);
  const links = files
    .filter((_, i) => i % FILES_A_LINK === 0)
    .map(({ path }) => ({
      path: `${path}.link`,
      content: '',
      target: path.slice(path.lastIndexOf('/') + 1),
    }));
  writeFiles(join(folder, 'files'), files);
  const steps = `for i in $(seq ${COMMITS}); do echo "$i" >> log; git add log; git commit -qm "$i"; done; git rm -q log`;
  const made = links.map(({ path, target }) => `ln -s ${target} ${path}`).join('\n');
  const script = `${made}\ngit init -q && { ${steps}; } && git add -A && git commit -qm files && git repack -qad && git rev-parse HEAD`;
  const cwd = join(folder, 'files');
  const { output: head } = await timed(script, { cwd });
  return { runner, files, links, dir: join(cwd, '.git'), head, series: {} };
}

const GROUP = 'prj_bench';
const ID = 'thr_bench';

async function oneRound(bench: Bench, round: number): Promise<void> {
  const { runner, files, links, dir, head } = bench;
  const key = `his_${files.length}_${round}`;
  const history = { headSha: head, baseSha: head, baseBranch: 'main', depth: DEPTH };
  const tar = await measured(bench, 'history, packed', () => packHistory(dir, history, null));
  await measured(bench, 'history, kept', () => runner.putHistory(key, GROUP, tar));
  const [plain, linked] = [tarOf(files), tarOf([...files, ...links])];
  for (const kind of round % 2 ? ['', WITH] : [WITH, '']) {
    const more: Origin = kind === '' ? {} : { history: key };
    const body = kind === '' ? plain : linked;
    const keep = { key: `src_${files.length}_${round}${kind && '_l'}`, group: GROUP };
    const put = (what: string, tar: Buffer | undefined, origin: Origin) =>
      measured(bench, `restore, ${what}${kind}`, () =>
        runner.putWorkspace(ID, tar && Readable.from([tar], { objectMode: false }), { ...origin, ...more }),
      );
    await put('kept', body, { keep });
    await put('again', undefined, { base: keep.key });
    if (kind !== '') await runner.exec(ID, 'test -z "$(git status --porcelain)"');
    await change(bench);
    const over = { over: keep.key, added: [], removed: [] };
    check(await measured(bench, `capture${kind}`, () => runner.capture(ID, over)), CHANGED);
    await put('copied', body, {});
    await change(bench);
    const base = files.map(({ path }) => path);
    const copied = await measured(bench, `capture, copied${kind}`, () => runner.capture(ID, base));
    check(copied, files.length);
  }
  await runner.deleteWorkspace(ID);
  await runner.forgetGroup(GROUP);
}

const change = ({ runner, files }: Bench) =>
  runner.exec(
    ID,
    files
      .slice(-CHANGED)
      .map(({ path }) => `echo changed >> ${path}`)
      .join('; '),
  );

function check({ files, warnings }: CaptureResult, expected: number): void {
  if (files.length !== expected || warnings.length > 0)
    throw new Error(`${files.length} files instead of ${expected}, ${JSON.stringify(warnings[0])}`);
}

async function measured<T>({ series }: Bench, what: string, work: () => Promise<T>): Promise<T> {
  const from = performance.now();
  const done = await work();
  (series[what] ??= []).push(performance.now() - from);
  return done;
}
