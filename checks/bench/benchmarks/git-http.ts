/**
 * Clones and pushes over the service's HTTP, over git's http-backend behind a bare Node server, and over a file
 * path: copies of one repository, in turns.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createBareRepository } from '../../../packages/server/src/git/bare-repository.ts';
import { buildGitCommit } from '../../../packages/server/src/git/build-commit.ts';
import { gitEnvironment, runGit } from '../../../packages/server/src/git/run-git.ts';
import { localFolder } from '../../../packages/server/src/scm/local/folders.ts';
import { addressOf } from '../../harness/service.ts';
import { summarize } from '../../harness/statistics.ts';
import type { Aim, Benchmark, Row, Setup } from '../lib/benchmark.ts';

const FILES = 10_000;
const FILE_BYTES = 4_000;
const LARGE_PUSH_BYTES = 8 * 1024 * 1024;
const PERSON = { name: 'Headrace', email: 'headrace@localhost' };
const WAYS = ['service', 'bare', 'path'] as const;
type Way = (typeof WAYS)[number];

export const gitHttpBenchmark: Benchmark = {
  name: 'git-http',
  title: `git over HTTP: ${FILES} files of ${FILE_BYTES} bytes that do not compress`,
  async run(setup) {
    const { copy, urls } = await prepare(setup);
    const rounds = setup.quick ? 2 : 8;
    const rows: Row[] = [];
    const aims: Aim[] = [];
    let version = 0;
    const change = (bytes: number) => commit(copy, `v${version++}`, bytes);
    const works: [string, () => Promise<(way: Way) => Promise<void>>][] = [
      ['references listed', async () => (way) => git(['ls-remote', '-q', urls[way]])],
      ['clone, 40 MB', async () => (way) => clone(setup, urls[way])],
      ['push of one small file', async () => pushOf(copy, urls, await change(100))],
      ['push of one file of 8 MiB', async () => pushOf(copy, urls, await change(LARGE_PUSH_BYTES))],
    ];
    for (const [what, begin] of works) {
      const times: Record<Way, number[]> = { service: [], bare: [], path: [] };
      for (let round = -1; round < rounds; round++) {
        const work = await begin();
        // Whose turn is first changes.
        for (let i = 0; i < WAYS.length; i++) {
          const way = WAYS[(i + round + 1) % WAYS.length]!;
          const from = performance.now();
          await work(way);
          if (round >= 0) times[way].push(performance.now() - from);
        }
      }
      const [service, bare, path] = WAYS.map((way) => summarize(times[way]));
      rows.push(
        { what: `${what}: service`, unit: 'ms', figures: service! },
        { what: 'http-backend behind a bare server', unit: 'ms', figures: bare! },
        { what: 'over a file path', unit: 'ms', figures: path! },
      );
      const value = service!.median / bare!.median;
      // A client lists references twice where it is asked for a credential.
      if (!what.startsWith('references'))
        aims.push({
          what: `${what}, of the bare server's time (medians)`,
          bound: 'most',
          limit: 1.2,
          value,
          unit: '×',
        });
      setup.say(`${what}: ${value.toFixed(2)} × the bare server`);
    }
    return { rows, aims, notes: [] };
  },
};

/** One repository three times, and a copy with which it is pushed to. */
async function prepare(setup: Setup): Promise<{ copy: string; urls: Record<Way, string> }> {
  const service = await setup.start({ env: { HEADRACE_RATE_LIMIT: '1000000' } });
  const { status, body } = await service.call('POST', '/api/source-control/scm/repositories', {
    name: 'bench',
  });
  if (status !== 201) throw new Error(`${status}: ${JSON.stringify(body)}`);
  const own = localFolder({ dataDir: service.dataDir }, body.repository.id as string);
  const copy = join(setup.scratch, 'copy.git');
  await createBareRepository(copy, { defaultBranch: 'main' });
  await commit(copy, 'main', FILE_BYTES, FILES);
  await git(['push', '-q', own, 'main'], copy);
  const roots = { bare: join(setup.scratch, 'bare'), path: join(setup.scratch, 'path') };
  for (const root of Object.values(roots)) {
    mkdirSync(root);
    cpSync(own, join(root, 'bench.git'), { recursive: true });
  }
  const child = spawn(process.execPath, [join(import.meta.dirname, '../bare-git-server.ts'), roots.bare], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  setup.atEnd(() => void child.kill());
  const [bare, at] = [await addressOf(child), service.base.replace('://', `://x:${service.key}@`)];
  return {
    copy,
    urls: {
      service: `${at}/git/bench.git`,
      bare: `${bare}/bench.git`,
      path: `file://${join(roots.path, 'bench.git')}`,
    },
  };
}

async function commit(dir: string, branch: string, bytes: number, count = 1): Promise<string> {
  const files = Array.from({ length: count }, (_, i) => `src/dir-${i % 97}/file-${i}.bin`);
  const parents = branch === 'main' ? [] : ['main'];
  const tips = await Promise.all(
    parents.map(async (name) => (await runGit(dir, ['rev-parse', name])).output.toString().trim()),
  );
  const id = await buildGitCommit(dir, {
    parents: tips,
    changes: files.map((path) => [Buffer.from(path), { mode: '100644', content: path }]),
    contents: (async function* () {
      for (const path of files) yield { key: path, bytes: randomBytes(bytes) };
    })(),
    message: `${branch}\n`,
    person: PERSON,
    date: new Date(),
    signingKey: null,
  });
  await runGit(dir, ['update-ref', `refs/heads/${branch}`, id]);
  return branch;
}

const pushOf = (copy: string, urls: Record<Way, string>, branch: string) => (way: Way) =>
  git(['push', '-q', urls[way], branch], copy);

async function clone({ scratch }: Setup, url: string): Promise<void> {
  const to = join(scratch, 'clone.git');
  await git(['clone', '-q', '--bare', '--no-local', url, to]);
  rmSync(to, { recursive: true });
}

/** As a client runs it. */
function git(args: string[], cwd = '/'): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', args, { cwd, env: gitEnvironment(), stdio: ['ignore', 'ignore', 'pipe'] });
    let stderr = '';
    child.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`git ${args[0]}: ${stderr}`))));
  });
}
