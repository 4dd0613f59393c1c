// Made from openapi.json by `npm run openapi`. Do not edit.
export type Time = string;
export type Sha256 = string;
export type Counter = number;
/** Micro-units of USD. */
export type Micros = number;
export interface App {
  id: string;
  /** Equals `id`. */
  projectId: string;
  orgId: string;
  name: string;
  /** The customer's own id, unique among the organization's apps. */
  externalId: string | null;
  metadata: Record<string, string>;
  headSourceId: string | null;
  headRevision: Counter | null;
  version: Counter;
  createdAt: Time;
  updatedAt: Time;
  deletedAt: Time | null;
}
export interface Head {
  projectId: string;
  sourceId: string;
  revision: Counter;
  updatedAt: Time;
}
export interface HeadRecord {
  projectId: string;
  sourceId: string;
  revision: Counter;
  updatedAt: Time;
  /** The apply that moved the head; null for its initialization. */
  applyId: string | null;
}
export interface Project {
  id: string;
  orgId: string;
  name: string;
  kind: 'direct' | 'platform';
  repositoryId: string | null;
  repoFullName: string | null;
  defaultBranch: string | null;
  headSourceId: string | null;
  headRevision: Counter | null;
  /** The commit of the default branch at the last fetch; null without a repository. */
  headCommitSha: string | null;
  metadata: Record<string, string>;
  version: Counter;
  createdAt: Time;
  updatedAt: Time;
  deletedAt: Time | null;
}
export interface Source {
  id: string;
  projectId: string;
  threadId: string | null;
  runId: string | null;
  parentSourceIds: Array<string>;
  origin: 'import' | 'edit' | 'run' | 'restore' | 'apply' | 'recovery';
  /** SHA-256 over `<0644|0755> <sha256 of content> <byte size> <path>\n` of every file, sorted by path bytes. */
  sha256: string;
  byteSize: number;
  fileCount: number;
  message: string | null;
  /** The commit that it was fetched from; null of other sources. `keptAside` is what the commit has and a source may not: it stays in every commit that the service makes. */
  commit: {
    sha: string;
    /** The name under which it was first fetched. */
    branch: string | null;
    keptAside: Array<{
      /** Relative, with slashes. */
      path: string;
      reason: 'symlink' | 'submodule' | 'reserved_name' | 'invalid_name' | 'collision' | 'too_large';
    }>;
    keptAsideCount: number;
  } | null;
  createdAt: Time;
}
export interface SourceFile {
  /** Relative, with slashes. */
  path: string;
  byteSize: number;
  sha256: Sha256;
  executable: boolean;
}
export interface SourceFileContent {
  /** Relative, with slashes. */
  path: string;
  byteSize: number;
  sha256: Sha256;
  executable: boolean;
  /** utf8 where the content is valid UTF-8. */
  encoding: 'utf8' | 'base64';
  content: string;
}
export interface Diff {
  baseSourceId: string;
  sourceId: string;
  files: Array<DiffFile>;
}
export interface SearchMatch {
  /** Relative, with slashes. */
  path: string;
  line: number;
  /** Where the first of `ranges` begins, in code points; without ranges, the first empty match. */
  column: number;
  /** The first 1,000 code points of the line, without its end. */
  text: string;
  /** The matches in the line, from 0, in code points; they can lie behind `text`. Empty matches have no range. */
  ranges: Array<{
    start: number;
    end: number;
  }>;
  before: Array<string>;
  after: Array<string>;
  /** Whether the line is longer than `text`. */
  truncated: boolean;
}
export interface Thread {
  id: string;
  projectId: string;
  /** The version it started from; never changes. */
  sourceId: string | null;
  /** Its latest successful version. */
  latestSourceId: string | null;
  modelId: string | null;
  scmPullRequestNumber: Counter | null;
  title: string | null;
  status: 'queued' | 'running' | 'waiting' | 'blocked' | 'ready' | 'failed' | 'archived';
  archivedAt: Time | null;
  initializationState: 'accepted' | 'preparing' | 'completed' | 'failed' | 'cancelled';
  initializationPhase:
    | 'provisioning_workspace'
    | 'resolving_repository'
    | 'allocating_sandbox'
    | 'fetching_repository'
    | 'configuring_workspace'
    | 'dispatching_run'
    | null;
  initializationAttemptCount: Counter;
  initializationErrorCode:
    | 'workspace_unavailable'
    | 'repository_access_denied'
    | 'repository_not_found'
    | 'branch_not_found'
    | 'repository_empty'
    | 'repository_unavailable'
    | 'repository_too_large'
    | 'host_offline'
    | 'binding_not_found'
    | 'worktree_failed'
    | null;
  initializationErrorMessage: string | null;
  initializationUpdatedAt: Time | null;
  waitingOn: Array<string>;
  blockedOn: Array<string>;
  pendingWakeups: Counter;
  /** The thread's task; empty if it has none. */
  tasks: Array<{
    id: string;
    /** From the issue's address: `owner/name#N`, `KEY-N` or the last path segment. Without an issue: `T-<n>`. */
    identifier: string;
    title: string;
    status: ThreadTaskStatus;
    threadIndex: Counter;
  }>;
  pullRequests: Array<PullRequestSummary>;
  primaryPullRequest: PullRequestSummary | null;
  /** Absent if the thread has no task. */
  taskId?: string;
  taskIdentifier: string | null;
  trackerIssueUrl: string | null;
  createdAt: Time;
  updatedAt: Time;
  spendLimitMicros: Micros | null;
  version: Counter;
  titleVersion: Counter;
  archiveVersion: Counter;
  latestUserMessageAt: Time | null;
  workspaceStatus: 'preparing' | 'cancelled' | 'ready' | 'archived' | 'cleanup_pending' | 'error' | null;
  /** `running` while the workspace is made, and while it waits for the app's setup; `failed` if that failed: its log is then in `.hoplite/setup.log`. */
  workspaceSetupStatus: 'pending' | 'running' | 'ready' | 'failed' | null;
  /** The setup that the workspace has, or waits for. */
  setupId: string | null;
  latestRunId: string | null;
  runStartedAt: Time | null;
  runTurnStartedAt: Time | null;
  runActiveSegmentStartedAt: Time | null;
  stopRequestedAt: Time | null;
  runStatus: 'queued' | 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled' | null;
  runSteerable: boolean | null;
  runActiveDurationMs: Counter | null;
  runActiveDurationProvenance: 'accounted' | 'legacy_default' | 'unknown' | null;
  errorTrackerIssue: Record<string, unknown> | null;
  createdByUserId: string | null;
  createdByAutomation: boolean;
  participantUserIds: Array<string>;
  executionTarget: Record<string, unknown> | null;
  /** The branch that it started from. */
  baseBranch: string | null;
  /** The commit of that branch; null until it is fetched. */
  baseCommitSha: string | null;
  automationId: string | null;
  sealedAt: Time | null;
  /** What it is a fork of: the thread, the checkpoint if one was named, and the source that it began with. It stays when that thread is deleted. */
  forkedFrom: {
    threadId: string;
    checkpointId: string | null;
    sourceId: string;
  } | null;
  metadata: Record<string, string>;
}
export interface Message {
  id: string;
  threadId: string;
  role: 'user' | 'assistant' | 'system';
  content: string;
  runId: string | null;
  sequence: Counter;
  clientMessageId: string | null;
  /** What was sent with the message; the bytes of each are at `attachments/{index}`. */
  attachments: Array<{
    index: number;
    mediaType: string;
    byteSize: number;
  }>;
  createdAt: Time;
}
export interface Run {
  id: string;
  threadId: string;
  messageId: string | null;
  kind: 'message' | 'restore' | 'repair' | 'retry';
  agent: string;
  modelId: string;
  status: 'queued' | 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled';
  baseSourceId: string | null;
  /** Equals the base when nothing changed; null unless completed. */
  resultSourceId: string | null;
  error: {
    code:
      | 'script_failed'
      | 'agent_error'
      | 'model_error'
      | 'spend_limit_reached'
      | 'invalid_result'
      | 'not_configured'
      | 'sandbox_lost'
      | 'worker_lost'
      | 'host_lost'
      | 'workspace_unavailable';
    message: string;
  } | null;
  usage: {
    inputTokens: Counter;
    outputTokens: Counter;
    cachedTokens: Counter;
    costMicros: Micros;
  };
  /** What the capture left out, and hosts that the sandbox was refused. Reason `secret`: a file that the run has added, changed or renamed holds the value of a secret that the run was given; it is part of the result. */
  warnings: Array<{
    path: string;
    reason: string;
  }>;
  activeDurationMs: Counter;
  createdAt: Time;
  startedAt: Time | null;
  finishedAt: Time | null;
}
export interface Tool {
  id: string;
  threadId: string;
  runId: string;
  name: string;
  title: string | null;
  status: 'pending' | 'running' | 'completed' | 'failed' | 'cancelled';
  input: unknown;
  output: string | null;
  truncated: boolean;
  startedAt: Time | null;
  finishedAt: Time | null;
}
export interface Checkpoint {
  id: string;
  threadId: string;
  runId: string | null;
  sourceId: string;
  kind: 'run' | 'edit' | 'recovery';
  createdAt: Time;
}
export interface CheckpointRestore {
  threadId: string;
  runId: string;
  checkpointId: string;
  status: string;
}
export interface SourceRestore {
  threadId: string;
  runId: string;
  /** Set where a checkpoint is restored. */
  checkpointId: null;
  /** The source whose files the run restores. */
  sourceId: string;
  status: string;
}
export interface Apply {
  id: string;
  /** Its position in the queue of its project. */
  sequence: number;
  conflictResolution: 'agent' | 'manual';
  repairs: Array<{
    runId: string | null;
    /** The head that this attempt merged with. */
    headSourceId: string | null;
    revision: Counter | null;
    startedAt: Time | null;
    error: string | null;
    report: {
      status: 'resolved' | 'unresolved';
      summary: string;
      checks: Array<string>;
    } | null;
    candidateFingerprint?: string;
  }>;
  orgId: string;
  projectId: string;
  threadId: string;
  /** The source that the draft started from. */
  baseSourceId: string | null;
  draftSourceId: string;
  /** The head that it was merged with; null until then. */
  headSourceId: string | null;
  /** The head after it; null unless applied. */
  resultSourceId: string | null;
  expectedHeadSourceId: string | null;
  resolutions: Array<{
    path: string;
    take: 'head' | 'draft';
  }>;
  status: 'queued' | 'applied' | 'conflicted' | 'failed';
  /** Paths in conflict, sorted by their bytes. */
  conflicts: Array<string>;
  /** Begins with a code and a colon. */
  error: string | null;
  createdByUserId: string | null;
  createdAt: Time;
  finishedAt: Time | null;
}
export interface ApplyPreview {
  /** The head that was merged with. */
  headSourceId: string;
  status: 'clean' | 'conflicted';
  /** From the head to the merge; conflicting paths as in the draft. */
  changes: Array<DiffFile>;
  /** The conflicts, or those that remain with these resolutions. */
  conflicts: Array<{
    path: string;
    kind: 'content' | 'add_add' | 'delete_modify' | 'rename' | 'mode' | 'binary' | 'path';
    /** SHA-256 of what the base has at the path; null for nothing. */
    base: string | null;
    /** SHA-256 of what the head has at the path; null for nothing. */
    head: string | null;
    /** SHA-256 of what the draft has at the path; null for nothing. */
    draft: string | null;
    /** The regions that both sides changed; lines count from 1. */
    hunks?: Array<{
      baseStart: number;
      headStart: number;
      draftStart: number;
      base: Array<string>;
      head: Array<string>;
      draft: Array<string>;
    }>;
  }>;
}
export interface ConflictFile {
  path: string;
  kind: 'content' | 'add_add' | 'delete_modify' | 'rename' | 'mode' | 'binary' | 'path';
  base: ConflictSide | null;
  head: ConflictSide | null;
  draft: ConflictSide | null;
  /** Git's merged text with its markers; null if git cannot merge text, or if the text is over 1 MiB or not UTF-8. */
  merged: {
    content: string;
    /** The lines of each conflict, from marker to marker, counted from 1. */
    regions: Array<{
      fromLine: number;
      toLine: number;
    }>;
  } | null;
}
export interface PullRequest {
  id: string;
  threadId: string;
  number: number;
  url: string;
  repoFullName: string;
  state: 'open' | 'closed' | 'merged';
  headRef: string;
  headSha: string;
  baseRef: string;
  draft: boolean;
  version: number;
  scmSummary: PullRequestsPullRequestScmSummary | null;
  scmSummaryUpdatedAt: Time | null;
  reviewLoop: PullRequestsPullRequestReviewLoop | null;
  title: string;
  /** The thread's source that headSha holds. */
  headSourceId: string | null;
  autoPush: boolean;
  push: PullRequestsPullRequestPush;
  update: PullRequestsPullRequestUpdate | null;
  mergeCommitSha: string | null;
  mergedAt: Time | null;
  createdAt: Time;
  updatedAt: Time;
  body: string;
}
export interface PullRequestSummary {
  id: string;
  threadId: string;
  number: number;
  url: string;
  repoFullName: string;
  state: 'open' | 'closed' | 'merged';
  headRef: string;
  headSha: string;
  baseRef: string;
  draft: boolean;
  version: number;
  scmSummary: PullRequestsPullRequestScmSummary | null;
  scmSummaryUpdatedAt: Time | null;
  reviewLoop: PullRequestsPullRequestReviewLoop | null;
  title: string;
  /** The thread's source that headSha holds. */
  headSourceId: string | null;
  autoPush: boolean;
  push: PullRequestsPullRequestPush;
  update: PullRequestsPullRequestUpdate | null;
  mergeCommitSha: string | null;
  mergedAt: Time | null;
  createdAt: Time;
  updatedAt: Time;
}
export interface Task {
  id: string;
  orgId: string;
  projectId: string;
  /** From the issue's address: `owner/name#N`, `KEY-N` or the last path segment. Without an issue: `T-<n>`. */
  identifier: string;
  title: string;
  status: ThreadTaskStatus;
  trackerIssueUrl: string | null;
  /** In the order of their creation. */
  threadIds: Array<string>;
  createdByUserId: string;
  createdAt: Time;
  updatedAt: Time;
}
export interface Automation {
  id: string;
  orgId: string;
  projectId: string;
  /** Also the title of its threads. */
  name: string;
  prompt: AutomationPrompt;
  trigger:
    | {
        kind: 'schedule';
        /** Five fields: minute, hour, day of month, month, day of week, with names, lists, ranges, steps, `?`, `L`, `W` and `#`; or `@hourly` to `@yearly`. If both day fields are set, either one matches. */
        cron: string;
        /** A name of the IANA time zone database. */
        timeZone: string;
      }
    | {
        kind: 'event';
        /** Event types. Only events of the automation's own project count. */
        types: Array<
          | 'thread.updated'
          | 'thread.deleted'
          | 'run.queued'
          | 'run.running'
          | 'run.waiting'
          | 'run.completed'
          | 'run.failed'
          | 'run.cancelled'
          | 'message.persisted'
          | 'tool.updated'
          | 'approval.requested'
          | 'approval.resolved'
          | 'checkpoint.created'
          | 'workspace.recovery.updated'
          | 'preview.updated'
          | 'pull_request.updated'
          | 'automation.execution.updated'
          | 'platform.source.imported'
          | 'platform.apply.queued'
          | 'platform.apply.applied'
          | 'platform.apply.conflicted'
          | 'platform.apply.failed'
          | 'platform.build.queued'
          | 'platform.build.building'
          | 'platform.build.ready'
          | 'platform.build.failed'
          | 'platform.head.updated'
        >;
      }
    | {
        kind: 'webhook';
        /** `generic`: any sender. `error_tracker` and `tracker`: the payload names an issue, and the thread is about that issue. */
        source: 'generic' | 'error_tracker' | 'tracker';
        /** Values for fields of the issue that a payload lacks. */
        defaults?: {
          organizationSlug?: string;
          projectSlug?: string;
          projectId?: string;
        };
      };
  filter: AutomationFilter;
  /** `<provider>/<model>`, or `scripted`. */
  modelId: string | null;
  baseBranch: string | null;
  /** Whether a run with a change gets a pull request. */
  pullRequest: 'none' | 'draft' | 'open';
  /** What happens while another execution is open; for a hook with an issue, another one about the same issue. `queue`: at most ten wait. */
  overlap: 'skip' | 'queue' | 'allow';
  /** Whether the newest missed time of the last 24 hours runs after the service was down. */
  catchUp: boolean;
  /** Micro-units of USD, per thread. */
  spendLimitMicros: number | null;
  /** Micro-units of USD. Once the threads of a UTC month have cost this much, executions are skipped. */
  monthlyLimitMicros: number | null;
  /** The number of consecutive failed executions that disables the automation; null: never. */
  disableAfterFailures: number | null;
  disabled: boolean;
  /** `user`: a caller disabled it. `failures`: `disableAfterFailures` consecutive executions failed. */
  disabledReason: 'user' | 'failures' | null;
  consecutiveFailures: Counter;
  /** The next time of an enabled schedule. */
  nextRunAt: string | null;
  lastExecutionAt: Time | null;
  /** For `webhook`: the URL that the other system calls. */
  hookUrl: string | null;
  createdByUserId: string;
  createdAt: Time;
  updatedAt: Time;
}
export interface Execution {
  id: string;
  automationId: string;
  projectId: string;
  trigger: ExecutionTrigger;
  status: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled' | 'skipped';
  skippedReason: ExecutionSkippedReason | null;
  threadId: string | null;
  runId: string | null;
  pullRequestId: string | null;
  error: {
    code: string;
    message: string;
  } | null;
  createdAt: Time;
  startedAt: Time | null;
  finishedAt: Time | null;
}
export interface ExecutionDetail {
  id: string;
  automationId: string;
  projectId: string;
  trigger: ExecutionTrigger;
  status: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled' | 'skipped';
  skippedReason: ExecutionSkippedReason | null;
  threadId: string | null;
  runId: string | null;
  pullRequestId: string | null;
  error: {
    code: string;
    message: string;
  } | null;
  createdAt: Time;
  startedAt: Time | null;
  finishedAt: Time | null;
  payload: Record<string, unknown> | null;
}
export interface Approval {
  id: string;
  threadId: string;
  runId: string;
  toolId: string;
  title: string;
  status: 'pending' | 'approved' | 'denied' | 'expired';
  createdAt: Time;
  expiresAt: Time;
  resolvedBy: string | null;
  resolvedAt: Time | null;
}
export interface Build {
  id: string;
  projectId: string;
  /** Null: a build of the app, by no thread. */
  threadId: string | null;
  sourceId: string;
  /** Run by `sh -c` in the source's root. */
  command: string;
  /** A path below the source's root, or `.` for all of it. */
  outputDirectory: string;
  timeoutSeconds: number;
  /** It has the layer of the app's setup. */
  setup: boolean;
  status: 'queued' | 'building' | 'ready' | 'failed';
  exitCode: number | null;
  error: {
    code:
      | 'command_failed'
      | 'timed_out'
      | 'output_missing'
      | 'output_invalid'
      | 'output_too_large'
      | 'cancelled'
      | 'worker_lost'
      | 'setup_failed';
    message: string;
  } | null;
  artifactSha256: Sha256 | null;
  artifactByteSize: Counter | null;
  fileCount: Counter | null;
  createdAt: Time;
  startedAt: Time | null;
  finishedAt: Time | null;
}
export interface Manifest {
  buildId: string;
  sourceId: string;
  artifactSha256: Sha256;
  fileCount: Counter;
  byteSize: Counter;
  /** Sorted by the bytes of the paths, which are relative to the output directory. */
  files: Array<{
    path: string;
    byteSize: Counter;
    sha256: Sha256;
    mode: '0644' | '0755';
  }>;
}
export interface Preview {
  id: string;
  projectId: string;
  /** Null: a preview of the app, by no thread. */
  threadId: string | null;
  /** The source that it shows now. Null: its thread has none yet. */
  sourceId: string | null;
  /** Whose newer sources are written into it. Null: it shows one source. */
  follow: 'thread' | 'head' | null;
  status: 'starting' | 'ready' | 'failed' | 'stopped';
  /** Opens in a browser without a key: anyone who knows it sees the preview. */
  url: string;
  /** Run by `sh -c` in the source's root. */
  command: string;
  /** Where the command's server listens. */
  port: number;
  /** It has the layer of the app's setup. */
  setup: boolean;
  error: {
    code: 'command_ended' | 'start_timed_out' | 'sandbox_lost' | 'setup_failed';
    message: string;
  } | null;
  createdAt: Time;
  expiresAt: Time | null;
}
export interface WorkspaceRecord {
  id: string;
  runId: string | null;
  from: 'preparing' | 'cancelled' | 'ready' | 'archived' | 'cleanup_pending' | 'error' | null;
  to: 'preparing' | 'cancelled' | 'ready' | 'archived' | 'cleanup_pending' | 'error';
  reason: string;
  /** What was restored or saved. */
  sourceId: string | null;
  createdAt: Time;
}
export interface HeadraceEvent {
  /** Deduplicate deliveries by this. */
  id: string;
  type: EventType;
  /** Numeric text that increases along a feed. Not a cursor. */
  sequence: string;
  orgId: string;
  appId: string;
  projectId: string;
  threadId: string | null;
  runId: string | null;
  data: EventData;
  occurredAt: Time;
  publishedAt: Time;
  /** Opaque: resume after this event. */
  cursor: string;
}
export interface DirectEvent {
  /** Deduplicate deliveries by this. */
  id: string;
  type: EventType;
  /** Numeric text that increases along a feed. Not a cursor. */
  sequence: string;
  orgId: string;
  projectId: string | null;
  threadId: string | null;
  runId: string | null;
  data: EventData;
  occurredAt: Time;
  publishedAt: Time;
  /** Opaque: resume after this event. */
  cursor: string;
}
export interface Settings {
  idleTimeoutMinutes: number | null;
  modelId: string | null;
  /** Lifetime spend limit of new threads, in micro-units of USD. */
  spendLimitMicros: number | null;
  /** Budget of a UTC month, in micro-units of USD. */
  budgetMicros: number | null;
  approvals: SettingsApprovals | null;
  egress: SettingsEgress | null;
  concurrency: SettingsConcurrency | null;
  /** The system that sandboxes have, a name from `GET /api/runtimes`. */
  runtime: string | null;
  setup: SettingsSetup | null;
  preview: {
    frameAncestors: Array<string>;
  } | null;
  /** What each run's agent is told. Both levels hold: the organization's, then, after a blank line, the app's. */
  instructions: string | null;
  pullRequests: {
    /** New pull requests are drafts. Default: false. */
    draft?: boolean | null;
  } | null;
  reviewLoop: SettingsReviewLoop | null;
}
export interface Runtime {
  /** For the setting `runtime`. */
  name: string;
  description: string | null;
  /** Whether the organization's setting names it. */
  isDefault: boolean;
  /** Whether sandboxes can have it now. */
  available: boolean;
}
export interface Variable {
  id: string;
  name: string;
  /** null: a secret, or one that cannot be decrypted. */
  value: string | null;
  /** The value is never shown, and masked in what comes out of sandboxes that have it. */
  secret: boolean;
  targets: VariableTargets;
  /** The level that it is set at. */
  level: 'organization' | 'app';
  createdAt: Time;
  updatedAt: Time;
}
export interface Setup {
  id: string;
  projectId: string;
  /** Of the command, and the path, mode and content of the files that the setting names. */
  key: string;
  command: string;
  /** The source for which it was made; others with the same key share it. */
  sourceId: string;
  status: 'queued' | 'running' | 'ready' | 'failed';
  exitCode: number | null;
  error: {
    code: 'command_failed' | 'timed_out' | 'layer_too_large' | 'sandbox_lost';
    message: string;
  } | null;
  /** Of the layer; null unless it is ready. */
  byteSize: number | null;
  createdAt: Time;
  startedAt: Time | null;
  finishedAt: Time | null;
}
export interface Skill {
  id: string;
  name: string;
  /** From the front matter of `SKILL.md`. */
  description: string;
  /** The level that it is set at. */
  level: 'organization' | 'app';
  fileCount: number;
  byteSize: number;
  /** Of its files, as a source's. */
  sha256: string;
  createdAt: Time;
  updatedAt: Time;
}
export interface Operation {
  id: string;
  idempotencyKey: string;
  method: string;
  path: string;
  projectId: string | null;
  status: 'pending' | 'succeeded' | 'failed' | 'uncertain';
  responseStatus: number | null;
  /** The stored answer, secrets removed. */
  response: Record<string, unknown> | null;
  createdAt: Time;
  settledAt: Time | null;
  reservedUntil: Time | null;
}
export interface Model {
  /** A `modelId`; `<provider>/*` means every model of that provider. */
  id: string;
  provider: string;
  /** null: the price of the provider, unknown to the service. A model without a known price is refused under a spend limit. */
  prices: {
    /** Micro-units of USD for a million tokens. */
    inputMicros: number;
    /** Micro-units of USD for a million tokens. */
    outputMicros: number;
    /** Micro-units of USD for a million tokens. */
    cachedMicros: number;
  } | null;
}
export interface ModelKey {
  provider: string;
  createdAt: Time;
  updatedAt: Time;
}
export interface Usage {
  /** A UTC day, where grouped by it. */
  day: string | null;
  projectId: string | null;
  threadId: string | null;
  modelId: string | null;
  runs: Counter;
  inputTokens: Counter;
  outputTokens: Counter;
  cachedTokens: Counter;
  costMicros: Micros;
}
export interface McpServer {
  id: string;
  orgId: string;
  name: string;
  /** `http`: streamable HTTP, called by the service. `stdio`: a command, run inside the sandbox. */
  transport: 'http' | 'stdio';
  /** http or https. Put credentials into `headers`: the URL is visible. */
  url: string | null;
  /** A command line of /bin/sh, run in the workspace. */
  command: string | null;
  /** Names only, in lower case. */
  headers: Array<string>;
  /** Names only. */
  env: Array<string>;
  projectIds: Array<string> | null;
  createdAt: Time;
  updatedAt: Time;
}
export interface Subscription {
  id: string;
  orgId: string;
  projectId: string | null;
  url: string;
  types: Array<string>;
  disabled: boolean;
  /** `user`: paused by a caller; new events still add deliveries. The service sets the others, and new events then add none: `gone`, the receiver responded with 410; `failures`, every attempt failed for days. */
  disabledReason: 'user' | 'gone' | 'failures' | null;
  /** The first failed attempt since the last success; null after a success. */
  failingSince: string | null;
  createdAt: Time;
  updatedAt: Time;
}
export interface Delivery {
  id: string;
  subscriptionId: string;
  /** Also the `webhook-id` of its requests. */
  eventId: string;
  eventType: string;
  projectId: string | null;
  status: 'pending' | 'succeeded' | 'failed';
  attemptCount: Counter;
  /** The last ten, oldest first. */
  attempts: Array<{
    at: Time;
    durationMs: Counter;
    /** Null without a response. */
    statusCode: number | null;
    /** Null: the receiver accepted the delivery. `status`: its response was neither 2xx nor a redirect. `address_refused`: its name resolves to an address that is not public. */
    error: 'timeout' | 'connection' | 'tls' | 'address_refused' | 'redirect' | 'status' | null;
    /** The first 1,024 bytes of the response as text; null without a response. */
    response: string | null;
  }>;
  nextAttemptAt: Time | null;
  /** Why it failed. `exhausted`: the last attempt failed. `gone`: the receiver responded with 410. `expired`: it was pending for seven days. `overflow`: more than 100,000 were pending, and it was the oldest. */
  errorCode: 'exhausted' | 'gone' | 'platform_app_event' | 'expired' | 'overflow' | null;
  redeliveryOf: string | null;
  createdAt: Time;
  finishedAt: Time | null;
}
export interface Host {
  id: string;
  orgId: string;
  name: string;
  status: 'online' | 'offline';
  /** For whom threads work there, as its program was started: its person, or the organization. */
  share: 'owner' | 'organization';
  /** Its person. */
  userId: string;
  /** Of its program. */
  version: string | null;
  providers: Array<'agent_a' | 'agent_b'>;
  lastSeenAt: Time | null;
  createdAt: Time;
  updatedAt: Time;
}
export interface Binding {
  id: string;
  hostId: string;
  name: string;
  workspaceModes: Array<'direct' | 'worktree'>;
  isGit: boolean;
  branch: string | null;
  /** The host does not offer it any more. */
  removed: boolean;
}
/** A connection to a source control host. Every organization has a built-in one: `local`. */
export interface Installation {
  id: string;
  orgId: string;
  provider: 'local' | 'github';
  name: string;
  accountLogin: string | null;
  baseUrl: string | null;
  auth: 'none' | 'token' | 'app';
  managedBy: 'service' | 'config' | 'api';
  /** `error` from a failed call until the next successful one. */
  status: 'connected' | 'error';
  error: {
    code: 'access_denied' | 'unreachable';
    message: string;
  } | null;
  webhookUrl: string | null;
  webhookReceivedAt: Time | null;
  syncedAt: Time | null;
  createdAt: Time;
  updatedAt: Time;
}
export interface Repository {
  id: string;
  installationId: string;
  provider: 'local' | 'github';
  fullName: string;
  name: string;
  private: boolean;
  archived: boolean;
  /** Set also while the repository is empty. */
  defaultBranch: string;
  url: string;
  cloneUrl: string;
  /** Allowed merge methods. */
  mergeMethods: Array<'merge' | 'squash' | 'rebase'>;
  /** Contexts of commit statuses that have to be `success` before a merge. */
  requiredChecks: Array<string>;
  createdAt: Time;
  updatedAt: Time;
}
export interface Branch {
  name: string;
  /** A whole commit id. */
  commitSha: string;
  isDefault: boolean;
  /** Whether force pushes and deletion are refused. */
  protected: boolean;
}
export interface Inspection {
  repositoryId: string;
  ref: string;
  /** A whole commit id. */
  commitSha: string | null;
  fileCount: number;
  byteSize: number;
  /** Entries of the commit that a source may not hold: links, submodules, refused names. */
  keptAsideCount: number;
  /** Whether a project can use it. */
  withinLimits: boolean;
  /** The listing is incomplete: the figures are too low. */
  truncated: boolean;
  usesLfs: boolean;
  canPush: boolean;
}
export interface CommitStatus {
  id: string;
  /** A whole commit id. */
  commitSha: string;
  /** Name of the reporter; its newest status counts. */
  context: string;
  state: 'pending' | 'success' | 'failure' | 'error';
  description: string | null;
  targetUrl: string | null;
  hasLog: boolean;
  createdByUserId: string | null;
  createdAt: Time;
}
export interface ScmPullRequest {
  number: Counter;
  repositoryId: string;
  repoFullName: string;
  url: string;
  title: string;
  body: string;
  state: 'open' | 'closed' | 'merged';
  draft: boolean;
  headRef: string;
  /** A whole commit id. */
  headSha: string;
  baseRef: string;
  mergeable: 'mergeable' | 'conflicting' | 'unknown';
  /** A whole commit id. */
  mergeCommitSha: string | null;
  author: string;
  threadId: string | null;
  createdAt: Time;
  updatedAt: Time;
}
export interface Comment {
  id: string;
  body: string;
  path: string | null;
  line: number | null;
  inReplyTo: string | null;
  resolved: boolean;
  author: string;
  createdAt: Time;
}
export interface User {
  id: string;
  email: string;
  name: string;
}
export interface Organization {
  id: string;
  name: string;
  role: 'owner' | 'admin' | 'member';
}
/** What the operator lets that organization use. */
export interface Entitlements {
  platformApi: boolean;
  sourceControl: boolean;
  automations: boolean;
  webhooks: boolean;
  hosts: boolean;
}
/** What the user's role allows in that organization. */
export interface Permissions {
  project?: Array<'create' | 'read' | 'update' | 'delete'>;
  thread?: Array<'create' | 'read' | 'update' | 'delete' | 'stop' | 'retry'>;
  repo?: Array<'read' | 'update'>;
  mcpServer?: Array<'create' | 'read' | 'update' | 'delete'>;
  modelKey?: Array<'read'>;
  usage?: Array<'read'>;
  webhook?: Array<'create' | 'read' | 'update' | 'delete'>;
  automation?: Array<'create' | 'read' | 'update' | 'delete' | 'run'>;
}
export interface Session {
  id: string;
  /** This is the session that asks. */
  current: boolean;
  /** The network address that it was opened from. */
  address: string | null;
  userAgent: string | null;
  createdAt: Time;
  /** Exact to about a minute. */
  lastSeenAt: string;
}
export interface Member {
  userId: string;
  email: string;
  name: string;
  role: 'owner' | 'admin' | 'member';
  createdAt: Time;
}
export interface Invitation {
  id: string;
  email: string;
  role: 'owner' | 'admin' | 'member';
  /** What the invited person opens; its path's last segment is the token. Only the first answer has it, later ones null: only a hash is kept. */
  url: string | null;
  expiresAt: Time;
}
export interface Account {
  id: string;
  orgId: string;
  name: string;
  permissions: AccountPermissions;
  /** Only these projects; null: all of the organization. */
  projectIds: Array<string> | null;
  disabled: boolean;
  createdAt: Time;
  updatedAt: Time;
}
export interface Credential {
  id: string;
  accountId: string;
  expiresAt: Time;
  revoked: boolean;
  /** The minute of its last use; null: never used. */
  lastUsedAt: string | null;
  createdAt: Time;
}
export interface AuditEntry {
  id: string;
  /** What was done: `<resource>.<past tense>`. */
  action: string;
  /** A user or a service account; null: the service or its operator. */
  actorId: string | null;
  /** What it was done to. */
  targetId: string | null;
  /** The caller's network address. */
  address: string | null;
  createdAt: Time;
}
export interface System {
  version: string;
  startedAt: Time;
  parts: Array<{
    name: 'database' | 'storage' | 'sandbox' | 'limiter' | 'publisher' | 'gateway';
    status: 'ok' | 'degraded' | 'down';
    /** What is wrong; null when ok. */
    message: string | null;
  }>;
  /** A silent one is listed for an hour. */
  processes: Array<{
    id: string;
    host: string;
    roles: Array<'api' | 'worker' | 'runner'>;
    startedAt: Time;
    lastSeenAt: Time;
  }>;
  queues: Array<{
    name: string;
    /** Runs and builds that a limit holds back among them. */
    waiting: number;
    running: Counter;
    oldestSeconds: number | null;
    /** Jobs whose last attempt failed. */
    failing: number;
  }>;
  log: {
    lagMs: number;
    /** Of the oldest event. */
    retainedFrom: string | null;
  };
  database: {
    version: string;
    byteSize: Counter;
    connections: Counter;
  };
  storage: {
    kind: 'folder' | 's3';
    /** Packs and artifacts; null where there are too many to add up. */
    byteSize: number | null;
  };
  runners: Array<{
    id: string;
    host: string;
    driver: 'bubblewrap' | 'container' | 'none';
    limits: {
      memory: string;
      processes: string;
      cpu: string;
    };
    warnings: Array<string>;
    sandboxes: Counter;
    memoryBytes: Counter | null;
    freeBytes: Counter | null;
    egressRefused: Counter;
  }>;
  config: Array<{
    name: string;
    /** As it was set; null where it was not, *** where it is secret. */
    value: string | null;
    isDefault: boolean;
  }>;
}
export interface Stuck {
  kind: 'run' | 'apply' | 'build' | 'initialization' | 'delivery' | 'operation' | 'cleanup';
  /** The run, apply, build or operation; of an initialization its thread; of a cleanup the thread whose workspace, or the project or organization whose objects, cannot be removed. */
  id: string;
  orgId: string | null;
  projectId: string | null;
  threadId: string | null;
  since: Time;
  reason: string;
  remedy: string;
}
export interface DiffFile {
  /** Relative, with slashes. */
  path: string;
  oldPath?: string;
  status: 'added' | 'modified' | 'deleted' | 'renamed' | 'mode';
  binary: boolean;
  additions: number;
  deletions: number;
  /** A whole git patch; absent for binary files and where no line changed. */
  patch?: string;
  /** The patch is omitted: the patches would exceed 8 MiB in total, its text is not UTF-8, the file has more than 200,000 lines, or the comparison took too long. */
  truncated?: boolean;
}
export interface ConflictSide {
  sha256: Sha256;
  byteSize: number;
  executable: boolean;
  /** utf8 if the content is valid UTF-8. */
  encoding: 'utf8' | 'base64';
  /** null if over 1 MiB. */
  content: string | null;
}
export interface PullRequestsPullRequestScmSummary {
  state: 'open' | 'closed' | 'merged';
  draft: boolean;
  mergeable: 'mergeable' | 'conflicting' | 'unknown';
  mergeQueued: boolean;
  checks: {
    total: Counter;
    succeeded: Counter;
    failing: Counter;
    running: Counter;
  };
  checksAvailable: boolean;
  commentsAvailable: boolean;
  unresolvedCount: Counter;
}
export interface PullRequestsPullRequestReviewLoop {
  id: string;
  threadId: string;
  pullRequestId: string;
  enabled: boolean;
  autoMerge: boolean;
  status:
    | 'disabled'
    | 'observing'
    | 'waiting_checks'
    | 'fixing'
    | 'finalizing'
    | 'ready'
    | 'blocked'
    | 'error';
  disabledBy: 'user' | 'system' | 'transferred' | null;
  headSha: string | null;
  lastProcessedHeadSha: string | null;
  lastObservedAt: Time | null;
  waitUntil: Time | null;
  lastFixRunId: string | null;
  lastErrorCode: string | null;
  lastErrorMessage: string | null;
  blockedReason: string | null;
  passCount: Counter;
  operationalRetryCount: Counter;
  createdAt: Time;
  updatedAt: Time;
}
export interface PullRequestsPullRequestPush {
  status: 'current' | 'pending' | 'diverged' | 'failed';
  reason: 'conflict' | 'rewritten' | null;
  conflicts: Array<string>;
  error: {
    code: string;
    message: string;
  } | null;
}
export interface PullRequestsPullRequestUpdate {
  status: 'running' | 'done' | 'conflicted' | 'failed';
  baseSha: string | null;
  conflicts: Array<string>;
  error: {
    code: string;
    message: string;
  } | null;
}
/** The set status. If none is set: `done` if a pull request of a thread is merged, else `in_review` if one is open, else `in_progress` if a thread is not archived, else `open`. */
export type ThreadTaskStatus = 'open' | 'in_progress' | 'in_review' | 'done' | 'cancelled';
export interface ExecutionTrigger {
  kind: 'schedule' | 'event' | 'webhook' | 'manual';
  scheduledFor: Time | null;
  eventId: string | null;
  eventType: string | null;
  deliveryId: string | null;
}
/** `overlap`: another one was open. `queue_full`: ten were waiting. `limit`: the monthly limit was reached. `rate`: 60 were admitted in the last hour. `loop`: the chain of automations was too long. */
export type ExecutionSkippedReason = 'overlap' | 'queue_full' | 'limit' | 'rate' | 'loop';
export type EventType =
  | 'thread.updated'
  | 'thread.deleted'
  | 'run.queued'
  | 'run.running'
  | 'run.waiting'
  | 'run.completed'
  | 'run.failed'
  | 'run.cancelled'
  | 'message.persisted'
  | 'tool.updated'
  | 'approval.requested'
  | 'approval.resolved'
  | 'checkpoint.created'
  | 'workspace.recovery.updated'
  | 'preview.updated'
  | 'pull_request.updated'
  | 'automation.execution.updated'
  | 'operation.updated'
  | 'platform.app.created'
  | 'platform.app.updated'
  | 'platform.app.deleted'
  | 'platform.source.imported'
  | 'platform.apply.queued'
  | 'platform.apply.applied'
  | 'platform.apply.conflicted'
  | 'platform.apply.failed'
  | 'platform.build.queued'
  | 'platform.build.building'
  | 'platform.build.ready'
  | 'platform.build.failed'
  | 'platform.head.updated';
