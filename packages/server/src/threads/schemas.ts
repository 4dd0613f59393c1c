import Type from 'typebox';
import { Body, Counter, Enum, Id, Micros, Nullable, Text, Time } from '../http/schemas.ts';
import { ListedPullRequest } from '../pull-requests/index.ts';
import { IssueUrl, TaskOfThread } from '../tasks/index.ts';

const NullableTime = Nullable(Time);

export const RUN_STATUSES = ['queued', 'running', 'waiting', 'completed', 'failed', 'cancelled'] as const;
export const THREAD_STATUSES = [
  'queued',
  'running',
  'waiting',
  'blocked',
  'ready',
  'failed',
  'archived',
] as const;
export const WORKSPACE_STATUSES = [
  'preparing',
  'cancelled',
  'ready',
  'archived',
  'cleanup_pending',
  'error',
] as const;

export const ErrorTrackerIssue = Body({
  issueId: Text('4711', { minLength: 1, maxLength: 128 }),
  shortId: Type.Optional(Nullable(Text('WEB-1', { maxLength: 128 }))),
  title: Type.Optional(Nullable(Text('TypeError', { maxLength: 500 }))),
  level: Type.Optional(Nullable(Text('error', { maxLength: 50 }))),
  projectId: Text('12', { minLength: 1, maxLength: 128 }),
  projectSlug: Text('web', { minLength: 1, maxLength: 128 }),
  organizationSlug: Text('acme', { minLength: 1, maxLength: 128 }),
  url: { ...IssueUrl, examples: ['https://errors.example.com/issues/4711'] },
});

export const ExecutionTarget = Body({
  bindingId: Text('binding-1', { minLength: 1, maxLength: 128 }),
  hostId: Text('host-1', { minLength: 1, maxLength: 128 }),
  kind: Type.Literal('local'),
  model: Type.Optional(Nullable(Text('default', { minLength: 1, maxLength: 128 }))),
  provider: Enum(['agent_a', 'agent_b']),
  workspaceMode: Enum(['direct', 'worktree']),
});

/** Every field except `taskId` is always present. */
export const Thread = Type.Object({
  id: Id('thr'),
  projectId: Id('prj'),
  sourceId: Nullable(Id('src', 'The version it started from; never changes.')),
  latestSourceId: Nullable(Id('src', 'Its latest successful version.')),
  modelId: Nullable(Text('scripted')),
  scmPullRequestNumber: Nullable(Counter),
  title: Nullable(Text('Overdue reminders')),
  status: Enum(THREAD_STATUSES),
  archivedAt: NullableTime,
  initializationState: Enum(['accepted', 'preparing', 'completed', 'failed', 'cancelled']),
  initializationPhase: Nullable(
    Enum([
      'provisioning_workspace',
      'resolving_repository',
      'allocating_sandbox',
      'fetching_repository',
      'configuring_workspace',
      'dispatching_run',
    ]),
  ),
  initializationAttemptCount: Counter,
  initializationErrorCode: Nullable(
    Enum([
      'workspace_unavailable',
      'repository_access_denied',
      'repository_not_found',
      'branch_not_found',
      'repository_empty',
      'repository_unavailable',
      'repository_too_large',
      'host_offline',
      'binding_not_found',
      'worktree_failed',
    ]),
  ),
  initializationErrorMessage: Nullable(Text('No sandbox could be made.')),
  initializationUpdatedAt: NullableTime,
  waitingOn: Type.Array(Text('approval:apr_01k9x3v5e8f7arh2m4t6w8y0zb')),
  blockedOn: Type.Array(Text('apply:apl_01k9x3v5e8f7arh2m4t6w8y0zb')),
  pendingWakeups: Counter,
  tasks: Type.Array(TaskOfThread, { description: "The thread's task; empty if it has none." }),
  pullRequests: Type.Array(ListedPullRequest, { examples: [[]] }),
  primaryPullRequest: Nullable(ListedPullRequest),
  taskId: Type.Optional(Id('task', 'Absent if the thread has no task.')),
  taskIdentifier: Nullable(Text('T-1')),
  trackerIssueUrl: Nullable(Type.String({ examples: ['https://tracker.example.com/TASK-1'] })),
  createdAt: Time,
  updatedAt: Time,
  spendLimitMicros: Nullable(Micros),
  version: Counter,
  titleVersion: Counter,
  archiveVersion: Counter,
  latestUserMessageAt: NullableTime,
  workspaceStatus: Nullable(Enum(WORKSPACE_STATUSES)),
  workspaceSetupStatus: Nullable(
    Enum(['pending', 'running', 'ready', 'failed'], {
      description:
        "`running` while the workspace is made, and while it waits for the app's setup; `failed` if that failed: its log is then in `.hoplite/setup.log`.",
    }),
  ),
  setupId: Nullable(Id('set', 'The setup that the workspace has, or waits for.')),
  latestRunId: Nullable(Id('run')),
  runStartedAt: NullableTime,
  runTurnStartedAt: NullableTime,
  runActiveSegmentStartedAt: NullableTime,
  stopRequestedAt: NullableTime,
  runStatus: Nullable(Enum(RUN_STATUSES)),
  runSteerable: Nullable(Type.Boolean()),
  runActiveDurationMs: Nullable(Counter),
  runActiveDurationProvenance: Nullable(Enum(['accounted', 'legacy_default', 'unknown'])),
  errorTrackerIssue: Type.Unsafe<unknown>({ type: ['object', 'null'], examples: [null] }),
  createdByUserId: Nullable(Type.String({ examples: ['sa_01k9x3v5e8f7arh2m4t6w8y0zb'] })),
  createdByAutomation: Type.Boolean({ examples: [false] }),
  participantUserIds: Type.Array(Id('usr')),
  executionTarget: Type.Unsafe<unknown>({ type: ['object', 'null'], examples: [null] }),
  baseBranch: Nullable(Text('main', { description: 'The branch that it started from.' })),
  baseCommitSha: Nullable(
    Text('7d0f1c8a5b0f4e5c9a2b3d4e5f60718293a4b5c6', {
      description: 'The commit of that branch; null until it is fetched.',
    }),
  ),
  automationId: Nullable(Text('aut_01k9x3v5e8f7arh2m4t6w8y0zb')),
  sealedAt: NullableTime,
  forkedFrom: Nullable(
    Type.Object(
      { threadId: Id('thr'), checkpointId: Nullable(Id('chk')), sourceId: Id('src') },
      {
        description:
          'What it is a fork of: the thread, the checkpoint if one was named, and the source that it began with. It stays when that thread is deleted.',
      },
    ),
  ),
  metadata: Type.Record(Type.String(), Type.String(), { examples: [{ ticket: 'AB-12' }] }),
});

export const Title = Text('Overdue reminders', { maxLength: 500 });
