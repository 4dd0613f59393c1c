/**
 * Import of the largest bundle that the service takes, as JSON and as tar.gz, compared with git storing the
 * same files; then of one changed file.
 */
import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { newApp } from '../../harness/apps.ts';
import type { Benchmark, Setup } from '../lib/benchmark.ts';
import { makeFiles, tarGz, writeFiles } from '../../harness/files.ts';
import { timed } from '../../harness/git.ts';
import { summarize } from '../../harness/statistics.ts';

const FILES = 10_000;
const BYTES = 32 * 1024 * 1024;

export const importBenchmark: Benchmark = {
  name: 'import',
  title: 'Import of 10,000 files, 32 MiB',
  async run(setup) {
    const { json, archive, folder, path } = await prepare(setup);
    const service = await setup.start();
    const [asJson, asArchive, byGit]: [number[], number[], number[]] = [[], [], []];
    const oneChanged: number[] = [];
    for (let round = 0; round < (setup.quick ? 2 : 8); round++) {
      byGit.push(await gitStores(setup, folder));
      asJson.push(await imported(json));
      asArchive.push(await imported(archive, 'application/gzip'));
      setup.say(
        `round ${round + 1}: git ${byGit.at(-1)!.toFixed(0)} ms, JSON ${asJson.at(-1)!.toFixed(0)} ms, tar.gz ${asArchive.at(-1)!.toFixed(0)} ms`,
      );
    }
    const app = await newApp(service);
    let base = (await service.call('POST', `${app}/sources`, json)).body.source.id;
    for (let round = 0; round < (setup.quick ? 5 : 30); round++) {
      const changes = [{ path, content: `round ${round}` }];
      const { ms, body } = await service.call('POST', `${app}/sources`, { baseSourceId: base, changes });
      oneChanged.push(ms);
      base = body.source.id;
    }
    const [json_, archive_, git] = [summarize(asJson), summarize(asArchive), summarize(byGit)];
    return {
      rows: [
        { what: `POST sources, JSON (${mib(json)} MiB)`, unit: 'ms', figures: json_ },
        { what: `POST sources, tar.gz (${mib(archive)} MiB)`, unit: 'ms', figures: archive_ },
        { what: 'POST sources, one changed file', unit: 'ms', figures: summarize(oneChanged) },
        { what: 'git add -A && git write-tree', unit: 'ms', figures: git },
      ],
      aims: [
        {
          what: "JSON, of git's time (medians)",
          bound: 'most',
          limit: 1,
          value: json_.median / git.median,
          unit: '×',
        },
        {
          what: "tar.gz, of git's time (medians)",
          bound: 'most',
          limit: 1,
          value: archive_.median / git.median,
          unit: '×',
        },
      ],
      notes: [
        'Each import goes to a new app, each git run to a new repository: no content is known in advance. git does not sync what it writes; the service does before it answers.',
      ],
    };

    /** A new app each time: files that an app has already are not stored again. */
    async function imported(body: Buffer, contentType?: string): Promise<number> {
      const { ms, body: answer } = await service.call('POST', `${await newApp(service)}/sources`, body, {
        contentType,
      });
      if (answer.source.fileCount !== FILES)
        throw new Error(`${String(answer.source.fileCount)} files were imported, not ${FILES}`);
      return ms;
    }
  },
};

export async function prepare({
  scratch,
}: Setup): Promise<{ json: Buffer; archive: Buffer; folder: string; path: string }> {
  const files = makeFiles(FILES, BYTES);
  const folder = join(scratch, 'files');
  mkdirSync(folder);
  writeFiles(folder, files);
  return {
    json: Buffer.from(JSON.stringify({ files })),
    archive: await tarGz(files),
    folder,
    path: files[0]!.path,
  };
}

const mib = (bytes: Buffer) => (bytes.length / 1024 / 1024).toFixed(0);

/** The repositories stay until the run's end: a file system that is still deleting creates slowly. */
async function gitStores({ scratch }: Setup, folder: string): Promise<number> {
  const env = { GIT_DIR: mkdtempSync(join(scratch, 'git-')), GIT_WORK_TREE: folder };
  await timed('git init -q', { cwd: folder, env });
  return (await timed('git add -A && git write-tree', { cwd: folder, env })).ms;
}