/** Identities and public status; read the resource for more. */
export type EventData = {
  id: string;
  status?: string;
  role?: 'user' | 'assistant' | 'system';
  sourceEventId?: string | null;
  externalId?: string | null;
  createdAt?: Time;
  updatedAt?: Time;
  sha256?: Sha256;
  byteSize?: Counter;
  fileCount?: Counter;
  sourceId?: null | string;
  artifactSha256?: Sha256;
  revision?: Counter;
};
export interface CreateAppBodyMetadata {
  /** A message text with fenced blocks, or a bare shell script: what the scripted agent does to repair conflicts. */
  'headrace.repairScript'?: string;
  [name: string]: string | undefined;
}
export interface CreateThreadBodyMessage {
  content: string;
  clientMessageId?: string;
}
export type CreateApplyBodyResolutions = Array<{
  /** A path in conflict, or a folder with a slash at its end: all conflicts below it. The longest match wins. */
  path: string;
  /** What that side has at the path, or nothing. */
  take: 'head' | 'draft';
}>;
export type SourceChanges = Array<{
  path: string;
  /** null deletes. Optional with renameFrom or executable. */
  content?: string | null;
  encoding?: 'utf8' | 'base64';
  executable?: boolean;
  renameFrom?: string;
}>;
/** The first message of each thread. `{{root.path}}` is replaced by a value of `payload`, `event`, `automation` or `execution`, on one line and with at most 1,000 characters. `{{payload}}` alone on its line is the whole payload as quoted JSON. `\{{` is a literal `{{`. */
export type AutomationPrompt = string;
/** All must match. */
export type AutomationFilter = Array<{
  /** As in a prompt: `root.key.0.key`. */
  path: string;
  op: 'eq' | 'ne' | 'in' | 'contains' | 'exists';
  /** Any JSON. `in` takes an array, and one of its items must equal the value. `contains` finds a part of a string or an item of an array. `exists` takes no value. */
  value?: unknown;
}>;
export type CreateAutomationBodyTrigger =
  | {
      kind: 'schedule';
      /** Five fields: minute, hour, day of month, month, day of week, with names, lists, ranges, steps, `?`, `L`, `W` and `#`; or `@hourly` to `@yearly`. If both day fields are set, either one matches. */
      cron: string;
      /** A name of the IANA time zone database. */
      timeZone: string;
    }
  | {
      kind: 'event';
      /** Event types. Only events of the automation's own project count. */
      types: Array<
        | 'thread.updated'
        | 'thread.deleted'
        | 'run.queued'
        | 'run.running'
        | 'run.waiting'
        | 'run.completed'
        | 'run.failed'
        | 'run.cancelled'
        | 'message.persisted'
        | 'tool.updated'
        | 'approval.requested'
        | 'approval.resolved'
        | 'checkpoint.created'
        | 'workspace.recovery.updated'
        | 'preview.updated'
        | 'pull_request.updated'
        | 'automation.execution.updated'
        | 'platform.source.imported'
        | 'platform.apply.queued'
        | 'platform.apply.applied'
        | 'platform.apply.conflicted'
        | 'platform.apply.failed'
        | 'platform.build.queued'
        | 'platform.build.building'
        | 'platform.build.ready'
        | 'platform.build.failed'
        | 'platform.head.updated'
      >;
    }
  | {
      kind: 'webhook';
      /** `generic`: any sender. `error_tracker` and `tracker`: the payload names an issue, and the thread is about that issue. */
      source?: 'generic' | 'error_tracker' | 'tracker';
      /** The sender's own secret, instead of one from the service. Stored encrypted and never returned. */
      secret?: string;
      /** Values for fields of the issue that a payload lacks. */
      defaults?: {
        organizationSlug?: string;
        projectSlug?: string;
        projectId?: string;
      };
    };
