/** Threads, their messages and approvals. */
import type { Message, Run, Thread, UpdateThreadInput } from '../generated/types.ts';
import { inOrder, newestFirst, page, waitUntil } from './call.ts';
import type { Call, Reply } from './call.ts';
import { Fault, notFound } from './fault.ts';
import { checked, flagOf } from './input.ts';
import { endRun, queueRun } from './runs.ts';
import { addSource, CHANGE, sourceOf, withChanges } from './sources.ts';
import type { FileInput } from './sources.ts';
import { ACTOR, isOpen, requireFree } from './world.ts';
import type { AppState, Place, ThreadState, World } from './world.ts';

const MESSAGE = { content: 'text100000!', clientMessageId: 'text128' };
interface MessageInput {
  content: string;
  clientMessageId?: string;
  modelId?: string;
}

const BEGINNING = {
  title: 'any500',
  modelId: 'text128',
  spendLimitMicros: 'count',
  metadata: 'texts',
  message: 'object',
};
type Beginning = Omit<Partial<Thread>, 'sourceId'> & { message?: MessageInput };
interface Start {
  sourceId: string;
  latestSourceId: string;
  inherited?: Message[];
}

export const threadOf = ({ world, ids }: Call): Place => world.thread(ids[0]!, ids[1]!);

function startOf(app: AppState, sourceId: string | undefined): string {
  if (sourceId === undefined) {
    if (app.app.headSourceId === null)
      throw new Fault('head_not_initialized', 'The app has no head yet. Initialize it with a source.');
    return app.app.headSourceId;
  }
  const { source } = sourceOf(app, sourceId);
  if (app.heads.length > 0 && !app.heads.some((head) => head.sourceId === source.id))
    throw new Fault('source_not_in_history', "A thread starts from a source in the head's history.");
  return source.id;
}

export function createThread(call: Call): Reply {
  const { world, ids, body } = call;
  const app = world.app(ids[0]!);
  const input = checked<Beginning & { sourceId?: string }>(
    body ?? {},
    { ...BEGINNING, sourceId: 'text128' },
    { message: MESSAGE },
  );
  const sourceId = startOf(app, input.sourceId);
  return begin(world, app, { ...input, sourceId, latestSourceId: sourceId });
}

/** It has no checkpoints, and takes whole transcripts over, however long they are. */
export function forkThread(call: Call): Reply {
  const { world, app, thread: parent } = threadOf(call);
  const { checkpointId, transcript, ...input } = checked<
    Beginning & { checkpointId?: string; transcript?: boolean }
  >(call.body ?? {}, { ...BEGINNING, checkpointId: 'text128', transcript: 'flag' }, { message: MESSAGE });
  if (checkpointId !== undefined) throw notFound('checkpoint');
  const { id, title, modelId, spendLimitMicros, sourceId, latestSourceId } = parent.view;
  const isOver = ({ runId }: Message) => parent.runs.some((run) => run.id === runId && !isOpen(run));
  return begin(world, app, {
    title,
    modelId,
    spendLimitMicros,
    ...input,
    sourceId: sourceId!,
    latestSourceId: latestSourceId!,
    forkedFrom: { threadId: id, checkpointId: null, sourceId: latestSourceId! },
    inherited: transcript === false ? [] : [...parent.inherited, ...parent.messages.filter(isOver)],
  });
}

function begin(world: World, app: AppState, input: Beginning & Start): Reply {
  const thread = newThread(world, app, input);
  const place = { world, app, thread };
  world.publish(
    app,
    'thread.updated',
    { id: thread.view.id, status: 'queued' },
    { threadId: thread.view.id },
  );
  thread.tail = world.work.begin(() => prepare(place));
  if (!input.message) return { thread: thread.view };
  const { message, run } = accept(place, input.message);
  return { thread: thread.view, message, run };
}

function newThread(world: World, app: AppState, input: Beginning & Start): ThreadState {
  const time = world.now();
  const view: Thread = {
    id: world.id('thr'),
    projectId: app.app.id,
    sourceId: input.sourceId,
    latestSourceId: input.latestSourceId,
    modelId: input.modelId ?? null,
    scmPullRequestNumber: null,
    title: input.title ?? null,
    status: 'queued',
    archivedAt: null,
    initializationState: 'accepted',
    initializationPhase: null,
    initializationAttemptCount: 0,
    initializationErrorCode: null,
    initializationErrorMessage: null,
    initializationUpdatedAt: time,
    waitingOn: [],
    blockedOn: [],
    pendingWakeups: 0,
    tasks: [],
    pullRequests: [],
    primaryPullRequest: null,
    taskIdentifier: null,
    trackerIssueUrl: null,
    createdAt: time,
    updatedAt: time,
    spendLimitMicros: input.spendLimitMicros ?? null,
    version: 1,
    titleVersion: 1,
    archiveVersion: 1,
    latestUserMessageAt: null,
    workspaceStatus: null,
    workspaceSetupStatus: null,
    setupId: null,
    latestRunId: null,
    runStartedAt: null,
    runTurnStartedAt: null,
    runActiveSegmentStartedAt: null,
    stopRequestedAt: null,
    runStatus: null,
    runSteerable: null,
    runActiveDurationMs: null,
    runActiveDurationProvenance: null,
    errorTrackerIssue: null,
    createdByUserId: ACTOR,
    createdByAutomation: false,
    participantUserIds: [],
    executionTarget: null,
    baseBranch: null,
    baseCommitSha: null,
    automationId: null,
    sealedAt: null,
    forkedFrom: input.forkedFrom ?? null,
    metadata: input.metadata ?? {},
  };
  const thread: ThreadState = {
    view,
    inherited: input.inherited ?? [],
    messages: [],
    runs: [],
    tools: [],
    approvals: [],
    hasFailed: false,
    tail: Promise.resolve(),
  };
  app.threads.set(view.id, thread);
  return thread;
}

