import Type from 'typebox';
import type { Static } from 'typebox';
import type { Context } from '../context.ts';
import type { ProjectRow, ThreadRow } from '../db/schema.ts';
import type { EventScope, Tx } from '../db/transaction.ts';
import { requirePermissions } from '../http/authorize.ts';
import { ApiError, invalid, notFound } from '../http/errors.ts';
import type { Call } from '../http/operation.ts';
import { seesProject } from '../http/principal.ts';
import { Body, Ok, Text } from '../http/schemas.ts';
import { newId } from '../ids.ts';
import { scopeOf } from '../projects/index.ts';
import { outsideWrite } from '../receipts/outside-write.ts';
import { effectiveSettings } from '../settings/index.ts';
import {
  anotherIsOpen,
  branchName,
  creating,
  defaultBody,
  defaultTitle,
  hold,
  messageOf,
  nextCommitMessage,
} from '../sync/index.ts';
import type { Creating } from '../sync/index.ts';
import { lockThread, requireOpen } from '../threads/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import { newLoop } from './loop-state.ts';
import { MAX_BODY, MAX_TITLE, PullRequest } from './schemas.ts';
import { countPullRequests, findByNumber, findOpen } from './store.ts';

const NewPullRequest = Body({
  title: Type.Optional(Text('Overdue reminders', { minLength: 1, maxLength: MAX_TITLE })),
  body: Type.Optional(Text('Reminds customers of overdue invoices.', { maxLength: MAX_BODY })),
  draft: Type.Optional(Type.Boolean()),
  base: Type.Optional(Text('main', { minLength: 1, maxLength: 255 })),
  number: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      examples: [7],
      description:
        'Takes over an open pull request from a branch of the repository into the base branch of the thread. Only `reviewLoop` may be sent with it.',
    }),
  ),
  reviewLoop: Type.Optional(
    Body({ enabled: Type.Optional(Type.Boolean()), autoMerge: Type.Optional(Type.Boolean()) }),
  ),
  commentOnIssue: Type.Optional(
    Type.Boolean({ description: "Posts one comment with its address on the thread's issue." }),
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
  const nothing = new ApiError(
    'no_changes',
    'The thread has no changes to its base commit. Change a file first.',
  );
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

/** What does not go with the number of a pull request that is there. */
function requireAlone(body: New): void {
  if (body.number === undefined) return;
  const given = Object.keys(body).filter((name) => name !== 'number' && name !== 'reviewLoop');
  if (given.length > 0)
    throw invalid(
      ...given.map((name) => ({ path: `/${name}`, message: 'must not be given together with number' })),
    );
}

/** Refuses, in this order: archived, sealed, not bound, busy, another one is open, nothing changed or fetched. */
async function claim(
  tx: Tx,
  call: NewCall,
  operationId: string,
): Promise<{ target: Creating; scope: EventScope }> {
  const { thread, project } = await lockThread(tx, call);
  requireOpen(thread);
  if (project.repository_id === null) throw notBound();
  await hold(tx, thread, operationId);
  const open = await findOpen(tx.db, thread.id);
  if (open) throw anotherIsOpen(open.id);
  const settings = await effectiveSettings(tx.db, project);
  const { body, principal } = call;
  const record = {
    id: newId('pr'),
    orgId: thread.org_id,
    projectId: project.id,
    threadId: thread.id,
    repositoryId: project.repository_id,
    reviewLoop: newLoop(body.reviewLoop, settings.reviewLoop),
    createdBy: principal.actorId,
    address: call.address,
  };
  if (body.number !== undefined) {
    if (thread.base_commit_sha === null || thread.base_branch === null) throw nothingFetched();
    await requireSeen(tx, call, { repositoryId: project.repository_id, number: body.number });
    const target = { ...record, number: body.number, baseBranch: thread.base_branch };
    return { target, scope: scopeOf(project) };
  }
  const draft = body.draft ?? settings.pullRequests.draft;
  const target = { ...record, draft, ...(await openingOf(tx, call, { thread, project })) };
  return { target, scope: scopeOf(project) };
}

/** A restricted key takes none from a thread of another project: throws 404. */
async function requireSeen(
  tx: Tx,
  { principal }: NewCall,
  { repositoryId, number }: { repositoryId: string; number: number },
): Promise<void> {
  const known = await findByNumber(tx.db, repositoryId, number);
  const holders = known.filter(({ transferred_at: lost }) => lost === null);
  if (!holders.every((row) => seesProject(principal, row.project_id))) throw notFound('pull_request');
}

type NewCall = Call<Record<string, never>, New>;

/** What is opened: the thread's change, under its title. */
async function openingOf(tx: Tx, { ctx, body }: NewCall, { thread, project }: LoadedThread) {
  const change = await changeOf(tx, thread);
  const defaults = await defaultsOf(tx, thread, project);
  const title = body.title ?? defaults.title;
  return {
    ...change,
    ...(await commitOf(tx, ctx, thread, { title, sourceId: change.sourceId })),
    title,
    body: body.body ?? defaults.body,
    base: body.base ?? thread.base_branch ?? project.default_branch!,
    branch: branchName(ctx.config.scm.branchPrefix, title, thread.id),
    firstNumber: (await countPullRequests(tx.db, thread.id)) + 1,
    commentOnIssue: body.commentOnIssue ?? false,
  };
}

/** Its message and date are fixed here: another attempt makes the same commit. */
async function commitOf(
  tx: Tx,
  ctx: Context,
  thread: ThreadRow,
  { title, sourceId }: { title: string; sourceId: string },
): Promise<{ message: string; authoredAt: string }> {
  const commit = { threadId: thread.id, afterSourceId: null, sourceId, subject: title };
  return {
    message: await nextCommitMessage(ctx, tx.db, commit),
    authoredAt: new Date().toISOString(),
  };
}

const nothingFetched = () =>
  new ApiError(
    'no_changes',
    'The repository has not been fetched for the thread yet. Wait until the thread is ready.',
  );

const notBound = () =>
  new ApiError(
    'repository_not_bound',
    'The project has no repository. Create a project with one to open pull requests.',
  );

export const createPullRequest = outsideWrite({
  name: 'pullRequests.createPullRequest',
  summary: "Open a pull request with the thread's changes",
  description:
    'Pushes one commit on the base commit as a new branch. Later changes of the thread are pushed while it is open. `title`, `body` and `base` default to values from the thread.',
  access: { permissions: ['thread:update'] },
  capability: 'sourceControl',
  body: NewPullRequest,
  responses: { 201: Ok({ pullRequest: PullRequest }) },
  errors: [503],
  async claim(tx, call, operationId) {
    requireAlone(call.body);
    if (call.body.reviewLoop?.autoMerge === true) requirePermissions(call, ['repo:update']);
    return claim(tx, call, operationId);
  },
  effect: creating,
});
