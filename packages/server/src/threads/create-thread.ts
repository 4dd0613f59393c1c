import { sql } from 'kysely';
import Type from 'typebox';
import type { Static } from 'typebox';
import type { Principal } from '../http/principal.ts';
import { appendEvent } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import type { ProjectRow, ThreadRow } from '../db/schema.ts';
import { json } from '../db/schema.ts';
import { isBranchName } from '../git/ref-names.ts';
import { requireCapability } from '../http/capabilities.ts';
import { ApiError, invalid } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import type { Call } from '../http/operation.ts';
import { Body, IdInput, Micros, Ok } from '../http/schemas.ts';
import { newId } from '../ids.ts';
import { enqueue } from '../jobs/enqueue.ts';
import { acceptMessage, ClientMessageId, Content, Message, messageView, ModelId } from '../messages/index.ts';
import {
  Branch,
  headNotInitialized,
  isInHeadHistory,
  loadProject,
  Metadata,
  scopeOf,
} from '../projects/index.ts';
import { requireWorker } from '../processes/index.ts';
import { queueRun, Run, runView } from '../runs/index.ts';
import { effectiveSettings } from '../settings/index.ts';
import { loadSource } from '../sources/index.ts';
import { giveTask, IssueUrl, issueUrlFaults } from '../tasks/index.ts';
import type { LoadedThread } from './policy.ts';
import { ErrorTrackerIssue, ExecutionTarget, Thread, Title } from './schemas.ts';
import { insertThread, writeThread } from './store.ts';
import { viewThread } from './view.ts';

const FirstMessage = Body({ content: Content, clientMessageId: Type.Optional(ClientMessageId) });

const PlatformBody = Body({
  sourceId: Type.Optional(
    IdInput(
      'src',
      "Default: the head. Has to be in the head's history; before a head exists, any source of the app.",
    ),
  ),
  title: Type.Optional(Title),
  modelId: Type.Optional(ModelId),
  spendLimitMicros: Type.Optional(Micros),
  metadata: Type.Optional(Metadata),
  message: Type.Optional(FirstMessage),
});
const DirectBody = Body({
  projectId: IdInput('prj'),
  title: Type.Optional(Title),
  modelId: Type.Optional(ModelId),
  baseBranch: Type.Optional({
    ...Branch,
    description:
      "In a project with a repository: the branch that the thread starts from. Default: the project's default branch.",
  }),
  sourceId: Type.Optional(
    IdInput(
      'src',
      'Instead of a branch. With a repository: the source of a commit; otherwise as for an app.',
    ),
  ),
  spendLimitMicros: Type.Optional(Micros),
  message: Type.Optional(FirstMessage),
  executionTarget: Type.Optional(ExecutionTarget),
  taskId: Type.Optional(IdInput('task', 'The task of the thread. It belongs to the same project.')),
  trackerIssueUrl: Type.Optional({
    ...IssueUrl,
    description:
      'The issue that the thread is about. The thread joins the task for this issue in the project, which is created if necessary.',
  }),
  errorTrackerIssue: Type.Optional(ErrorTrackerIssue),
});

interface NewThread {
  sourceId?: string | undefined;
  baseBranch?: string | undefined;
  title?: string | undefined;
  modelId?: string | undefined;
  spendLimitMicros?: number | undefined;
  metadata?: Record<string, string> | undefined;
  message?: { content: string; clientMessageId?: string | undefined } | undefined;
  taskId?: string | undefined;
  trackerIssueUrl?: string | undefined;
  errorTrackerIssue?: Record<string, unknown> | undefined;
}

/** Who creates a thread, and with which agents. */
type Caller = Pick<Call, 'principal' | 'ctx'>;

type Chosen = Pick<NewThread, 'sourceId' | 'baseBranch'>;

/** What a new thread starts from. */
interface Start {
  sourceId: string | null;
  baseCommitSha: string | null;
  baseBranch: string | null;
}

async function findStart(tx: Tx, project: ProjectRow, input: Chosen): Promise<Start> {
  if (project.repository_id !== null) return findStartInRepository(tx, project, input);
  if (input.baseBranch !== undefined)
    throw new ApiError(
      'repository_not_bound',
      'The project has no repository, and so no branches. Leave baseBranch out.',
    );
  const sourceId = await startingSource(tx, project, input.sourceId);
  return { sourceId, baseCommitSha: null, baseBranch: null };
}

/** A branch's commit is fetched when the thread is prepared; a stored one is known already. */
async function findStartInRepository(
  tx: Tx,
  project: ProjectRow,
  { sourceId, baseBranch }: Chosen,
): Promise<Start> {
  if (sourceId === undefined)
    return { sourceId: null, baseCommitSha: null, baseBranch: baseBranch ?? project.default_branch };
  const source = await loadSource(tx.db, project.id, sourceId);
  if (source.commit_sha === null)
    throw new ApiError(
      'source_not_in_history',
      'A thread starts from the source of a commit. Leave sourceId out to start from a branch.',
    );
  return { sourceId, baseCommitSha: source.commit_sha, baseBranch: source.commit_branch };
}

/** The source that a new thread of a project without a repository starts from; a Direct one may have none. */
async function startingSource(
  tx: Tx,
  project: ProjectRow,
  sourceId: string | undefined,
): Promise<string | null> {
  if (sourceId === undefined) {
    if (project.head_source_id === null && project.kind === 'platform') throw headNotInitialized();
    return project.head_source_id;
  }
  const source = await loadSource(tx.db, project.id, sourceId);
  if (project.head_source_id !== null && !(await isInHeadHistory(tx.db, project.id, source.id)))
    throw new ApiError(
      'source_not_in_history',
      "A thread starts from a source in the head's history. Leave sourceId out to start from the head.",
    );
  return source.id;
}

