/** Pull requests of the built-in provider: made, changed, read and found. */
import type { LocalPullRequestRow } from '../../db/schema.ts';
import { transaction } from '../../db/transaction.ts';
import type { Tx } from '../../db/transaction.ts';
import { isUniqueViolation } from '../../db/faults.ts';
import { isAncestor } from '../../git/merge-commits.ts';
import { lookSoon } from '../look-soon.ts';
import { ProviderError } from '../provider.ts';
import type { AtRepository } from '../provider.ts';
import { insertLocalPull, saveLocalPull } from '../store.ts';
import { findRival, loadPull } from './pull-rows.ts';
import { branchOf, readTips, readTipsOf, refreshPull, writeHead } from './refresh-pull.ts';
import type { Tips } from './refresh-pull.ts';
import { openLocalFolder } from './repository-folder.ts';
import { localPullAfter } from './state.ts';

export interface NewPull {
  title: string;
  body: string;
  draft: boolean;
  headRef: string;
  baseRef: string;
  author: string;
  /** The operation that makes it, by which it is found again. */
  operationId?: string;
}

export interface PullChange {
  title?: string;
  body?: string;
  draft?: boolean;
  baseRef?: string;
  state?: 'open' | 'closed';
}

const folderOf = ({ ctx, repository }: AtRepository) => openLocalFolder(ctx.config, repository);
const noBranch = () => new ProviderError({ code: 'not_found' }, 'the repository has no such branch');
const notOpen = () => new ProviderError({ code: 'not_open' }, 'the pull request is not open');
const exists = (number: number | undefined) =>
  new ProviderError({ code: 'exists', number: number ?? null }, 'one of the same branches is open');

/** Throws `not_found` and `no_changes`; gives the head's commit. */
async function requireChanges(
  folder: string,
  tips: Tips,
  { headRef, baseRef }: { headRef: string; baseRef: string },
) {
  const [head, base] = [tips.get(branchOf(headRef)), tips.get(branchOf(baseRef))];
  if (head === undefined || base === undefined) throw noBranch();
  if (await isAncestor(folder, head, base))
    throw new ProviderError({ code: 'no_changes' }, 'the base has every commit of the head');
  return head;
}

/** Throws `not_found`, `no_changes` and `exists`. */
export async function createPull(at: AtRepository, pull: NewPull): Promise<LocalPullRequestRow> {
  const { ctx, repository } = at;
  const folder = await folderOf(at);
  const head = await requireChanges(folder, await readTips(folder), pull);
  const row = await transaction(ctx, async (tx) => {
    const alive = await tx.db
      .selectFrom('repositories')
      .select('id')
      .where('id', '=', repository.id)
      .where('deleted_at', 'is', null)
      .forNoKeyUpdate()
      .executeTakeFirst();
    if (!alive) throw new ProviderError({ code: 'gone' }, 'the repository is deleted');
    const branches = { repository_id: repository.id, head_ref: pull.headRef, base_ref: pull.baseRef };
    const made = await insertLocalPull(tx, {
      ...branches,
      org_id: repository.org_id,
      title: pull.title,
      body: pull.body,
      draft: pull.draft,
      head_sha: head,
      author: pull.author,
      operation_id: pull.operationId ?? null,
    });
    if (!made) throw exists(await findRival(tx.db, branches));
    // Writes its ref, should this process die before it does.
    await lookSoon(tx, repository);
    return made;
  });
  await writeHead(folder, row, head);
  return row;
}

/** As its branches are now. Throws `not_found`. */
export async function getPull(at: AtRepository, number: number): Promise<LocalPullRequestRow> {
  const row = await loadPull(at.ctx.db, at.repository.id, number);
  if (row.state !== 'open') return row;
  const folder = await folderOf(at);
  return refreshPull(at.ctx, folder, row, await readTipsOf(folder, row));
}

/**
 * A closed one takes `state` `open` alone, a merged one nothing. Throws `not_found`, `not_open`, `exists` and
 * `no_changes`.
 */
export async function updatePull(
  at: AtRepository,
  number: number,
  change: PullChange,
): Promise<LocalPullRequestRow> {
  const before = await getPull(at, number);
  const baseRef = change.baseRef ?? before.base_ref;
  requireTaken(before, change);
  if (baseRef !== before.base_ref || before.state === 'closed') {
    const folder = await folderOf(at);
    const tips = await readTips(folder);
    // The head's branch may be gone; its last commit stays.
    const withHead = new Map([[branchOf(before.head_ref), before.head_sha], ...tips]);
    await requireChanges(folder, withHead, { headRef: before.head_ref, baseRef });
  }
  const row = await transaction(at.ctx, (tx) => changePull(tx, at, number, { ...change, baseRef })).catch(
    async (error: unknown) => {
      if (!isUniqueViolation(error)) throw error;
      throw exists(await findRival(at.ctx.db, { ...before, base_ref: baseRef }));
    },
  );
  return row.state === 'open' ? getPull(at, number) : row;
}

function requireTaken({ state }: LocalPullRequestRow, { state: to, ...rest }: PullChange): void {
  if (state === 'open') return;
  const isReopened = state === 'closed' && to === 'open' && Object.keys(rest).length === 0;
  if (!isReopened) throw notOpen();
}

async function changePull(
  tx: Tx,
  { repository }: AtRepository,
  number: number,
  change: PullChange & { baseRef: string },
): Promise<LocalPullRequestRow> {
  const now = await loadPull(tx.db, repository.id, number, 'update');
  const { baseRef, ...rest } = change;
  requireTaken(now, baseRef === now.base_ref ? rest : change);
  const to = change.state ?? now.state;
  const state = to === now.state ? now.state : localPullAfter(now.state, to === 'open' ? 'reopen' : 'close');
  if (state === null) throw notOpen();
  await lookSoon(tx, repository);
  return saveLocalPull(tx, now, {
    title: change.title ?? now.title,
    body: change.body ?? now.body,
    draft: change.draft ?? now.draft,
    base_ref: baseRef,
    state,
    // The next look finds out what would become of a merge.
    ...(baseRef === now.base_ref && state === now.state
      ? {}
      : { base_sha: null, mergeable: 'unknown' as const }),
  });
}

export async function findPulls(
  { ctx, repository }: AtRepository,
  { headRef, baseRef, state }: { headRef: string; baseRef?: string; state: 'open' | 'all' },
): Promise<LocalPullRequestRow[]> {
  let query = ctx.db
    .selectFrom('local_pull_requests')
    .selectAll()
    .where('repository_id', '=', repository.id)
    .where('head_ref', '=', headRef);
  if (baseRef !== undefined) query = query.where('base_ref', '=', baseRef);
  if (state === 'open') query = query.where('state', '=', 'open');
  return query.orderBy('number', 'desc').limit(100).execute();
}
