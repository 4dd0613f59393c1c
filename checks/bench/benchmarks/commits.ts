/**
 * The service's commits: upon a tree of 10,000 and of 50,000 files, with one and with 5,000 changed ones,
 * compared with git by hand (contents by fast-import, a temporary index, write-tree, commit-tree), in turns.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createBareRepository } from '../../../packages/server/src/git/bare-repository.ts';
import { buildGitCommit } from '../../../packages/server/src/git/build-commit.ts';
import { gitEnvironment } from '../../../packages/server/src/git/run-git.ts';
import { summarize } from '../../harness/statistics.ts';
import type { Aim, Benchmark, Row } from '../lib/benchmark.ts';

const SIZES = [10_000, 50_000];
const CHANGES = [1, 5_000];
const PERSON = { name: 'Headrace', email: 'headrace@localhost' };

export const commitsBenchmark: Benchmark = {
  name: 'commits',
  title: "The service's commits, compared with git by hand on the same repository",
  async run({ scratch, quick, say }) {
    const dir = join(scratch, 'r.git');
    await createBareRepository(dir, { defaultBranch: 'main' });
    const rows: Row[] = [];
    const aims: Aim[] = [];
    let version = 0;
    for (const size of SIZES) {
      const base = await build(dir, [], files(size, version++));
      for (const changed of CHANGES) {
        const [ours, byHand, loop]: number[][] = [[], [], []];
        for (let round = 0; round < (quick ? 2 : changed === 1 ? 30 : 8); round++) {
          const mine = files(changed, version++);
          const before = performance.eventLoopUtilization();
          ours!.push(await timed(() => build(dir, [base], mine)));
          loop!.push(performance.eventLoopUtilization(before).active);
          const other = files(changed, version++);
          byHand!.push(await timed(async () => commitByHand(dir, base, other)));
        }
        const what = `${size} files, ${changed} changed`;
        const [own, git] = [summarize(ours!), summarize(byHand!)];
        rows.push(
          { what: `${what}: built`, unit: 'ms', figures: own },
          { what: 'by hand', unit: 'ms', figures: git },
          { what: 'event loop busy for it', unit: 'ms', figures: summarize(loop!) },
        );
        aims.push({
          what: `${what}, of git's time by hand (medians)`,
          bound: 'most',
          limit: changed === 1 ? 0.5 : 1.5,
          value: own.median / git.median,
          unit: '×',
        });
        say(`${what}: ${own.median.toFixed(0)} ms, by hand ${git.median.toFixed(0)} ms`);
      }
    }
    return { rows, aims, notes: [] };
  },
};

interface File {
  path: string;
  bytes: Buffer;
}

const files = (count: number, version: number): File[] =>
  Array.from({ length: count }, (_, i) => ({
    path: `src/dir-${i % 97}/sub-${i % 7}/file-${i}.ts`,
    bytes: Buffer.from(`version ${version}, file ${i}\n`.repeat(40 + (i % 100))),
  }));

async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

async function* contentsOf(all: File[]) {
  for (const { path, bytes } of all) yield { key: path, bytes };
}

const build = (dir: string, parents: string[], all: File[]) =>
  buildGitCommit(dir, {
    parents,
    changes: all.map(({ path }) => [Buffer.from(path), { mode: '100644', content: path }]),
    contents: contentsOf(all),
    message: 'Change\n',
    person: PERSON,
    date: new Date(),
    signingKey: null,
  });

function commitByHand(dir: string, base: string, all: File[]): void {
  const index = join(dir, 'by-hand.index');
  const marks = join(dir, 'by-hand.marks');
  const git = (input: string | Buffer, ...args: string[]): string => {
    const env = {
      GIT_DIR: dir,
      GIT_INDEX_FILE: index,
      GIT_AUTHOR_NAME: PERSON.name,
      GIT_AUTHOR_EMAIL: PERSON.email,
      GIT_COMMITTER_NAME: PERSON.name,
      GIT_COMMITTER_EMAIL: PERSON.email,
    };
    const done = spawnSync('git', args, { cwd: dir, input, env: gitEnvironment(env) });
    if (done.status !== 0) throw new Error(`git ${args[0]}: ${done.stderr.toString()}`);
    return done.stdout.toString().trim();
  };
  git('', 'read-tree', base);
  const stream = all.flatMap(({ bytes }, i) => [
    Buffer.from(`blob\nmark :${i + 1}\ndata ${bytes.length}\n`),
    bytes,
    Buffer.from('\n'),
  ]);
  git(Buffer.concat(stream), 'fast-import', '--quiet', `--export-marks=${marks}`);
  const ids = new Map(
    readFileSync(marks, 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.slice(1).split(' ') as [string, string]),
  );
  const entries = all.map(({ path }, i) => `100644 ${ids.get(String(i + 1))}\t${path}\n`);
  git(entries.join(''), 'update-index', '--index-info');
  git('Change\n', 'commit-tree', '-p', base, git('', 'write-tree'));
  rmSync(index);
}