/** The first rule that matches decides; an app's list replaces the organization's. */
export type SettingsApprovals = Array<{
  tool: string;
  /** Matches the whole command; `*` matches any text. When omitted: every command. */
  pattern?: string;
  decision: 'ask' | 'allow' | 'deny';
}>;
/** What sandboxes can reach, over TLS on port 443. `none`: nothing. `registries`: the package registries, and `hosts`. `list`: `hosts`. */
export interface SettingsEgress {
  mode: 'none' | 'registries' | 'list';
  /** Names, in punycode if they are not ASCII; `*.example.com` matches every name below example.com, but not itself. */
  hosts?: Array<string>;
}
/** How many may be in progress at the same time; the others wait. The organization's setting limits all of its apps together, and each app that sets none. */
export interface SettingsConcurrency {
  runs?: number | null;
  builds?: number | null;
}
/** Prepares sandboxes: what the command leaves beside these files is below the files of workspaces and previews, and of builds that ask for it. */
export interface SettingsSetup {
  /** Run by `sh -c`, once for the same files. null: none, even if the organization has one. */
  command: string | null;
  /** The files that the command has: paths, folders with a `/` at the end, or `.` for all files. Those that a source does not have are left out. */
  paths: Array<string>;
  timeoutSeconds?: number;
}
/** `enabled` and `autoMerge` apply when a pull request is created, the others at each use. A field that is null or left out is the organization's, else the service's default. */
export interface SettingsReviewLoop {
  /** New pull requests begin with their review loop enabled. Default: false. */
  enabled?: boolean | null;
  /** The loop of new pull requests merges by itself. Default: false. Setting it to true also needs `repo:update`. */
  autoMerge?: boolean | null;
  /** Passes in a row. Default: 5. */
  maxPasses?: number | null;
  /** Default: the first one that the repository allows. */
  mergeMethod?: 'merge' | 'squash' | 'rebase' | null;
  /** Text at the start of each pass. */
  instructions?: string | null;
  /** Review comments of a pass get a reply. Default: true. */
  reply?: boolean | null;
}
export interface UpdateAppSettingsBody {
  idleTimeoutMinutes?: number | null;
  modelId?: string | null;
  /** Lifetime spend limit of new threads, in micro-units of USD. */
  spendLimitMicros?: number | null;
  /** Budget of a UTC month, in micro-units of USD. */
  budgetMicros?: number | null;
  approvals?: SettingsApprovals | null;
  egress?: SettingsEgress | null;
  concurrency?: SettingsConcurrency | null;
  /** The system that sandboxes have, a name from `GET /api/runtimes`. */
  runtime?: string | null;
  setup?: SettingsSetup | null;
  preview?: {
    frameAncestors: Array<string>;
  } | null;
  /** What each run's agent is told. Both levels hold: the organization's, then, after a blank line, the app's. */
  instructions?: string | null;
  pullRequests?: {
    /** New pull requests are drafts. Default: false. */
    draft?: boolean | null;
  } | null;
  reviewLoop?: SettingsReviewLoop | null;
}
/** Which sandboxes have it: those of runs, of commands, of builds, of previews. By default all of them; a secret all but `run`, where an agent could read it. */
export type VariableTargets = Array<'run' | 'exec' | 'build' | 'preview'>;
export interface SetAppVariableBody {
  /** At most 32,768 bytes in UTF-8; a secret at least 8 characters. */
  value: string;
  /** The value is never shown, and masked in what comes out of sandboxes that have it. */
  secret?: boolean;
  targets?: VariableTargets;
}
export interface ImportSourceBody1File {
  path: string;
  content: string;
  /** utf8 by default. */
  encoding?: 'utf8' | 'base64';
  executable?: boolean;
}
export interface SetAppSkillBody {
  /** All its files, at most 200 and 4 MiB in all; `SKILL.md` is at the top. */
  files: Array<ImportSourceBody1File>;
}
/** Sent to the `url` with each request. Stored encrypted, never returned, never in a sandbox. */
export type CreateMcpServerBodyHeaders = Record<string, string>;
/** Environment of the `command`. Stored encrypted and never returned; the sandbox that runs the command contains it. */
export type CreateMcpServerBodyEnv = Record<string, string>;
/** Event types, groups (`run.*`: all types that consist of `run.` and one more word), or `*` for all. An empty list means `*`. */
export type CreateWebhookBodyTypes = Array<
  | '*'
  | 'thread.*'
  | 'run.*'
  | 'message.*'
  | 'tool.*'
  | 'approval.*'
  | 'checkpoint.*'
  | 'workspace.recovery.*'
  | 'preview.*'
  | 'pull_request.*'
  | 'automation.execution.*'
  | 'operation.*'
  | 'platform.source.*'
  | 'platform.apply.*'
  | 'platform.build.*'
  | 'platform.head.*'
  | 'thread.updated'
  | 'thread.deleted'
  | 'run.queued'
  | 'run.running'
  | 'run.waiting'
  | 'run.completed'
  | 'run.failed'
  | 'run.cancelled'
  | 'message.persisted'
  | 'tool.updated'
  | 'approval.requested'
  | 'approval.resolved'
  | 'checkpoint.created'
  | 'workspace.recovery.updated'
  | 'preview.updated'
  | 'pull_request.updated'
  | 'automation.execution.updated'
  | 'operation.updated'
  | 'platform.source.imported'
  | 'platform.apply.queued'
  | 'platform.apply.applied'
  | 'platform.apply.conflicted'
  | 'platform.apply.failed'
  | 'platform.build.queued'
  | 'platform.build.building'
  | 'platform.build.ready'
  | 'platform.build.failed'
  | 'platform.head.updated'
