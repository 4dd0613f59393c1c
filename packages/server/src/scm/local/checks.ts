/** Commit statuses as checks, and comments as review threads. */
import { lastBytes } from '../../cut-text.ts';
import type { CommitStatusRow, LocalCommentRow } from '../../db/schema.ts';
import { transaction } from '../../db/transaction.ts';
import { newId } from '../../ids.ts';
import { ProviderError } from '../provider.ts';
import type { AtRepository, ProviderCheck, ReviewThread } from '../provider.ts';
import { insertLocalComment } from '../store.ts';
import { loadPull } from './pull-rows.ts';

const STATES: Record<CommitStatusRow['state'], ProviderCheck['state']> = {
  pending: 'running',
  success: 'succeeded',
  failure: 'failing',
  error: 'failing',
};
/** Comments of a pull request that are read. */
const MAX_COMMENTS = 5_000;

/** Each context's newest; a required one without a status is running. */
export async function listChecks(at: AtRepository, commitSha: string): Promise<ProviderCheck[]> {
  const rows = await at.ctx.db
    .selectFrom('commit_statuses')
    .select(['id', 'context', 'state', 'target_url', 'description'])
    .select(({ eb }) => eb('log', 'is not', null).as('has_log'))
    .distinctOn('context')
    .where('repository_id', '=', at.repository.id)
    .where('commit_sha', '=', commitSha)
    .orderBy('context')
    .orderBy('id', 'desc')
    .execute();
  const known = new Set(rows.map(({ context }) => context));
  const awaited = at.repository.required_checks.filter((name) => !known.has(name));
  return [
    ...rows.map((row) => ({
      name: row.context,
      state: STATES[row.state],
      url: row.target_url,
      summary: row.description,
      logId: row.has_log ? row.id : null,
    })),
    ...[...new Set(awaited)].map((name) => ({
      name,
      state: 'running' as const,
      url: null,
      summary: null,
      logId: null,
    })),
  ];
}

/** Required checks that have not succeeded. */
export async function missingChecks(at: AtRepository, commitSha: string): Promise<string[]> {
  const { required_checks: required } = at.repository;
  if (!required.length) return [];
  const checks = await listChecks(at, commitSha);
  const succeeded = new Set(checks.filter(({ state }) => state === 'succeeded').map(({ name }) => name));
  return required.filter((name) => !succeeded.has(name));
}

export async function checkLog(at: AtRepository, logId: string, maxBytes: number): Promise<string | null> {
  const row = await at.ctx.db
    .selectFrom('commit_statuses')
    .select('log')
    .where('id', '=', logId)
    .where('repository_id', '=', at.repository.id)
    .executeTakeFirst();
  return row?.log == null ? null : lastBytes(row.log, maxBytes);
}

export async function listReviewThreads(
  { ctx, repository }: AtRepository,
  number: number,
): Promise<{ threads: ReviewThread[]; changesRequested: number }> {
  const rows = await ctx.db
    .selectFrom('local_comments')
    .selectAll()
    .where('repository_id', '=', repository.id)
    .where('number', '=', number)
    .orderBy('id')
    .limit(MAX_COMMENTS)
    .execute();
  const threads = new Map<string, ReviewThread>();
  for (const row of rows) {
    if (row.in_reply_to === null)
      threads.set(row.id, {
        id: row.id,
        isResolved: row.resolved,
        path: row.path,
        line: row.line,
        comments: [shown(row)],
      });
    else threads.get(row.in_reply_to)?.comments.push(shown(row));
  }
  return { threads: [...threads.values()], changesRequested: 0 };
}

/** Whoever comments here may write; the service has no account. */
const shown = (row: LocalCommentRow): ReviewThread['comments'][number] => ({
  id: row.id,
  author: row.author,
  isOwn: row.author_id === null,
  canWrite: true,
  body: row.body,
  createdAt: row.created_at.toISOString(),
});

export async function replyToThread(
  { ctx, repository }: AtRepository,
  number: number,
  threadId: string,
  body: string,
): Promise<void> {
  await transaction(ctx, async (tx) => {
    // Serialized, so that a reply by another process is seen.
    await loadPull(tx.db, repository.id, number, 'update');
    const comments = await tx.db
      .selectFrom('local_comments')
      .select(['id', 'body', 'in_reply_to', 'author_id'])
      .where('repository_id', '=', repository.id)
      .where('number', '=', number)
      .where(({ or, eb }) => or([eb('id', '=', threadId), eb('in_reply_to', '=', threadId)]))
      .execute();
    if (!comments.some((one) => one.id === threadId && one.in_reply_to === null))
      throw new ProviderError({ code: 'not_found' }, 'there is no such review thread');
    if (comments.some((one) => one.author_id === null && one.body === body)) return;
    await insertLocalComment(tx, {
      org_id: repository.org_id,
      id: newId('cmt'),
      repository_id: repository.id,
      number,
      body,
      in_reply_to: threadId,
      author: ctx.config.scm.commit.name,
    });
  });
}
