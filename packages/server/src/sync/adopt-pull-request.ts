/** A thread takes over a pull request that is there, with its branch. Nothing is changed at the provider. */
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Tx } from '../db/transaction.ts';
import { ApiError, notFound } from '../http/errors.ts';
import type { WriteResult } from '../http/write-request.ts';
import {
  changePullRequest,
  findByNumber,
  lockPullRequest,
  loopAfter,
  pullRequestView,
  pushAfter,
} from '../pull-requests/index.ts';
import type { Effect } from '../receipts/outside.ts';
import { openRepository, ProviderError, scmFault } from '../scm/index.ts';
import { lockThreadById } from '../threads/index.ts';
import { recordOpened } from './open-pull-request.ts';
import type { NewRecord, Opened } from './open-pull-request.ts';

export interface Adopting extends NewRecord {
  number: number;
  /** The thread's; the pull request has to go there too. */
  baseBranch: string;
}

export const adopting: Effect<Adopting, Opened> = {
  act: (ctx, target) => read(ctx, target),
  // It only reads: where an attempt broke off, another reading is as good.
  look: (ctx, target) =>
    read(ctx, target).catch((error: unknown) => {
      if (error instanceof ApiError && error.status < 500) return null;
      throw error;
    }),
  record,
};

async function read(ctx: Context, target: Adopting): Promise<Opened> {
  const { provider, at } = await openRepository(ctx, target.repositoryId);
  const pull = await provider.getPullRequest(at, target.number).catch((error: unknown) => {
    throw error instanceof ProviderError && error.fault.code === 'not_found'
      ? notFound('pull_request')
      : scmFault(error);
  });
  if (pull.state !== 'open' || !pull.isOwnHead || pull.baseRef !== target.baseBranch)
    throw new ApiError(
      'conflict',
      `Only an open pull request is taken over, from a branch of the same repository into the thread's base branch ${target.baseBranch}.`,
    );
  return { pull, repoFullName: at.repository.full_name, headSha: pull.headSha, headSourceId: null };
}

async function record(tx: Tx, target: Adopting, opened: Opened): Promise<WriteResult> {
  await lockThreadById(tx, target.threadId);
  await transferFrom(tx, target);
  const loaded = await recordOpened(tx, target, opened);
  return { status: 201, body: { ok: true, pullRequest: pullRequestView(loaded) } };
}

const TRANSFERRED = { code: 'conflict', message: 'Another thread has taken over the pull request.' };

/** A thread that had it keeps its object, which from now on only shows what the provider says. */
async function transferFrom(tx: Tx, { repositoryId, number }: Adopting): Promise<void> {
  for (const { id, transferred_at: before } of await findByNumber(tx.db, repositoryId, number)) {
    if (before !== null) continue;
    const loaded = (await lockPullRequest(tx, id))!;
    await changePullRequest(
      tx,
      loaded,
      {
        auto_push: false,
        transferred_at: sql<Date>`now()`,
        push_status: pushAfter(loaded.row.push_status, 'leave'),
        push_retry_at: null,
        ...(loaded.row.branch_update?.status === 'running'
          ? { branch_update: { ...loaded.row.branch_update, status: 'failed', error: TRANSFERRED } }
          : {}),
      },
      loopAfter(loaded.loop?.status ?? null, 'transfer'),
    );
  }
}