>;
/** A GitHub App, instead of `token`. */
export interface CreateInstallationBodyApp {
  /** The App's id, or its client id. */
  appId: string | number;
  /** The last part of the address of its installation. */
  installationId: string | number;
  /** In PEM. Stored encrypted, never returned. */
  privateKey: string;
}
/** Resources and the actions allowed on them. */
export interface AccountPermissions {
  project?: Array<'create' | 'read' | 'update' | 'delete'>;
  thread?: Array<'create' | 'read' | 'update' | 'delete' | 'stop' | 'retry'>;
  repo?: Array<'read' | 'update'>;
  mcpServer?: Array<'create' | 'read' | 'update' | 'delete'>;
  modelKey?: Array<'read'>;
  usage?: Array<'read'>;
  webhook?: Array<'create' | 'read' | 'update' | 'delete'>;
  automation?: Array<'create' | 'read' | 'update' | 'delete' | 'run'>;
}

export type CreateAppInput = {
  name: string;
  /** The customer's own id, unique among the organization's apps. */
  externalId?: string;
  metadata?: CreateAppBodyMetadata;
};
export type UpdateAppInput = {
  name?: string;
  /** The customer's own id, unique among the organization's apps. */
  externalId?: string | null;
  metadata?: CreateAppBodyMetadata;
  expectedVersion?: Counter;
};
export type InitializeHeadInput = {
  sourceId: string;
};
export type CreateProjectInput = {
  name: string;
  repositoryId?: string;
  defaultBranch?: string;
  metadata?: CreateAppBodyMetadata;
};
export type UpdateProjectInput = {
  name?: string;
  defaultBranch?: string | null;
  metadata?: CreateAppBodyMetadata;
  expectedVersion?: Counter;
};
export type ImportSourceInput =
  | {
      files: Array<ImportSourceBody1File>;
      parentSourceId?: string;
      message?: string;
    }
  | {
      /** Any source of the app. */
      baseSourceId: string;
      changes: SourceChanges;
      message?: string;
    };
