/**
 * What a repository's branches say of its pull requests. A row follows its branches: its head, whether the head
 * is in the base by now, and what would become of a merge. Looking twice changes nothing more, so that
 * whatever a process left behind is made good by the next look.
 */
import type { Context } from '../../context.ts';
import type { LocalPullRequestRow, RepositoryRow } from '../../db/schema.ts';
import { transaction } from '../../db/transaction.ts';
import { isAncestor, mergeTrees } from '../../git/merge-commits.ts';
import { readRefs } from '../../git/read-refs.ts';
import { runGit } from '../../git/run-git.ts';
import { awaitUnlocked } from '../../git/stale-locks.ts';
import { saveLocalPull } from '../store.ts';
import { loadPull } from './pull-rows.ts';
import { openLocalFolder } from './repository-folder.ts';
import { localPullAfter } from './state.ts';

type Pull = Pick<LocalPullRequestRow, 'repository_id' | 'number'>;
export type Tips = ReadonlyMap<string, string>;

/** The commits of the repository's branches and pull requests, by the whole names of the refs. */
export async function readTips(folder: string): Promise<Tips> {
  const { output } = await runGit(folder, [
    'for-each-ref',
    '--format=%(objectname) %(refname)',
    'refs/heads/',
    'refs/pull/',
  ]);
  const lines = output.toString('utf8').split('\n').slice(0, -1);
  return new Map(lines.map((line) => [line.slice(41), line.slice(0, 40)]));
}

/** The same for a single pull request. */
export const readTipsOf = (
  folder: string,
  row: Pick<LocalPullRequestRow, 'repository_id' | 'number' | 'head_ref' | 'base_ref'>,
): Promise<Tips> => readRefs(folder, [branchOf(row.head_ref), branchOf(row.base_ref), headOf(row)]);

export const headOf = (pull: Pull): string => `refs/pull/${pull.number}/head`;
export const branchOf = (name: string): string => `refs/heads/${name}`;

/** Moves a ref of a pull request, where nothing else writes. */
export async function writeHead(folder: string, pull: Pull, commitSha: string): Promise<void> {
  await awaitUnlocked(folder, [headOf(pull)]);
  await runGit(folder, ['update-ref', headOf(pull), commitSha]);
}

/** Looks at all that are open. */
export async function refreshLocalPullRequests(
  ctx: Context,
  repository: Pick<RepositoryRow, 'id' | 'default_branch'>,
): Promise<void> {
  const rows = await ctx.db
    .selectFrom('local_pull_requests')
    .selectAll()
    .where('repository_id', '=', repository.id)
    .where('state', '=', 'open')
    .orderBy('number')
    .execute();
  if (!rows.length) return;
  const folder = await openLocalFolder(ctx.config, repository);
  const tips = await readTips(folder);
  for (const row of rows) {
    if (ctx.shutdown.aborted) return;
    await refreshPull(ctx, folder, row, tips);
  }
}

/** Looks at one that was read before `tips` were. Gives the row as it is then. */
export async function refreshPull(
  ctx: Context,
  folder: string,
  row: LocalPullRequestRow,
  tips: Tips,
): Promise<LocalPullRequestRow> {
  if (row.state !== 'open') return row;
  // The branch may be gone: its last commit stays.
  const headSha = tips.get(branchOf(row.head_ref)) ?? row.head_sha;
  const baseSha = tips.get(branchOf(row.base_ref)) ?? null;
  if (tips.get(headOf(row)) !== headSha) await writeHead(folder, row, headSha);
  if (headSha === row.head_sha && baseSha === row.base_sha) return row;
  const mergeCommitSha = baseSha === null ? null : await mergedBy(folder, row, { headSha, baseSha });
  const mergeable =
    baseSha === null || mergeCommitSha !== null
      ? 'unknown'
      : (await mergeTrees(folder, baseSha, headSha)) === null
        ? 'conflicting'
        : 'mergeable';
  return transaction(ctx, async (tx) => {
    const now = await loadPull(tx.db, row.repository_id, row.number, 'update');
    const isAsBefore =
      now.state === 'open' &&
      now.head_sha === row.head_sha &&
      now.base_ref === row.base_ref &&
      now.base_sha === row.base_sha &&
      now.merging_sha === row.merging_sha;
    // Another look was faster: the branches may have moved since these tips.
    if (!isAsBefore) return now;
    return saveLocalPull(tx, row, {
      head_sha: headSha,
      base_sha: baseSha,
      mergeable,
      ...(mergeCommitSha === null
        ? {}
        : {
            state: localPullAfter(now.state, 'merge')!,
            merge_commit_sha: mergeCommitSha,
            merging_sha: null,
            // A merge of our own has the head that it merged.
            ...(mergeCommitSha === now.merging_sha ? { head_sha: now.head_sha } : {}),
          }),
    });
  });
}

/** The commit that brought the pull request into its base; null where it is not there. */
async function mergedBy(
  folder: string,
  row: LocalPullRequestRow,
  { headSha, baseSha }: { headSha: string; baseSha: string },
): Promise<string | null> {
  if (row.merging_sha !== null && (await isAncestor(folder, row.merging_sha, baseSha)))
    return row.merging_sha;
  for (const head of new Set([row.head_sha, headSha])) {
    if (!(await isAncestor(folder, head, baseSha))) continue;
    // A branch that was set back to what the base has had brought nothing.
    if (head === row.head_sha || (await isAncestor(folder, row.head_sha, head)))
      return bringer(folder, head, baseSha);
  }
  return null;
}

/** The first commit of the base's own line that has the head in its history: the head itself where it is on it. */
async function bringer(folder: string, head: string, base: string): Promise<string> {
  const { output } = await runGit(folder, [
    'rev-list',
    '--first-parent',
    '--ancestry-path',
    '--parents',
    base,
    `^${head}`,
  ]);
  const [first, ...parents] = output.toString('latin1').trim().split('\n').at(-1)!.split(' ');
  return first === '' || parents[0] === head ? head : first!;
}