/**
 * Creates a thread and the job that prepares it, then its first message: `thread.updated`, then the events
 * of the message.
 */
async function create(tx: Tx, caller: Caller, project: ProjectRow, input: NewThread) {
  const settings = await effectiveSettings(tx.db, project);
  const inserted = await startThread(tx, caller.principal, project, {
    ...input,
    spendLimitMicros: input.spendLimitMicros ?? settings.spendLimitMicros,
  });
  const scope = scopeOf(project);
  if (!input.message)
    return { status: 201, scope, body: { ok: true, thread: await viewThread(tx.db, inserted.id) } };
  await requireWorker(caller.ctx, tx.db, { mayWait: true });
  const { message, run, ...accepted } = await acceptFirstMessage(
    tx,
    caller,
    { thread: inserted, project },
    { ...input.message, modelId: input.modelId ?? settings.modelId },
  );
  const thread = await writeThread(tx, inserted.id, accepted.thread);
  return {
    status: 201,
    scope,
    body: {
      ok: true,
      thread: await viewThread(tx.db, thread.id),
      message: messageView(message),
      run: runView(run),
    },
  };
}

async function startThread(
  tx: Tx,
  principal: Principal,
  project: ProjectRow,
  input: Omit<NewThread, 'spendLimitMicros'> & { spendLimitMicros: number | null },
): Promise<ThreadRow> {
  const task = await giveTask(tx, principal, project, input);
  const { sourceId, baseCommitSha, baseBranch } = await findStart(tx, project, input);
  const thread = await insertThread(tx, {
    org_id: project.org_id,
    id: newId('thr'),
    project_id: project.id,
    source_id: sourceId,
    latest_source_id: sourceId,
    model_id: input.modelId ?? null,
    title: input.title ?? null,
    metadata: json(input.metadata ?? {}),
    status: 'queued',
    initialization_state: 'accepted',
    initialization_updated_at: sql<Date>`now()`,
    spend_limit_micros: input.spendLimitMicros,
    created_by: principal.actorId,
    participant_user_ids: principal.userId ? [principal.userId] : [],
    task_id: task?.id ?? null,
    thread_index: task?.last_thread_index ?? null,
    tracker_issue_url: input.trackerIssueUrl ?? task?.tracker_issue_url ?? null,
    base_branch: baseBranch,
    base_commit_sha: baseCommitSha,
    error_tracker_issue: input.errorTrackerIssue ? json(input.errorTrackerIssue) : null,
  });
  appendEvent(tx, { ...scopeOf(project), threadId: thread.id }, 'thread.updated', {
    id: thread.id,
    status: thread.status,
  });
  await enqueue(
    tx,
    'thread.initialize',
    { threadId: thread.id },
    { key: `thread:${thread.id}`, turnOf: thread },
  );
  return thread;
}

function acceptFirstMessage(
  tx: Tx,
  { ctx, principal }: Caller,
  loaded: LoadedThread,
  { modelId, ...message }: NonNullable<NewThread['message']> & { modelId: string },
) {
  return acceptMessage(tx, loaded, {
    ...message,
    startRun: (messageId) =>
      queueRun(tx, ctx.config, loaded, {
        kind: 'message',
        messageId,
        modelId,
        createdBy: principal.actorId,
      }),
  });
}

const responses = { 201: Ok({ thread: Thread, message: Type.Optional(Message), run: Type.Optional(Run) }) };

export const createThread = write({
  name: 'threads.createThread',
  summary: 'Create a thread, with or without a first message',
  description: 'The thread owns an isolated workspace, which is prepared after the answer.',
  access: { permissions: ['thread:create'] },
  body: PlatformBody,
  legacyKeys: ['/message/clientMessageId'],
  responses,
  handle: async (tx, call) => create(tx, call, await loadProject(tx.db, call, 'share'), call.body),
});

export const createDirectThread = write({
  name: 'threads.createDirectThread',
  summary: 'Create a thread in a project',
  access: { permissions: ['thread:create'] },
  body: DirectBody,
  legacyKeys: ['/message/clientMessageId'],
  responses,
  async handle(tx, call) {
    requireConsistent(call.body);
    const project = await loadProject(tx.db, call, 'share', call.body.projectId);
    if (call.body.executionTarget !== undefined) throw noHosts(call, project);
    return create(tx, call, project, call.body);
  },
});

/** What the schema cannot say. */
function requireConsistent(body: Static<typeof DirectBody>): void {
  const { sourceId, baseBranch, trackerIssueUrl, errorTrackerIssue } = body;
  const faults = [
    ...(sourceId !== undefined && baseBranch !== undefined
      ? [{ path: '/baseBranch', message: 'must not be given together with sourceId' }]
      : []),
    ...(baseBranch !== undefined && !isBranchName(baseBranch)
      ? [{ path: '/baseBranch', message: 'must have at most 255 bytes' }]
      : []),
    ...issueUrlFaults('/trackerIssueUrl', trackerIssueUrl),
    ...issueUrlFaults('/errorTrackerIssue/url', errorTrackerIssue?.url),
  ];
  if (faults.length) throw invalid(...faults);
}

/** There are no local hosts yet: their work never runs in a sandbox of ours instead. */
function noHosts({ ctx, principal }: Pick<Call, 'ctx' | 'principal'>, { kind }: ProjectRow): ApiError {
  if (kind === 'platform') return invalid({ path: '/executionTarget', message: 'an app has no local hosts' });
  requireCapability(ctx.config, principal, 'hosts');
  return new ApiError('not_configured', 'This deployment has no local hosts. Leave executionTarget out.');
}
