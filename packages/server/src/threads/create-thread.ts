import { sql } from 'kysely';
import Type from 'typebox';
import type { Principal } from '../http/principal.ts';
import type { Registry } from '../agents/index.ts';
import { appendEvent } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import type { ProjectRow } from '../db/schema.ts';
import { json } from '../db/schema.ts';
import { ApiError, notFound } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import { Body, IdInput, Micros, Ok, Text } from '../http/schemas.ts';
import { newId } from '../ids.ts';
import { enqueue } from '../jobs/enqueue.ts';
import { acceptMessage, ClientMessageId, Content, Message, messageView, ModelId } from '../messages/index.ts';
import { headNotInitialized, loadProject, Metadata, scopeOf } from '../projects/index.ts';
import { queueRun, Run, runView } from '../runs/index.ts';
import { effectiveSettings } from '../settings/index.ts';
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
  baseBranch: Type.Optional(Text('main', { minLength: 1, maxLength: 255 })),
  sourceId: Type.Optional(IdInput('src')),
  spendLimitMicros: Type.Optional(Micros),
  message: Type.Optional(FirstMessage),
  executionTarget: Type.Optional(ExecutionTarget),
  trackerIssueUrl: Type.Optional(
    Type.String({ format: 'uri', maxLength: 2048, examples: ['https://tracker.example.com/TASK-1'] }),
  ),
  errorTrackerIssue: Type.Optional(ErrorTrackerIssue),
});

interface NewThread {
  sourceId?: string | undefined;
  title?: string | undefined;
  modelId?: string | undefined;
  spendLimitMicros?: number | undefined;
  metadata?: Record<string, string> | undefined;
  message?: { content: string; clientMessageId?: string | undefined } | undefined;
  baseBranch?: string | undefined;
  executionTarget?: Record<string, unknown> | undefined;
  trackerIssueUrl?: string | undefined;
  errorTrackerIssue?: Record<string, unknown> | undefined;
}

/** The source that a new thread starts from; a Direct project may have none. */
async function startingSource(
  tx: Tx,
  project: ProjectRow,
  asked: string | undefined,
): Promise<string | null> {
  if (asked === undefined) {
    if (project.head_source_id === null && project.kind === 'platform') throw headNotInitialized();
    return project.head_source_id;
  }
  const source = await tx.db
    .selectFrom('sources')
    .select('id')
    .where('project_id', '=', project.id)
    .where('id', '=', asked)
    .executeTakeFirst();
  if (!source) throw notFound('source');
  if (project.head_source_id === null) return source.id;
  const inHistory = await tx.db
    .selectFrom('head_history')
    .select('revision')
    .where('project_id', '=', project.id)
    .where('source_id', '=', source.id)
    .limit(1)
    .executeTakeFirst();
  if (!inHistory)
    throw new ApiError(
      'source_not_in_history',
      "A thread starts from a source in the head's history. Leave sourceId out to start from the head.",
    );
  return source.id;
}

/** Inserts a thread and the job that prepares it: `thread.updated`, then the first message's rows. */
async function startThread(
  tx: Tx,
  config: Registry,
  project: ProjectRow,
  principal: Principal,
  input: NewThread,
) {
  const sourceId = await startingSource(tx, project, input.sourceId);
  const settings = await effectiveSettings(tx.db, project);
  const inserted = await insertThread(tx, {
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
    spend_limit_micros: input.spendLimitMicros ?? settings.spendLimitMicros,
    created_by: principal.actorId,
    participant_user_ids: principal.userId ? [principal.userId] : [],
    tracker_issue_url: input.trackerIssueUrl ?? null,
    base_branch: input.baseBranch ?? null,
    error_tracker_issue: input.errorTrackerIssue ? json(input.errorTrackerIssue) : null,
    execution_target: input.executionTarget ? json(input.executionTarget) : null,
  });
  appendEvent(
    tx,
    scopeOf(project),
    'thread.updated',
    { id: inserted.id, status: inserted.status },
    { threadId: inserted.id },
  );
  await enqueue(tx, 'thread.initialize', { threadId: inserted.id }, { key: `thread:${inserted.id}` });
  if (!input.message) return { thread: inserted };
  const loaded = { thread: inserted, project };
  const accepted = await acceptMessage(tx, loaded, {
    ...input.message,
    startRun: (messageId) =>
      queueRun(tx, config, loaded, {
        kind: 'message',
        messageId,
        modelId: input.modelId ?? settings.modelId,
        createdBy: principal.actorId,
      }),
  });
  const thread = await writeThread(tx, inserted.id, accepted.thread);
  return { thread, message: accepted.message, run: accepted.run };
}

async function create(tx: Tx, config: Registry, project: ProjectRow, principal: Principal, input: NewThread) {
  const { thread, message, run } = await startThread(tx, config, project, principal, input);
  return {
    status: 201,
    scope: scopeOf(project),
    body: {
      ok: true,
      thread: await viewThread(tx.db, thread),
      ...(message && run ? { message: messageView(message), run: runView(run) } : {}),
    },
  };
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
  handle: async (tx, call) =>
    create(tx, call.ctx.config, await loadProject(tx.db, call, 'share'), call.principal, call.body),
});

export const createDirectThread = write({
  name: 'threads.createDirectThread',
  summary: 'Create a thread in a project',
  access: { permissions: ['thread:create'] },
  body: DirectBody,
  legacyKeys: ['/message/clientMessageId'],
  responses,
  handle: async (tx, call) =>
    create(
      tx,
      call.ctx.config,
      await loadProject(tx.db, call, 'share', call.body.projectId),
      call.principal,
      call.body,
    ),
});