export type CreateThreadInput = {
  /** Default: the head. Has to be in the head's history; before a head exists, any source of the app. */
  sourceId?: string;
  title?: string;
  /** `<provider>/<model>`, or `scripted`. */
  modelId?: string;
  spendLimitMicros?: Micros;
  metadata?: CreateAppBodyMetadata;
  message?: CreateThreadBodyMessage;
};
export type UpdateThreadInput = {
  archived?: boolean;
  expectedArchiveVersion?: Counter;
  expectedTitleVersion?: Counter;
  expectedVersion?: Counter;
  status?: 'archived' | 'ready';
  spendLimitMicros?: Micros | null;
  title?: string | null;
  clientOperationId?: string;
};
export type ForkThreadInput = {
  /** A checkpoint of the thread. Default: its latest source. */
  checkpointId?: string;
  /** Whether the fork's agents get what was said in the thread: the newest 200,000 characters of the runs that have ended, up to the checkpoint. */
  transcript?: boolean;
  title?: string;
  /** `<provider>/<model>`, or `scripted`. */
  modelId?: string;
  spendLimitMicros?: Micros;
  metadata?: CreateAppBodyMetadata;
  message?: CreateThreadBodyMessage;
};
export type CreateDirectThreadInput = {
  projectId: string;
  title?: string;
  /** `<provider>/<model>`, or `scripted`. */
  modelId?: string;
  /** In a project with a repository: the branch that the thread starts from. Default: the project's default branch. */
  baseBranch?: string;
  /** Instead of a branch. With a repository: the source of a commit; otherwise as for an app. */
  sourceId?: string;
  spendLimitMicros?: Micros;
  message?: CreateThreadBodyMessage;
  executionTarget?: {
    bindingId: string;
    hostId: string;
    kind: 'local';
    model?: string | null;
    provider: 'agent_a' | 'agent_b';
    workspaceMode: 'direct' | 'worktree';
  };
  /** The task of the thread. It belongs to the same project. */
  taskId?: string;
  /** The issue that the thread is about. The thread joins the task for this issue in the project, which is created if necessary. */
  trackerIssueUrl?: string;
  errorTrackerIssue?: {
    issueId: string;
    shortId?: string | null;
    title?: string | null;
    level?: string | null;
    projectId: string;
    projectSlug: string;
    organizationSlug: string;
    url: string;
  };
};
export type SendMessageInput = {
  content: string;
  clientMessageId?: string;
  /** `<provider>/<model>`, or `scripted`. */
  modelId?: string;
  attachments?: Array<{
    mediaType: string;
    /** Canonical padded base64. */
    data: string;
  }>;
};
export type RestoreCheckpointInput = {
  clientOperationId?: string;
};
export type RestoreSourceInput = {
  sourceId: string;
  clientOperationId?: string;
};
export type CreateApplyInput = {
  /** The thread's latest source, as the caller knows it. */
  expectedSourceId: string;
  /** Who resolves conflicts; default `agent`. */
  conflictResolution?: 'agent' | 'manual';
  /** Pins the head: if the head is another one, the apply is refused, or ends as conflicted. */
  expectedHeadSourceId?: string;
  resolutions?: CreateApplyBodyResolutions;
  /** Equals the Idempotency-Key; every retry reuses it. */
  clientOperationId?: string;
};
export type PreviewApplyInput = {
  /** The thread's latest source, as the caller knows it. */
  expectedSourceId: string;
  /** Who resolves conflicts; default `agent`. */
  conflictResolution?: 'agent' | 'manual';
  /** Pins the head: if the head is another one, the apply is refused, or ends as conflicted. */
  expectedHeadSourceId?: string;
  resolutions?: CreateApplyBodyResolutions;
};
export type PreviewFileInput = {
  /** The thread's latest source, as the caller knows it. */
  expectedSourceId: string;
  /** Who resolves conflicts; default `agent`. */
  conflictResolution?: 'agent' | 'manual';
  /** Pins the head: if the head is another one, the apply is refused, or ends as conflicted. */
  expectedHeadSourceId?: string;
  resolutions?: CreateApplyBodyResolutions;
  /** A path in conflict. */
  path: string;
};
export type CreateEditInput = {
  /** The thread's latest source. */
  expectedSourceId: string;
  changes: SourceChanges;
  message?: string;
};
export type CreateExecInput = {
  command: string;
  timeoutSeconds?: number;
  stdin?: string;
};
export type CreatePullRequestInput = {
  title?: string;
  body?: string;
  draft?: boolean;
  base?: string;
  /** Takes over an open pull request from a branch of the repository into the base branch of the thread. Only `reviewLoop` may be sent with it. */
  number?: number;
  reviewLoop?: {
    enabled?: boolean;
    autoMerge?: boolean;
  };
  /** Posts one comment with its address on the thread's issue. */
  commentOnIssue?: boolean;
};
export type UpdatePullRequestInput = {
  title?: string;
  body?: string;
  draft?: boolean;
  base?: string;
  state?: 'open' | 'closed';
  /** Whether the thread's newer sources are pushed. */
  autoPush?: boolean;
  expectedVersion?: Counter;
};
export type SyncPullRequestInput = {
  /** Ends a divergence while the thread is idle. `branch`: the branch's files become the thread's; `thread`: the thread's files are committed on the branch. */
  take?: 'branch' | 'thread';
};
export type UpdateBranchInput = {
  /** Default: `agent`. */
  conflictResolution?: 'agent' | 'manual';
};
export type MergePullRequestInput = {
  /** Default: the first one that the repository allows. */
  method?: 'merge' | 'squash' | 'rebase';
  title?: string;
  message?: string;
  expectedHeadSha?: string;
};
export type UpdateReviewLoopInput = {
  enabled?: boolean;
  autoMerge?: boolean;
};
export type CreateTaskInput = {
  projectId: string;
  title: string;
  trackerIssueUrl?: string;
};
export type UpdateTaskInput = {
  title?: string;
  status?: 'open' | 'in_progress' | 'in_review' | 'done' | 'cancelled' | null;
};
export type CreateAutomationInput = {
  projectId: string;
  /** Also the title of its threads. */
  name: string;
  prompt: AutomationPrompt;
  trigger: CreateAutomationBodyTrigger;
  filter?: AutomationFilter;
  /** `<provider>/<model>`, or `scripted`. */
  modelId?: string | null;
  baseBranch?: string | null;
  /** Whether a run with a change gets a pull request. */
  pullRequest?: 'none' | 'draft' | 'open';
  /** What happens while another execution is open; for a hook with an issue, another one about the same issue. `queue`: at most ten wait. */
  overlap?: 'skip' | 'queue' | 'allow';
  /** Whether the newest missed time of the last 24 hours runs after the service was down. */
  catchUp?: boolean;
  /** Micro-units of USD, per thread. */
  spendLimitMicros?: number | null;
  /** Micro-units of USD. Once the threads of a UTC month have cost this much, executions are skipped. */
  monthlyLimitMicros?: number | null;
  /** The number of consecutive failed executions that disables the automation; null: never. */
  disableAfterFailures?: number | null;
  disabled?: boolean;
};
export type UpdateAutomationInput = {
  /** Also the title of its threads. */
  name?: string;
  prompt?: AutomationPrompt;
  trigger?: CreateAutomationBodyTrigger;
  filter?: AutomationFilter;
  /** `<provider>/<model>`, or `scripted`. */
  modelId?: string | null;
  baseBranch?: string | null;
  /** Whether a run with a change gets a pull request. */
  pullRequest?: 'none' | 'draft' | 'open';
  /** What happens while another execution is open; for a hook with an issue, another one about the same issue. `queue`: at most ten wait. */
  overlap?: 'skip' | 'queue' | 'allow';
  /** Whether the newest missed time of the last 24 hours runs after the service was down. */
  catchUp?: boolean;
  /** Micro-units of USD, per thread. */
  spendLimitMicros?: number | null;
  /** Micro-units of USD. Once the threads of a UTC month have cost this much, executions are skipped. */
  monthlyLimitMicros?: number | null;
  /** The number of consecutive failed executions that disables the automation; null: never. */
  disableAfterFailures?: number | null;
  disabled?: boolean;
};
export type AutomationRotateSecretInput = {
  /** How long the old secret stays valid. */
  overlapSeconds?: number;
};
export type RunAutomationInput = {
  /** At most 256 KiB of JSON, for `{{payload}}`. */
  payload?: Record<string, unknown>;
};
export type AnswerApprovalInput = {
  decision: 'approve' | 'deny';
  remember?: boolean;
};
export type CreateBuildInput = {
  /** Any source of the app; default: the thread's latest. */
  sourceId?: string;
  /** Run by `sh -c` in the source's root. */
  command: string;
  /** A path below the source's root, or `.` for all of it. */
  outputDirectory: string;
  timeoutSeconds?: number;
  /** Have the layer of the app's setup below the source, and wait for it. */
  setup?: boolean;
};
export type CreateAppBuildInput = {
  /** Any source of the app; default: the head at this moment. */
  sourceId?: string;
  /** Run by `sh -c` in the source's root. */
  command: string;
  /** A path below the source's root, or `.` for all of it. */
  outputDirectory: string;
  timeoutSeconds?: number;
  /** Have the layer of the app's setup below the source, and wait for it. */
  setup?: boolean;
};
export type CreatePreviewInput = {
  /** Run by `sh -c` in the source's root. */
  command: string;
  /** Where the command's server listens. */
  port: number;
  /** Have the layer of the app's setup below the source, and wait for it. */
  setup?: boolean;
};
export type CreateAppPreviewInput = {
  /** Any source of the app: it shows this one. Default: the head. */
  sourceId?: string;
  /** Run by `sh -c` in the source's root. */
  command: string;
  /** Where the command's server listens. */
  port: number;
  /** Have the layer of the app's setup below the source, and wait for it. */
  setup?: boolean;
};
export type ReportActivityInput = {
  idleTimeoutMinutes: number;
};
export type UpdateAppSettingsInput = UpdateAppSettingsBody;
export type UpdateOrganizationSettingsInput = UpdateAppSettingsBody;
export type SetAppVariableInput = SetAppVariableBody;
export type SetOrganizationVariableInput = SetAppVariableBody;
export type CreateSetupInput = {
  /** Any source of the app; default: the app's head. */
  sourceId?: string;
  /** Make a new one, even if one is ready. */
  force?: boolean;
};
export type SetAppSkillInput = SetAppSkillBody;
export type SetOrganizationSkillInput = SetAppSkillBody;
export type SetModelKeyInput = {
  key: string;
};
export type CreateMcpServerInput = {
  name: string;
  /** `http`: streamable HTTP, called by the service. `stdio`: a command, run inside the sandbox. */
  transport: 'http' | 'stdio';
  /** http or https. Put credentials into `headers`: the URL is visible. */
  url?: string;
  /** A command line of /bin/sh, run in the workspace. */
  command?: string;
  headers?: CreateMcpServerBodyHeaders;
  env?: CreateMcpServerBodyEnv;
  /** Only these projects; null: every project of the organization. */
  projectIds?: Array<string> | null;
};
export type UpdateMcpServerInput = {
  name?: string;
  /** `http`: streamable HTTP, called by the service. `stdio`: a command, run inside the sandbox. */
  transport?: 'http' | 'stdio';
  /** http or https. Put credentials into `headers`: the URL is visible. */
  url?: string;
  /** A command line of /bin/sh, run in the workspace. */
  command?: string;
  headers?: CreateMcpServerBodyHeaders;
  env?: CreateMcpServerBodyEnv;
  /** Only these projects; null: every project of the organization. */
  projectIds?: Array<string> | null;
};
export type CreateWebhookInput = {
  /** An https URL with a public address, without a user and without a fragment. */
  url: string;
  types: CreateWebhookBodyTypes;
  /** Only events of this Direct project. */
  projectId?: string;
  /** A disabled subscription keeps its pending deliveries and sends only test deliveries. */
  disabled?: boolean;
};
export type UpdateWebhookInput = {
  /** An https URL with a public address, without a user and without a fragment. */
  url?: string;
  types?: CreateWebhookBodyTypes;
  /** A disabled subscription keeps its pending deliveries and sends only test deliveries. */
  disabled?: boolean;
};
export type WebhookRotateSecretInput = {
  /** How long the old secret stays valid. */
  overlapSeconds?: number;
};
export type CreateHostInput = {
  name: string;
};
export type UpdateHostInput = {
  name: string;
};
export type ScmCreateInstallationInput = {
  provider: 'github';
  name: string;
  /** Address of the API. Default: `https://api.github.com`; for an Enterprise Server `https://HOST/api/v3`. */
  baseUrl?: string;
  /** A personal access token. Stored encrypted, never returned. */
  token?: string;
  app?: CreateInstallationBodyApp;
  /** Signs deliveries to `webhookUrl`. */
  webhookSecret?: string;
};
export type ScmUpdateInstallationInput = {
  name?: string;
  /** A personal access token. Stored encrypted, never returned. */
  token?: string;
  app?: CreateInstallationBodyApp;
  /** Signs deliveries to `webhookUrl`. */
  webhookSecret?: string;
};
export type ScmCreateRepositoryInput = {
  /** Not ending in `.git` or `.lock`. */
  name: string;
  defaultBranch?: string;
  /** As for an import. They become the first commit. */
  files?: Array<{
    path: string;
    content: string;
    /** Default: utf8. */
    encoding?: 'utf8' | 'base64';
    executable?: boolean;
  }>;
  message?: string;
};
export type ScmUpdateRepositoryInput = {
  defaultBranch?: string;
  /** Contexts of commit statuses that have to be `success` before a merge. */
  requiredChecks?: Array<string>;
  /** Allowed merge methods. */
  mergeMethods?: Array<'merge' | 'squash' | 'rebase'>;
};
export type ScmCreateStatusInput = {
  /** Name of the reporter; its newest status counts. */
  context: string;
  state: 'pending' | 'success' | 'failure' | 'error';
  description?: string;
  targetUrl?: string;
  /** For agents that fix the failure; never returned. */
  log?: string;
};
export type ScmCreatePullRequestInput = {
  title: string;
  headRef: string;
  /** Default: the default branch. */
  baseRef?: string;
  body?: string;
  draft?: boolean;
};
export type ScmUpdatePullRequestInput = {
  title?: string;
  body?: string;
  draft?: boolean;
  base?: string;
  state?: 'open' | 'closed';
};
export type ScmMergePullRequestInput = {
  /** Default: the first one that the repository allows. */
  method?: 'merge' | 'squash' | 'rebase';
  title?: string;
  message?: string;
  expectedHeadSha?: string;
};
export type ScmCreateCommentInput = {
  body: string;
  path?: string;
  line?: number;
  inReplyTo?: string;
};
export type ScmUpdateCommentInput = {
  resolved?: boolean;
};
export type SignInInput = {
  email: string;
  password: string;
};
export type SwitchOrganizationInput = {
  organizationId: string;
};
export type ChangePasswordInput = {
  currentPassword: string;
  newPassword: string;
};
export type CreateOrganizationInput = {
  name: string;
};
export type InviteMemberInput = {
  email: string;
  role: 'owner' | 'admin' | 'member';
};
export type UpdateMemberInput = {
  role: 'owner' | 'admin' | 'member';
};
export type AcceptInvitationInput = {
  name: string;
  password: string;
};
export type CreateServiceAccountInput = {
  name: string;
  permissions: AccountPermissions;
  /** Only these projects; null: all of the organization. */
  projectIds?: Array<string> | null;
};
export type UpdateServiceAccountInput = {
  name?: string;
  permissions?: AccountPermissions;
  /** Only these projects; null: all of the organization. */
  projectIds?: Array<string> | null;
  disabled?: boolean;
};
export type RotateCredentialInput = {
  /** Default: one year. */
  expiresInSeconds?: number;
};

