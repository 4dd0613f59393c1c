/**
 * Search in a source of 10,000 files, beside `git grep` in a work tree of the same files, and ripgrep if it is
 * there, in turns: a text and regular expressions, the first page and the whole; and the service's event loop
 * meanwhile.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { newAppWith } from '../../harness/apps.ts';
import { makeFiles, writeFiles } from '../../harness/files.ts';
import type { AppFile } from '../../harness/files.ts';
import { timed } from '../../harness/git.ts';
import type { Service } from '../../harness/service.ts';
import { summarize } from '../../harness/statistics.ts';
import type { Aim, Benchmark, Row } from '../lib/benchmark.ts';
import { makeProbe } from '../lib/probe.ts';

const FILES = 10_000;
const BYTES = 32 * 1024 * 1024;
/** Every so many files have the line that is looked for. */
const EVERY = 400;
/** Of git's time. */
const MOST = 2;
const LINE = 'const searchedFor = needle(42);\n';

interface Search {
  name: string;
  query: Record<string, string>;
  /** Options and pattern of `git grep` and of `rg`. */
  git: string;
  rg: string;
}

const SEARCHES: Search[] = [
  {
    name: 'text',
    query: { q: 'needle(' },
    git: "-F 'needle('",
    rg: "-F 'needle('",
  },
  {
    name: 'text, any case',
    query: { q: 'NEEDLE(', caseSensitive: 'false' },
    git: "-i -F 'NEEDLE('",
    rg: "-i -F 'NEEDLE('",
  },
  {
    name: 'expression with a text',
    query: { q: 'need[a-z]+\\([0-9]+\\);$', regex: 'true' },
    git: "-E 'need[a-z]+\\([0-9]+\\);$'",
    rg: "'need[a-z]+\\([0-9]+\\);$'",
  },
  {
    name: 'expression without a text',
    query: { q: '[a-z]{6}[^a-z0-9; ][0-9]{2}[^a-z0-9; ]', regex: 'true' },
    git: "-E '[a-z]{6}[^a-z0-9; ][0-9]{2}[^a-z0-9; ]'",
    rg: "'[a-z]{6}[^a-z0-9; ][0-9]{2}[^a-z0-9; ]'",
  },
];

export const searchBenchmark: Benchmark = {
  name: 'search',
  title: 'Search in 10,000 files, 32 MiB, compared with git grep',
  async run(setup) {
    const files = searched();
    const folder = join(setup.scratch, 'tree');
    mkdirSync(folder);
    writeFiles(folder, files);
    await timed('git init -q && git add -A', { cwd: folder });
    const hasRipgrep = spawnSync('rg', ['--version']).status === 0;
    const probe = makeProbe(setup.scratch);
    const service = await setup.start(probe.options);
    const { app, sourceId } = await newAppWith(service, files);
    const path = `${app}/sources/${sourceId}/search`;
    const rows: Row[] = [];
    const aims: Aim[] = [];
    const loops: number[] = [];
    for (const search of SEARCHES) {
      const [whole, git, rg]: [number[], number[], number[]] = [[], [], []];
      const rounds = setup.quick ? 2 : 15;
      for (let round = -2; round < rounds; round++) {
        await probe.ask(service.pid);
        const ours = await searchWhole(service, path, search.query);
        const { loop } = await probe.ask(service.pid);
        const theirs = await grep(`git grep -n ${search.git}`, folder);
        const other = hasRipgrep ? await grep(`rg -n --no-heading ${search.rg} .`, folder) : null;
        // The first rounds compile and fill caches, also the file system's.
        if (round < 0) continue;
        whole.push(ours);
        git.push(theirs);
        if (other !== null) rg.push(other);
        loops.push(loop.max);
      }
      const [own, gits] = [summarize(whole), summarize(git)];
      rows.push(
        { what: `${search.name}: whole search`, unit: 'ms', figures: own },
        { what: 'git grep', unit: 'ms', figures: gits },
      );
      if (rg.length > 0) rows.push({ what: 'ripgrep', unit: 'ms', figures: summarize(rg) });
      aims.push({
        what: `${search.name}, of git grep's time (medians)`,
        bound: 'most',
        limit: MOST,
        value: own.median / gits.median,
        unit: '×',
      });
      setup.say(`${search.name}: ${own.median.toFixed(0)} ms, git grep ${gits.median.toFixed(0)} ms`);
    }
    const first: number[] = [];
    for (let round = -2; round < (setup.quick ? 2 : 30); round++) {
      const { ms, body } = await service.call('GET', `${path}?q=stream&limit=50`);
      if (body.matches.length !== 50 || !body.hasMore) throw new Error('the first page is not full');
      if (round >= 0) first.push(ms);
    }
    rows.push(
      { what: 'first page of a frequent word, 50 lines', unit: 'ms', figures: summarize(first) },
      { what: 'worst delay of the event loop in a whole search', unit: 'ms', figures: summarize(loops) },
    );
    aims.push({
      what: 'event loop, worst delay in a search, median',
      bound: 'most',
      limit: 20,
      value: summarize(loops).median,
      unit: 'ms',
    });
    return { rows, aims, notes: [NOTE] };
  },
};

const NOTE = `In turns, over HTTP with all pages, and as processes in a work tree of the same files, which the file system holds in its cache. ${FILES / EVERY} lines match. git grep uses the machine's cores; so does the service, which reads and decompresses its packs for each search.`;

function searched(): AppFile[] {
  const files = makeFiles(FILES, BYTES - (FILES / EVERY) * LINE.length);
  return files.map((file, i) =>
    i % EVERY === EVERY - 1 ? { ...file, content: `${file.content}${LINE}` } : file,
  );
}

async function searchWhole(service: Service, path: string, query: Record<string, string>): Promise<number> {
  let [ms, matches] = [0, 0];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const asked = new URLSearchParams({ ...query, limit: '200', ...(cursor ? { cursor } : {}) });
    const answer = await service.call('GET', `${path}?${asked.toString()}`);
    ms += answer.ms;
    matches += answer.body.matches.length;
    cursor = answer.body.nextCursor as string | null;
  }
  expectAll(matches);
  return ms;
}

async function grep(command: string, cwd: string): Promise<number> {
  const { ms, output } = await timed(command, { cwd });
  expectAll(output.split('\n').length);
  return ms;
}

function expectAll(matches: number): void {
  if (matches !== FILES / EVERY) throw new Error(`${matches} lines were found, not ${FILES / EVERY}`);
}
