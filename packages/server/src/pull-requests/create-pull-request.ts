import Type from 'typebox';
import type { Static } from 'typebox';
import type { Context } from '../context.ts';
import type { ProjectRow, ThreadRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { requirePermissions } from '../http/authorize.ts';
import { ApiError } from '../http/errors.ts';
import type { Call } from '../http/operation.ts';
import { Body, Ok, Text } from '../http/schemas.ts';
import { newId } from '../ids.ts';
import { scopeOf } from '../projects/index.ts';
import { outsideWrite } from '../receipts/outside-write.ts';
import { effectiveSettings } from '../settings/index.ts';
import {
  anotherIsOpen,
  branchName,
  defaultBody,
  defaultTitle,
  hold,
  messageOf,
  nextCommitMessage,
  opening,
} from '../sync/index.ts';
import type { Opening } from '../sync/index.ts';
import { lockThread, requireOpen } from '../threads/index.ts';
import { newLoop } from './loop-state.ts';
import { MAX_BODY, MAX_TITLE, PullRequest } from './schemas.ts';
import { countPullRequests, findOpen } from './store.ts';

const NewPullRequest = Body({
  title: Type.Optional(Text('Overdue reminders', { minLength: 1, maxLength: MAX_TITLE })),
  body: Type.Optional(Text('Reminds customers of overdue invoices.', { maxLength: MAX_BODY })),
  draft: Type.Optional(Type.Boolean()),
  base: Type.Optional(Text('main', { minLength: 1, maxLength: 255 })),
  reviewLoop: Type.Optional(
    Body({ enabled: Type.Optional(Type.Boolean()), autoMerge: Type.Optional(Type.Boolean()) }),
  ),
  commentOnIssue: Type.Optional(
    Type.Boolean({ description: "One comment with its address on the thread's issue." }),
  ),
});
type New = Static<typeof NewPullRequest>;

interface Change {
  sourceId: string;
  baseSourceId: string;
  baseCommitSha: string;
}

/** What the thread has changed since its base commit. Throws `no_changes`. */
async function changeOf(tx: Tx, thread: ThreadRow): Promise<Change> {
  const { base_commit_sha: baseCommitSha, latest_source_id: sourceId } = thread;
  const nothing = new ApiError('no_changes', 'The thread has no change of its base commit.');
  if (baseCommitSha === null || sourceId === null) throw nothing;
  const sources = await tx.db
    .selectFrom('sources')
    .select(['id', 'sha256', 'commit_sha'])
    .where((q) => q.or([q('id', '=', sourceId), q('commit_sha', '=', baseCommitSha)]))
    .where('project_id', '=', thread.project_id)
    .execute();
  const base = sources.find(({ commit_sha: sha }) => sha === baseCommitSha)!;
  const latest = sources.find(({ id }) => id === sourceId)!;
  if (base.sha256 === latest.sha256) throw nothing;
  return { sourceId, baseSourceId: base.id, baseCommitSha };
}

async function defaultsOf(tx: Tx, thread: ThreadRow, project: ProjectRow) {
  const { url } = await tx.db
    .selectFrom('repositories')
    .select('url')
    .where('id', '=', project.repository_id)
    .executeTakeFirstOrThrow();
  const errorTrackerUrl = thread.error_tracker_issue?.['url'];
  return {
    title: defaultTitle(thread.title, await messageOf(tx.db, thread.id, 'user', 'first')),
    body: defaultBody(await messageOf(tx.db, thread.id, 'assistant', 'last'), {
      trackerIssueUrl: thread.tracker_issue_url,
      errorTrackerUrl: typeof errorTrackerUrl === 'string' ? errorTrackerUrl : null,
      repositoryUrl: url,
    }),
  };
}

/** Refuses, in this order: archived, sealed, not bound, busy, another one is open, nothing changed. */
async function claim(tx: Tx, call: Call<Record<string, never>, New>, operationId: string) {
  const { ctx, body, principal } = call;
  const { thread, project } = await lockThread(tx, call);
  requireOpen(thread);
  if (project.repository_id === null) throw notBound();
  await hold(tx, thread, operationId);
  const open = await findOpen(tx.db, thread.id);
  if (open) throw anotherIsOpen(open.id);
  const change = await changeOf(tx, thread);
  const settings = await effectiveSettings(tx.db, project);
  const defaults = await defaultsOf(tx, thread, project);
  const title = body.title ?? defaults.title;
  const target: Opening = {
    ...change,
    ...(await commitOf(tx, ctx, thread, { title, sourceId: change.sourceId })),
    id: newId('pr'),
    orgId: thread.org_id,
    projectId: project.id,
    threadId: thread.id,
    repositoryId: project.repository_id,
    title,
    body: body.body ?? defaults.body,
    draft: body.draft ?? settings.pullRequests.draft,
    base: body.base ?? thread.base_branch ?? project.default_branch!,
    branch: branchName(ctx.config.scm.branchPrefix, title, thread.id),
    firstNumber: (await countPullRequests(tx.db, thread.id)) + 1,
    reviewLoop: newLoop(body.reviewLoop, settings.reviewLoop),
    commentOnIssue: body.commentOnIssue ?? false,
    createdBy: principal.actorId,
    address: call.address,
  };
  return { target, scope: scopeOf(project) };
}

/** Its message and date are fixed here: another attempt makes the same commit. */
async function commitOf(
  tx: Tx,
  ctx: Context,
  thread: ThreadRow,
  { title, sourceId }: { title: string; sourceId: string },
): Promise<Pick<Opening, 'message' | 'authoredAt'>> {
  const commit = { threadId: thread.id, afterSourceId: null, sourceId, subject: title };
  return {
    message: await nextCommitMessage(ctx, tx.db, commit),
    authoredAt: new Date().toISOString(),
  };
}

const notBound = () =>
  new ApiError('repository_not_bound', 'The project has no repository. Pull requests need one.');

export const createPullRequest = outsideWrite({
  name: 'pullRequests.createPullRequest',
  summary: "Open a pull request with the thread's changes",
  description:
    'One commit upon the base commit, pushed as a new branch. Later changes of the thread are pushed while it is open. `title`, `body` and `base` follow from the thread where they are left out.',
  access: { permissions: ['thread:update'] },
  capability: 'sourceControl',
  body: NewPullRequest,
  responses: { 201: Ok({ pullRequest: PullRequest }) },
  errors: [503],
  async claim(tx, call, operationId) {
    if (call.body.reviewLoop?.autoMerge === true) requirePermissions(call, ['repo:update']);
    return claim(tx, call, operationId);
  },
  effect: opening,
});
