/**
 * A draft of one file merged into a head that has moved meanwhile, on 10,000 files, compared with git's merge
 * of the same three trees.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { newAppWith, newReadyThread } from '../../harness/apps.ts';
import type { Benchmark, Setup } from '../lib/benchmark.ts';
import { makeFiles } from '../../harness/files.ts';
import type { AppFile } from '../../harness/files.ts';
import { timed } from '../../harness/git.ts';
import type { Caller } from '../../harness/http.ts';
import { summarize } from '../../harness/statistics.ts';

const FILES = 10_000;
const BYTES = 32 * 1024 * 1024;

export const applyBenchmark: Benchmark = {
  name: 'apply',
  title: 'Apply of a one-file draft on 10,000 files',
  async run(setup) {
    const files = makeFiles(FILES, BYTES);
    const rounds = setup.quick ? 3 : 25;
    const repository = await gitHistory(setup, files, rounds);
    const service = await setup.start();
    const { app, sourceId } = await newAppWith(service, files);
    let base = sourceId;
    // The first apply has nothing to merge; it makes the head move away from the first round's base.
    let head = (await applied(service, app, await draft(service, app, base, changed(files, 0)))).sourceId;
    const [whole, admission, byGit]: [number[], number[], number[]] = [[], [], []];
    for (let round = 1; round <= rounds; round++) {
      const change = changed(files, round);
      byGit.push(
        (await timed(`git merge-tree --write-tree head-${round} draft-${round}`, { cwd: repository })).ms,
      );
      const next = await applied(service, app, await draft(service, app, base, change));
      whole.push(next.total);
      admission.push(next.admission);
      await expectBoth(service, app, next.sourceId, [changed(files, round - 1), change]);
      base = head;
      head = next.sourceId;
    }
    const [total, git] = [summarize(whole), summarize(byGit)];
    return {
      rows: [
        { what: 'POST apply → applied seen', unit: 'ms', figures: total },
        { what: 'of that, POST apply → answer', unit: 'ms', figures: summarize(admission) },
        { what: 'git merge-tree --write-tree', unit: 'ms', figures: git },
      ],
      aims: [{ what: 'p50', bound: 'most', limit: 60, value: total.median, unit: 'ms' }],
      notes: [
        "The head is one file away from the draft's base: each apply is a three-way merge. An apply is two transactions, each on disk before it is answered, and a new durable version; git writes one tree object and moves nothing.",
      ],
    };
  },
};

interface Draft {
  thread: string;
  sourceId: string;
}

const changed = (files: AppFile[], round: number): AppFile => {
  const { path, content } = files[(round * 331) % FILES]!;
  return { path, content: `${content}round ${round};\n` };
};

async function draft(service: Caller, app: string, base: string, change: AppFile): Promise<Draft> {
  const thread = await newReadyThread(service, app, base);
  const { body } = await service.call('POST', `${thread}/edits`, {
    expectedSourceId: base,
    changes: [change],
  });
  return { thread, sourceId: body.source.id as string };
}

async function applied(
  service: Caller,
  app: string,
  { thread, sourceId }: Draft,
): Promise<{ total: number; admission: number; sourceId: string }> {
  const key = crypto.randomUUID();
  const from = performance.now();
  const admitted = await service.call(
    'POST',
    `${thread}/apply`,
    { expectedSourceId: sourceId, clientOperationId: key, conflictResolution: 'manual' },
    { key },
  );
  const { apply } = (
    await service.call('GET', `${app}/applies/${admitted.body.apply.id as string}?waitSeconds=30`)
  ).body;
  const total = performance.now() - from;
  if (apply.status !== 'applied')
    throw new Error(`The apply ended ${String(apply.status)}: ${String(apply.error)}`);
  await service.call('DELETE', thread);
  return { total, admission: admitted.ms, sourceId: apply.resultSourceId as string };
}

async function expectBoth(service: Caller, app: string, sourceId: string, changes: AppFile[]): Promise<void> {
  for (const { path, content } of changes) {
    const { file } = (
      await service.call('GET', `${app}/sources/${sourceId}/file?path=${encodeURIComponent(path)}`)
    ).body;
    if (file.content !== content) throw new Error(`${path} is not what was merged`);
  }
}

/** The same history in one pack: per round a head and a draft, each one file away from their base. */
async function gitHistory({ scratch }: Setup, files: AppFile[], rounds: number): Promise<string> {
  const repository = join(scratch, 'repository');
  mkdirSync(repository);
  await timed('git init -q', { cwd: repository });
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const modify = ({ path, content }: AppFile) => `M 100644 inline ${path}\n${data(content)}`;
  const commit = (name: string, from: string | null, changes: AppFile[]) =>
    `commit refs/heads/${name}\ncommitter b <b@example.test> 0 +0000\n${data(name)}${from === null ? '' : `from refs/heads/${from}\n`}${changes.map(modify).join('')}\n`;
  const input = [commit('head-0', null, files)];
  for (let round = 1; round <= rounds; round++)
    input.push(
      commit(`head-${round}`, `head-${round - 1}`, [changed(files, round - 1)]),
      commit(`draft-${round}`, `head-${round - 1}`, [changed(files, round)]),
    );
  await timed('git fast-import --quiet', { cwd: repository, input: input.join('') });
  return repository;
}
