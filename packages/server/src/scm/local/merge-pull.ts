/**
 * A merge of the built-in provider, by git. In this order: the commit is made, which nothing names; the row
 * says which commit a merge brings (`merging_sha`); the base moves from the commit that was merged with to the
 * new one, with the row locked; the row says that it is merged. A process that dies in between leaves either
 * a base without the commit, and nothing was done, or one with it, and the next look (refresh-pull.ts) says
 * that it is merged.
 */
import type { LocalPullRequestRow, MergeMethod } from '../../db/schema.ts';
import { transaction } from '../../db/transaction.ts';
import { commitTree, isAncestor, mergeTrees, rebaseCommits } from '../../git/merge-commits.ts';
import { GitError, runGit } from '../../git/run-git.ts';
import { awaitUnlocked } from '../../git/stale-locks.ts';
import { lookSoon } from '../look-soon.ts';
import { ProviderError } from '../provider.ts';
import type { AtRepository, MergeRefusal } from '../provider.ts';
import { noteMerging, saveLocalPull } from '../store.ts';
import { missingChecks } from './checks.ts';
import { getPull } from './pull-requests.ts';
import { loadPull } from './pull-rows.ts';
import { branchOf, readTips } from './refresh-pull.ts';
import { openLocalFolder } from './repository-folder.ts';
import { localPullAfter } from './state.ts';

export interface Merge {
  method: MergeMethod;
  title?: string;
  message?: string;
  expectedHeadSha?: string;
}

/** Pushes to the base that may come in between. */
const ATTEMPTS = 5;
const REF_LIMIT_MS = 10_000;

const refused = (reason: MergeRefusal) =>
  new ProviderError({ code: 'merge_refused', reason }, `the merge is refused: ${reason}`);

/** Throws `not_found`, `not_open`, `head_moved`, `merge_refused`, and `unavailable` where the base moves on and on. */
export async function mergePull(at: AtRepository, number: number, how: Merge): Promise<LocalPullRequestRow> {
  const folder = await openLocalFolder(at.ctx.config, at.repository);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const row = await getPull(at, number);
    if (row.state !== 'open') throw new ProviderError({ code: 'not_open' }, 'the pull request is not open');
    await requireMergeable(at, row, how);
    const base = (await readTips(folder)).get(branchOf(row.base_ref));
    if (base === undefined) throw new ProviderError({ code: 'not_found' }, 'the base branch is gone');
    if (await isAncestor(folder, row.head_sha, base))
      throw new ProviderError({ code: 'no_changes' }, 'the base has every commit of the head');
    const commitSha = await mergeCommit(at, folder, { row, base, how });
    if (commitSha === null) throw refused('conflicting');
    const merged = await moveBase(at, folder, row, { base, commitSha });
    if (merged) return merged;
  }
  throw new ProviderError({ code: 'unavailable' }, 'the base branch moves all the time');
}

async function requireMergeable(at: AtRepository, row: LocalPullRequestRow, how: Merge): Promise<void> {
  if (how.expectedHeadSha !== undefined && how.expectedHeadSha !== row.head_sha)
    throw new ProviderError({ code: 'head_moved', headSha: row.head_sha }, 'the head is another one');
  if (row.draft) throw refused('draft');
  if (!at.repository.merge_methods.includes(how.method)) throw refused('method');
  if ((await missingChecks(at, row.head_sha)).length) throw refused('checks');
}

/** Makes the commit that the base is moved to; null where there are conflicts. */
async function mergeCommit(
  { ctx }: AtRepository,
  folder: string,
  { row, base, how }: { row: LocalPullRequestRow; base: string; how: Merge },
): Promise<string | null> {
  const { commit: person } = ctx.config.scm;
  const { head_sha: head, number } = row;
  const date = new Date();
  if (how.method === 'rebase') return rebaseCommits(folder, { base, head }, { person, date });
  const tree = await mergeTrees(folder, base, head);
  if (tree === null) return null;
  const isSquash = how.method === 'squash';
  const title =
    how.title ??
    (isSquash ? `${row.title} (#${number})` : `Merge pull request #${number} from ${row.head_ref}`);
  const message = how.message ?? (isSquash ? row.body : row.title);
  return commitTree(folder, {
    tree,
    parents: isSquash ? [base] : [base, head],
    message: message.trim() === '' ? title : `${title}\n\n${message}`,
    person,
    date,
    signingKey: person.signingKey,
  });
}

/** Null where the base, or the pull request, is another one by now. */
async function moveBase(
  { ctx, repository }: AtRepository,
  folder: string,
  row: LocalPullRequestRow,
  { base, commitSha }: { base: string; commitSha: string },
): Promise<LocalPullRequestRow | null> {
  const isSame = (now: LocalPullRequestRow) =>
    now.state === 'open' && now.head_sha === row.head_sha && now.base_ref === row.base_ref && !now.draft;
  const isNoted = await transaction(ctx, async (tx) => {
    const now = await loadPull(tx.db, row.repository_id, row.number, 'update');
    if (isSame(now)) await noteMerging(tx, row, commitSha);
    return isSame(now);
  });
  if (!isNoted) return null;
  const ref = branchOf(row.base_ref);
  await awaitUnlocked(folder, [ref]);
  return transaction(ctx, async (tx) => {
    const now = await loadPull(tx.db, row.repository_id, row.number, 'update');
    if (!isSame(now) || now.merging_sha !== commitSha) return null;
    // git moves one file here, in milliseconds. The lock keeps a look from taking it for not done meanwhile.
    if (!(await compareAndSwap(folder, ref, { from: base, to: commitSha }))) return null;
    await lookSoon(tx, repository);
    return saveLocalPull(tx, row, {
      state: localPullAfter(now.state, 'merge')!,
      merge_commit_sha: commitSha,
      merging_sha: null,
      base_sha: commitSha,
      mergeable: 'unknown',
    });
  });
}

/**
 * Whether a merge that a process left behind was done. Where it was not, what is left of it stops before it
 * moves the base.
 */
export async function abandonMerge(at: AtRepository, number: number): Promise<LocalPullRequestRow> {
  const noted = (await loadPull(at.ctx.db, at.repository.id, number)).merging_sha;
  if (noted !== null)
    await transaction(at.ctx, async (tx) => {
      const now = await loadPull(tx.db, at.repository.id, number, 'update');
      if (now.state !== 'open' || now.merging_sha !== noted) return;
      const folder = await openLocalFolder(at.ctx.config, at.repository);
      const base = (await readTips(folder)).get(branchOf(now.base_ref));
      if (base === undefined || !(await isAncestor(folder, noted, base))) await noteMerging(tx, now, null);
    });
  return getPull(at, number);
}

/** Moves a ref from one commit to another; false where it is elsewhere. */
async function compareAndSwap(
  folder: string,
  ref: string,
  { from, to }: { from: string; to: string },
): Promise<boolean> {
  try {
    await runGit(folder, ['update-ref', ref, to, from], { limitMs: REF_LIMIT_MS });
    return true;
  } catch (error) {
    if (error instanceof GitError && !error.timedOut) return false;
    throw error;
  }
}