/** The service may add further ones. */
export type ErrorCode =
  | 'invalid_request'
  | 'invalid_bundle'
  | 'idempotency_key_required'
  | 'invalid_cursor'
  | 'unauthorized'
  | 'payment_required'
  | 'forbidden'
  | 'not_found'
  | 'app_not_found'
  | 'project_not_found'
  | 'source_not_found'
  | 'file_not_found'
  | 'thread_not_found'
  | 'attachment_not_found'
  | 'run_not_found'
  | 'apply_not_found'
  | 'build_not_found'
  | 'checkpoint_not_found'
  | 'approval_not_found'
  | 'preview_not_found'
  | 'operation_not_found'
  | 'service_account_not_found'
  | 'credential_not_found'
  | 'member_not_found'
  | 'invitation_not_found'
  | 'session_not_found'
  | 'organization_not_found'
  | 'model_key_not_found'
  | 'mcp_server_not_found'
  | 'variable_not_found'
  | 'setup_not_found'
  | 'skill_not_found'
  | 'installation_not_found'
  | 'repository_not_found'
  | 'branch_not_found'
  | 'commit_not_found'
  | 'pull_request_not_found'
  | 'comment_not_found'
  | 'task_not_found'
  | 'webhook_not_found'
  | 'delivery_not_found'
  | 'automation_not_found'
  | 'execution_not_found'
  | 'host_not_found'
  | 'binding_not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'version_conflict'
  | 'idempotency_conflict'
  | 'request_in_progress'
  | 'thread_busy'
  | 'thread_archived'
  | 'draft_sealed'
  | 'stale_source'
  | 'stale_head'
  | 'head_not_initialized'
  | 'head_already_initialized'
  | 'source_not_in_history'
  | 'external_id_taken'
  | 'run_not_active'
  | 'build_not_active'
  | 'build_not_ready'
  | 'approval_resolved'
  | 'build_busy'
  | 'repository_not_bound'
  | 'repository_bound'
  | 'repository_in_use'
  | 'repository_name_taken'
  | 'unsupported_by_provider'
  | 'managed_by_config'
  | 'scm_access_denied'
  | 'scm_repository_gone'
  | 'no_changes'
  | 'pull_request_exists'
  | 'pull_request_not_open'
  | 'execution_active'
  | 'head_moved'
  | 'merge_refused'
  | 'webhook_disabled'
  | 'host_offline'
  | 'unsupported_on_host'
  | 'cursor_expired'
  | 'cursor_scope_changed'
  | 'request_too_large'
  | 'unsupported_media_type'
  | 'rate_limited'
  | 'headers_too_large'
  | 'internal'
  | 'bad_gateway'
  | 'not_configured'
  | 'unavailable'
  | 'source_storage_unavailable'
  | 'source_workspace_unavailable';
