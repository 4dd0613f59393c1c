/** Whether the repositories, the records and the threads agree, once all is quiet. */
import { createHash } from 'node:crypto';
import type pg from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { current, sync } from './pulls.ts';
import type { Done } from './pulls.ts';
import { git, read } from './world.ts';
import type { TortureRepository, World } from './world.ts';

export interface Verdict {
  pulls: number;
  pushes: number;
  others: number;
  failures: string[];
}

const NO_COMMIT = '0'.repeat(40);
const SEEN_LIMIT_MS = 120_000;

export async function judge(world: World, table: pg.Client, all: readonly Done[]): Promise<Verdict> {
  const verdict: Verdict = { pulls: 0, pushes: 0, others: 0, failures: [] };
  await receiptsSettled(table, world);
  await Promise.all(all.map((done) => judgeThread(world, done, verdict)));
  const repositories = new Map(all.map(({ thread }) => [thread.repository.id, thread.repository]));
  for (const repository of repositories.values()) {
    const own = all.filter(({ thread }) => thread.repository === repository);
    await judgeBranches(repository, own, verdict);
    await judgeNumbers(world, table, { repository, own, verdict });
  }
  return verdict;
}

/** Nothing is left that nobody knows of whether it was done. Jobs that look at providers never end. */
async function receiptsSettled(table: pg.Client, { setup: { signal } }: World): Promise<void> {
  for (const deadline = Date.now() + SEEN_LIMIT_MS; ; await sleep(100, undefined, { signal })) {
    const { rowCount } = await table.query("select from operations where status in ('pending', 'uncertain')");
    if (!rowCount) return;
    if (Date.now() > deadline) throw new Error(`${rowCount} receipts are still to be settled`);
  }
}

/** What the open pull request's branch has is the thread's latest source. */
async function judgeThread(world: World, { thread, open }: Done, verdict: Verdict): Promise<void> {
  if (!open) return;
  const { repository } = thread;
  await sync(world, thread, { id: open.id, key: `${open.id}-last` });
  // Others' last commits have to be taken over first.
  let files = '',
    latest = '';
  for (
    const deadline = Date.now() + SEEN_LIMIT_MS;
    Date.now() < deadline;
    await sleep(500, undefined, { signal: world.setup.signal })
  ) {
    await current(world, thread, open.id);
    const { latestSourceId } = (await read(world, `/api/threads/${thread.id}`)).thread;
    latest = (await read(world, `/api/projects/${thread.projectId}/sources/${latestSourceId}`)).source.sha256;
    files = await filesOf(repository, `refs/heads/${open.headRef}`);
    if (files === latest) return;
  }
  verdict.failures.push(
    `${thread.id}: its latest source is ${latest}, its branch ${open.headRef} has ${files}`,
  );
}

/** The hash of a source with the files of a branch. */
async function filesOf({ dir }: TortureRepository, ref: string): Promise<string> {
  const entries = (await git(dir, 'ls-tree', '-rz', ref)).split('\0').filter(Boolean);
  const lines = await Promise.all(
    entries.map(async (entry) => {
      const [, mode, id, path] = /^(\d+) blob (\w+)\t(.*)$/s.exec(entry)!;
      const bytes = `${await git(dir, 'cat-file', 'blob', id!)}\n`;
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      return `${mode === '100755' ? '0755' : '0644'} ${sha256} ${bytes.length} ${path}\n`;
    }),
  );
  return createHash('sha256').update(lines.join('')).digest('hex');
}

/** Each branch only ever moved to a descendant, as its log of references says; what others pushed is in it. */
async function judgeBranches(
  { dir }: TortureRepository,
  own: readonly Done[],
  verdict: Verdict,
): Promise<void> {
  const branches = (await git(dir, 'for-each-ref', '--format=%(refname)', 'refs/heads')).split('\n');
  for (const branch of branches) {
    const moves = (await git(dir, 'reflog', 'show', '--no-abbrev', '--format=%H', branch))
      .split('\n')
      .toReversed();
    verdict.pushes += moves.length;
    let before = NO_COMMIT;
    for (const now of moves) {
      if (before !== NO_COMMIT && !(await isAncestor(dir, before, now)))
        verdict.failures.push(`${branch} was moved from ${before} to ${now}, which does not descend from it`);
      before = now;
    }
    for (const commit of own.flatMap(({ others }) => others.get(branch.replace('refs/heads/', '')) ?? [])) {
      verdict.others++;
      if (!(await isAncestor(dir, commit, branch)))
        verdict.failures.push(`${branch} has lost ${commit}, which another had pushed`);
    }
  }
}

const isAncestor = (dir: string, ancestor: string, commit: string) =>
  git(dir, 'merge-base', '--is-ancestor', ancestor, commit).then(
    () => true,
    () => false,
  );

/** The provider has the pull requests that were answered, each once. */
async function judgeNumbers(
  { standIn }: World,
  table: pg.Client,
  { repository, own, verdict }: { repository: TortureRepository; own: readonly Done[]; verdict: Verdict },
): Promise<void> {
  const made = standIn.repositories.find(({ dir }) => dir === repository.dir);
  const at = made
    ? made.pulls.map(({ number }) => number)
    : (
        await table.query<{ number: number }>(
          'select number::int as number from local_pull_requests where repository_id = $1',
          [repository.id],
        )
      ).rows.map(({ number }) => number);
  const answered = own.flatMap(({ numbers }) => numbers);
  verdict.pulls += at.length;
  const sorted = (numbers: number[]) => numbers.toSorted((a, b) => a - b).join(', ');
  if (sorted(at) !== sorted(answered))
    verdict.failures.push(
      `${repository.id}: the provider has ${sorted(at)}, answered were ${sorted(answered)}`,
    );
}