async function prepare({ world, app, thread }: Place): Promise<void> {
  await world.work.step();
  if (thread.view.initializationState !== 'accepted') return;
  Object.assign(thread.view, {
    initializationState: 'completed',
    initializationAttemptCount: 1,
    initializationUpdatedAt: world.now(),
    workspaceStatus: 'ready',
  } satisfies Partial<Thread>);
  world.changed(app, thread);
}

function accept(place: Place, input: MessageInput): { message: Message; run: Run } {
  const { world, app, thread } = place;
  const createdAt = world.now();
  const message: Message = {
    id: world.id('msg'),
    threadId: thread.view.id,
    role: 'user',
    content: input.content,
    runId: null,
    sequence: thread.messages.length + 1,
    clientMessageId: input.clientMessageId ?? null,
    attachments: [],
    createdAt,
  };
  thread.messages.push(message);
  thread.view.latestUserMessageAt = createdAt;
  world.publish(app, 'message.persisted', { id: message.id, role: 'user' }, { threadId: message.threadId });
  const run = queueRun(place, { kind: 'message', message, modelId: input.modelId });
  message.runId = run.id;
  return { message, run };
}

export function sendMessage(call: Call): Reply {
  const place = threadOf(call);
  const { attachments, ...input } = checked<MessageInput & { attachments?: unknown[] }>(call.body, {
    ...MESSAGE,
    modelId: 'text128',
    attachments: 'list10',
  });
  if (attachments?.length) throw new Fault('not_configured', 'The test service takes no attachments.');
  requireFree(place, { mayRun: true });
  return accept(place, input);
}

export function listMessages(call: Call): Reply {
  const { app, thread } = threadOf(call);
  const isWhole = flagOf(call.query, 'inherited');
  const before = isWhole ? thread.inherited.filter(({ threadId }) => app.threads.has(threadId)) : [];
  return page('messages', inOrder([...before, ...thread.messages], call), call);
}

export function listThreads(call: Call): Reply {
  const status = call.query.get('status');
  const views = [...call.world.app(call.ids[0]!).threads.values()].map(({ view }) => view);
  return page(
    'threads',
    newestFirst(views.filter((view) => status === null || view.status === status)),
    call,
  );
}

export const getThread = (call: Call): Reply => ({ thread: threadOf(call).thread.view });

const EXPECTED = [
  ['expectedVersion', 'version'],
  ['expectedTitleVersion', 'titleVersion'],
  ['expectedArchiveVersion', 'archiveVersion'],
] as const;

export function updateThread(call: Call): Reply {
  const place = threadOf(call);
  const { world, app, thread } = place;
  const input = checked<UpdateThreadInput>(call.body ?? {}, {
    archived: 'flag',
    expectedVersion: 'count',
    expectedTitleVersion: 'count',
    expectedArchiveVersion: 'count',
    status: 'text',
    spendLimitMicros: 'count?',
    title: 'any500?',
    clientOperationId: 'text64',
  });
  const { view } = thread;
  const { version, titleVersion, archiveVersion } = view;
  if (EXPECTED.some(([name, is]) => input[name] !== undefined && input[name] !== view[is]))
    throw new Fault('version_conflict', 'The thread was changed meanwhile.', {
      current: { version, titleVersion, archiveVersion },
    });
  const change: Partial<Thread> = {};
  if (input.title !== undefined && input.title !== view.title)
    Object.assign(change, { title: input.title, titleVersion: titleVersion + 1 });
  if (input.spendLimitMicros !== undefined) change.spendLimitMicros = input.spendLimitMicros;
  const isArchived = input.archived ?? (input.status && input.status === 'archived');
  if (isArchived !== undefined && isArchived !== (view.archivedAt !== null)) {
    Object.assign(change, {
      archivedAt: isArchived ? world.now() : null,
      archiveVersion: archiveVersion + 1,
    });
    if (isArchived) endWork(place);
    else thread.hasFailed = false;
  }
  if (Object.keys(change).length > 0) {
    Object.assign(view, change);
    world.changed(app, thread);
  }
  return { thread: view };
}

/** Runs are cancelled, a queued apply and a build fail. */
function endWork(place: Place): void {
  const { world, app, thread } = place;
  for (const run of thread.runs.filter(isOpen))
    endRun(place, {
      run,
      status: 'cancelled',
      reply: run.status === 'queued' ? null : '[interrupted]',
    });
  const { id } = thread.view;
  const at = { threadId: id };
  for (const apply of app.applies.filter((one) => one.threadId === id && isOpen(one))) {
    const error = 'cancelled: the thread was archived or deleted';
    Object.assign(apply, { status: 'failed', error, finishedAt: world.now() });
    world.publish(app, 'platform.apply.failed', { id: apply.id, status: 'failed', sourceId: null }, at);
  }
  for (const { build } of app.builds.filter((one) => one.build.threadId === id && isOpen(one.build))) {
    const error = { code: 'cancelled', message: 'The build was cancelled.' };
    Object.assign(build, { status: 'failed', error, finishedAt: world.now() });
    world.publish(
      app,
      'platform.build.failed',
      { id: build.id, status: 'failed', sourceId: build.sourceId },
      at,
    );
  }
}

export function deleteThread(call: Call): Reply {
  const place = threadOf(call);
  const { world, app, thread } = place;
  endWork(place);
  world.changed(app, thread, 'thread.deleted');
  app.threads.delete(thread.view.id);
  return { thread: thread.view };
}

export function createEdit(call: Call): Reply {
  const place = threadOf(call);
  const { world, app, thread } = place;
  const input = checked<{ expectedSourceId: string; changes: FileInput[]; message?: string }>(
    call.body,
    { expectedSourceId: 'text128!', changes: 'list10000!', message: 'any10000' },
    { changes: CHANGE },
  );
  requireFree(place);
  const { source, files } = sourceOf(app, input.expectedSourceId);
  if (source.id !== thread.view.latestSourceId)
    throw new Fault('stale_source', 'The thread has a newer source. Read it and edit that one.');
  const about = { origin: 'edit' as const, parentSourceIds: [source.id], threadId: thread.view.id };
  const edited = addSource(world, app, withChanges(files, input.changes), {
    ...about,
    message: input.message ?? null,
  });
  thread.view.latestSourceId = edited.id;
  world.changed(app, thread);
  return { source: edited };
}

export const listRuns = (call: Call): Reply => page('runs', newestFirst(threadOf(call).thread.runs), call);

function runOf(call: Call): Run {
  const run = threadOf(call).thread.runs.find(({ id }) => id === call.ids[2]);
  if (!run) throw notFound('run');
  return run;
}

export async function getRun(call: Call): Promise<Reply> {
  const run = runOf(call);
  await waitUntil(call, () => !isOpen(run));
  return { run };
}

export function listTools(call: Call): Reply {
  const { id } = runOf(call);
  const tools = threadOf(call).thread.tools.filter(({ runId }) => runId === id);
  return page('tools', inOrder(tools, call), call);
}

export function stopRun(call: Call): Reply {
  const place = threadOf(call);
  const { world, app, thread } = place;
  const open = thread.runs.filter(isOpen);
  const run = open.find(({ status }) => status !== 'queued') ?? open[0];
  if (!run) throw new Fault('run_not_active', 'No run is queued or active in this thread.');
  const isActive = run.status !== 'queued';
  for (const queued of open.filter(({ status }) => status === 'queued'))
    endRun(place, { run: queued, status: 'cancelled', reply: null });
  thread.view.stopRequestedAt = world.now();
  if (isActive)
    for (const { approval, answer } of thread.approvals) if (approval.status === 'pending') answer(null);
  if (open.length > 1 || !isActive) world.changed(app, thread);
  return { run };
}

export function retryRun(call: Call): Reply {
  const place = threadOf(call);
  requireFree(place, { mayRun: true });
  const message = place.thread.messages.findLast(({ role }) => role === 'user');
  if (!message) throw new Fault('conflict', 'The thread has no message to repeat. Send one.');
  return { run: queueRun(place, { kind: 'retry', message }) };
}

export const listApprovals = (call: Call): Reply =>
  page('approvals', newestFirst(threadOf(call).thread.approvals.map(({ approval }) => approval)), call);

export function answerApproval(call: Call): Reply {
  const { thread } = threadOf(call);
  const found = thread.approvals.find(({ approval }) => approval.id === call.ids[2]);
  if (!found) throw notFound('approval');
  const { decision } = checked<{ decision: 'approve' | 'deny' }>(call.body, {
    decision: 'text!',
    remember: 'flag',
  });
  if (found.approval.status !== 'pending')
    throw new Fault('approval_resolved', 'This approval was resolved before, or its time is over.');
  found.answer(decision);
  return { approval: found.approval };
}
