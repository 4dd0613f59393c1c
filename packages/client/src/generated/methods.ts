// Made from openapi.json by `npm run openapi`. Do not edit.
import type { Bound, Call, ListCall, WorkCall } from '../call.ts';
import type { Bytes } from '../http.ts';
import type { CallOptions, PageOptions, WriteOptions } from '../options.ts';
import type {
  AcceptInvitationInput,
  Account,
  AnswerApprovalInput,
  App,
  Apply,
  ApplyPreview,
  Approval,
  AuditEntry,
  Automation,
  AutomationRotateSecretInput,
  Binding,
  Branch,
  Build,
  ChangePasswordInput,
  Checkpoint,
  CheckpointRestore,
  Comment,
  CommitStatus,
  ConflictFile,
  Counter,
  CreateAppBuildInput,
  CreateAppInput,
  CreateAppPreviewInput,
  CreateApplyInput,
  CreateAutomationInput,
  CreateBuildInput,
  CreateDirectThreadInput,
  CreateEditInput,
  CreateExecInput,
  CreateHostInput,
  CreateMcpServerInput,
  CreateOrganizationInput,
  CreatePreviewInput,
  CreateProjectInput,
  CreatePullRequestInput,
  CreateServiceAccountInput,
  CreateSetupInput,
  CreateTaskInput,
  CreateThreadInput,
  CreateWebhookInput,
  Credential,
  Delivery,
  Diff,
  Entitlements,
  Execution,
  ExecutionDetail,
  ForkThreadInput,
  Head,
  HeadRecord,
  Host,
  ImportSourceInput,
  InitializeHeadInput,
  Inspection,
  Installation,
  Invitation,
  InviteMemberInput,
  Manifest,
  McpServer,
  Member,
  MergePullRequestInput,
  Message,
  Model,
  ModelKey,
  Operation,
  Organization,
  Permissions,
  Preview,
  PreviewApplyInput,
  PreviewFileInput,
  Project,
  PullRequest,
  PullRequestSummary,
  ReportActivityInput,
  Repository,
  RestoreCheckpointInput,
  RestoreSourceInput,
  RotateCredentialInput,
  Run,
  RunAutomationInput,
  Runtime,
  ScmCreateCommentInput,
  ScmCreateInstallationInput,
  ScmCreatePullRequestInput,
  ScmCreateRepositoryInput,
  ScmCreateStatusInput,
  ScmMergePullRequestInput,
  ScmPullRequest,
  ScmUpdateCommentInput,
  ScmUpdateInstallationInput,
  ScmUpdatePullRequestInput,
  ScmUpdateRepositoryInput,
  SearchMatch,
  SendMessageInput,
  Session,
  SetAppSkillInput,
  SetAppVariableInput,
  SetModelKeyInput,
  SetOrganizationSkillInput,
  SetOrganizationVariableInput,
  Settings,
  Setup,
  SignInInput,
  Skill,
  Source,
  SourceFile,
  SourceFileContent,
  SourceRestore,
  Stuck,
  Subscription,
  SwitchOrganizationInput,
  SyncPullRequestInput,
  System,
  Task,
  Thread,
  Time,
  Tool,
  UpdateAppInput,
  UpdateAppSettingsInput,
  UpdateAutomationInput,
  UpdateBranchInput,
  UpdateHostInput,
  UpdateMcpServerInput,
  UpdateMemberInput,
  UpdateOrganizationSettingsInput,
  UpdateProjectInput,
  UpdatePullRequestInput,
  UpdateReviewLoopInput,
  UpdateServiceAccountInput,
  UpdateTaskInput,
  UpdateThreadInput,
  UpdateWebhookInput,
  Usage,
  User,
  Variable,
  WebhookRotateSecretInput,
  WorkspaceRecord,
} from './types.ts';

export interface AppsCalls {
  /** Create an app. */
  create(body: CreateAppInput, options?: WriteOptions): Call<App>;
  /** List apps, newest first. */
  list(options?: { externalId?: string; query?: string } & PageOptions): ListCall<App>;
  /** Get an app. */
  get(appId: string, options?: CallOptions): Call<App>;
  /** Change an app's name, externalId or metadata. */
  update(appId: string, body?: UpdateAppInput, options?: WriteOptions): Call<App>;
  /** Delete an app. */
  delete(appId: string, options?: WriteOptions): Call<App>;
}

export interface HeadCalls {
  /** Initialize the head, once. */
  initialize(appId: string, body: InitializeHeadInput, options?: WriteOptions): Call<Head>;
  /** Get the head: the current source version. */
  get(appId: string, options?: CallOptions): Call<Head>;
  /** List the head's history, oldest first or newest first. */
  history(appId: string, options?: { order?: 'asc' | 'desc' } & PageOptions): ListCall<HeadRecord>;
}

export interface ProjectsCalls {
  /** Create a Direct project. */
  create(body: CreateProjectInput, options?: WriteOptions): Call<Project>;
  /** List projects, newest first. */
  list(
    options?: { kind?: 'direct' | 'platform'; repositoryId?: string; query?: string } & PageOptions,
  ): ListCall<Project>;
  /** Get a project, Direct or Platform. */
  get(projectId: string, options?: CallOptions): Call<Project>;
  /** Change a project's name, default branch or metadata. */
  update(projectId: string, body?: UpdateProjectInput, options?: WriteOptions): Call<Project>;
  /** Delete a project. */
  delete(projectId: string, options?: WriteOptions): Call<Project>;
}

export interface SourcesCalls {
  /** Import a source version. */
  import(
    appId: string,
    body: ImportSourceInput | Bytes,
    options?: {
      message?: string;
      parentSourceId?: string;
      links?: 'refuse' | 'skip' | 'follow';
    } & WriteOptions,
  ): Call<{
    source: Source;
    /** What was left out. */
    warnings: Array<{
      path: string;
      reason: string;
    }>;
  }>;
  /** List source versions, newest first. */
  list(appId: string, options?: PageOptions): ListCall<Source>;
  /** Read a source version. */
  get(appId: string, sourceId: string, options?: CallOptions): Call<Source>;
  /** List the files of a source, by path bytes. */
  files(appId: string, sourceId: string, options?: { prefix?: string } & PageOptions): ListCall<SourceFile>;
  /** Read one file of a source. */
  file(appId: string, sourceId: string, options: { path: string } & CallOptions): Call<SourceFileContent>;
  /** Download a source as tar.gz. */
  archive(appId: string, sourceId: string, options?: CallOptions): Call<Uint8Array>;
  /** Compare a source with another one. */
  diff(
    appId: string,
    sourceId: string,
    options: { base: string; patches?: boolean; path?: Array<string> } & CallOptions,
  ): Call<Diff>;
  /** Search in the files of a source. */
  search(
    appId: string,
    sourceId: string,
    options: {
      q: string;
      regex?: boolean;
      caseSensitive?: boolean;
      include?: string;
      exclude?: string;
      context?: number;
    } & PageOptions,
  ): ListCall<
    SearchMatch,
    {
      skipped: {
        binary: number;
        tooLarge: number;
      };
    }
  >;
}

export interface ThreadsCalls {
  /** Create a thread, with or without a first message. */
  create(
    appId: string,
    body?: CreateThreadInput,
    options?: WriteOptions,
  ): WorkCall<
    {
      thread: Thread;
      message?: Message;
      run?: Run;
    },
    Run
  >;
  /** List an app's threads, newest first. */
  list(
    appId: string,
    options?: {
      status?: 'queued' | 'running' | 'waiting' | 'blocked' | 'ready' | 'failed' | 'archived';
      query?: string;
    } & PageOptions,
  ): ListCall<Thread>;
  /** Get a thread. */
  get(appId: string, threadId: string, options?: CallOptions): Call<Thread>;
  /** Change a thread's title or spend limit, archive or unarchive it. */
  update(appId: string, threadId: string, body?: UpdateThreadInput, options?: WriteOptions): Call<Thread>;
  /** Delete a thread; its sources stay. */
  delete(appId: string, threadId: string, options?: WriteOptions): Call<Thread>;
  /** List the threads of all apps, newest first. */
  listAll(
    options?: { appId?: string; status?: string; query?: string; sort?: 'activity' } & PageOptions,
  ): ListCall<Thread>;
  /** Fork a thread: a new one that begins where it is, or was. */
  fork(
    appId: string,
    threadId: string,
    body?: ForkThreadInput,
    options?: WriteOptions,
  ): WorkCall<
    {
      thread: Thread;
      message?: Message;
      run?: Run;
    },
    Run
  >;
  /** Create a thread in a project. */
  createDirect(
    body: CreateDirectThreadInput,
    options?: WriteOptions,
  ): WorkCall<
    {
      thread: Thread;
      message?: Message;
      run?: Run;
    },
    Run
  >;
  /** List the organization's threads, newest first. */
  listDirect(
    options?: {
      projectId?: string;
      repositoryId?: string;
      taskId?: string;
      automationId?: string;
      createdByAutomation?: boolean;
      createdByUserId?: string;
      status?: string;
      archived?: boolean;
      pullRequestState?: 'open' | 'closed' | 'merged';
      query?: string;
      sort?: 'activity';
    } & PageOptions,
  ): ListCall<Thread>;
  /** Export a thread's transcript, as JSON or Markdown. */
  export(threadId: string, options: { format: 'markdown' } & CallOptions): Call<string>;
  /** Export a thread's transcript, as JSON or Markdown. */
  export(
    threadId: string,
    options?: CallOptions,
  ): Call<{
    formatVersion: 1;
    thread: Thread;
    messages: Array<Message>;
    runs: Array<Run>;
    tools: Array<Tool>;
    checkpoints: Array<Checkpoint>;
    pullRequests: Array<PullRequest>;
  }>;
}

export interface MessagesCalls {
  /** Send a message: it starts a run, joins the active run if its agent accepts messages, or queues a run behind it. */
  send(
    appId: string,
    threadId: string,
    body: SendMessageInput,
    options?: WriteOptions,
  ): WorkCall<
    {
      message: Message;
      run: Run;
    },
    Run
  >;
  /** List a thread's messages, oldest first or newest first. */
  list(
    appId: string,
    threadId: string,
    options?: { order?: 'asc' | 'desc'; inherited?: boolean } & PageOptions,
  ): ListCall<Message>;
  /** Download an attachment of a message. */
  attachment(
    appId: string,
    threadId: string,
    messageId: string,
    index: number | string,
    options?: CallOptions,
  ): Call<Uint8Array>;
}

export interface RunsCalls {
  /** List a thread's runs, newest first. */
  list(appId: string, threadId: string, options?: PageOptions): ListCall<Run>;
  /** Get a run; with waitSeconds once it has ended. */
  get(
    appId: string,
    threadId: string,
    runId: string,
    options?: { waitSeconds?: number } & CallOptions,
  ): WorkCall<Run, Run>;
  /** List a run's tool calls, oldest first or newest first. */
  tools(
    appId: string,
    threadId: string,
    runId: string,
    options?: { order?: 'asc' | 'desc' } & PageOptions,
  ): ListCall<Tool>;
  /** Stop the active run and cancel the queued ones. */
  stop(appId: string, threadId: string, options?: WriteOptions): WorkCall<Run, Run>;
  /** Repeat the last user message from the latest source. */
  retry(appId: string, threadId: string, options?: WriteOptions): WorkCall<Run, Run>;
}

export interface CheckpointsCalls {
  /** List a thread's checkpoints, newest first. */
  list(appId: string, threadId: string, options?: PageOptions): ListCall<Checkpoint>;
  /** Restore a checkpoint: a new source with its files. */
  restore(
    appId: string,
    threadId: string,
    checkpointId: string,
    body?: RestoreCheckpointInput,
    options?: WriteOptions,
  ): Call<CheckpointRestore>;
  /** Restore a source of the app: a new source with its files. */
  restoreSource(
    appId: string,
    threadId: string,
    body: RestoreSourceInput,
    options?: WriteOptions,
  ): Call<SourceRestore>;
}

export interface AppliesCalls {
  /** Apply a draft to the head. */
  create(
    appId: string,
    threadId: string,
    body: CreateApplyInput,
    options?: WriteOptions,
  ): WorkCall<Apply, Apply>;
  /** Preview what an apply would change. */
  preview(
    appId: string,
    threadId: string,
    body: PreviewApplyInput,
    options?: WriteOptions,
  ): Call<ApplyPreview>;
  /** Read one conflicted file: its three sides, and the merged text with markers. */
  previewFile(
    appId: string,
    threadId: string,
    body: PreviewFileInput,
    options?: WriteOptions,
  ): Call<ConflictFile>;
  /** List an app's applies, newest first. */
  list(appId: string, options?: { threadId?: string } & PageOptions): ListCall<Apply>;
  /** Get an apply; with waitSeconds once it has ended. */
  get(
    appId: string,
    applyId: string,
    options?: { waitSeconds?: number } & CallOptions,
  ): WorkCall<Apply, Apply>;
  /** List the applies of all apps, newest first. */
  listAll(options?: { appId?: string; status?: string } & PageOptions): ListCall<Apply>;
}

export interface EditsCalls {
  /** Edit a thread's files without an agent. */
  create(appId: string, threadId: string, body: CreateEditInput, options?: WriteOptions): Call<Source>;
}

export interface ExecsCalls {
  /** Run a command in the idle thread's workspace. */
  create(
    appId: string,
    threadId: string,
    body: CreateExecInput,
    options?: WriteOptions,
  ): Call<{
    exitCode: number | null;
    signal: string | null;
    timedOut: boolean;
    /** At most 1 MiB. */
    stdout: string;
    /** At most 1 MiB. */
    stderr: string;
    truncated: boolean;
    durationMs: Counter;
    /** The new version; null when no file changed. */
    sourceId: string | null;
  }>;
}

export interface PullRequestsCalls {
  /** Open a pull request with the thread's changes. */
  create(threadId: string, body?: CreatePullRequestInput, options?: WriteOptions): Call<PullRequest>;
  /** List a thread's pull requests, newest first. */
  list(threadId: string, options?: PageOptions): ListCall<PullRequestSummary>;
  /** Get a pull request; with afterVersion and waitSeconds, wait for a change. */
  get(
    threadId: string,
    pullRequestId: string,
    options?: { afterVersion?: Counter; waitSeconds?: number } & CallOptions,
  ): Call<PullRequest>;
  /** Change a pull request, close it or open it again. */
  update(
    threadId: string,
    pullRequestId: string,
    body?: UpdatePullRequestInput,
    options?: WriteOptions,
  ): Call<PullRequest>;
  /** Push the thread's latest source and read the provider now. */
  sync(
    threadId: string,
    pullRequestId: string,
    body?: SyncPullRequestInput,
    options?: WriteOptions,
  ): Call<PullRequest>;
  /** Bring the base branch into a pull request. */
  updateBranch(
    threadId: string,
    pullRequestId: string,
    body?: UpdateBranchInput,
    options?: WriteOptions,
  ): Call<PullRequest>;
  /** Merge a pull request. */
  merge(
    threadId: string,
    pullRequestId: string,
    body?: MergePullRequestInput,
    options?: WriteOptions,
  ): Call<PullRequest>;
  /** Enable or disable the review loop of a pull request. */
  updateReviewLoop(
    threadId: string,
    pullRequestId: string,
    body?: UpdateReviewLoopInput,
    options?: WriteOptions,
  ): Call<PullRequest>;
}

export interface TasksCalls {
  /** Create a task. */
  create(body: CreateTaskInput, options?: WriteOptions): Call<Task>;
  /** List tasks, newest first. */
  list(
    options?: {
      projectId?: string;
      status?: 'open' | 'in_progress' | 'in_review' | 'done' | 'cancelled';
    } & PageOptions,
  ): ListCall<Task>;
  /** Get a task. */
  get(taskId: string, options?: CallOptions): Call<Task>;
  /** Change the title or status of a task. */
  update(taskId: string, body?: UpdateTaskInput, options?: WriteOptions): Call<Task>;
  /** Delete a task and keep its threads. */
  delete(taskId: string, options?: WriteOptions): Call<Task>;
}

export interface AutomationsCalls {
  /** Create an automation. */
  create(
    body: CreateAutomationInput,
    options?: WriteOptions,
  ): Call<{
    automation: Automation;
    /** Returned only once, in the format of Standard Webhooks. */
    secret?: string;
    /** True if the response has no secret: it is a replay, or the caller provided the secret. */
    secretUnavailable?: boolean;
  }>;
  /** List automations, newest first. */
  list(options?: { projectId?: string } & PageOptions): ListCall<Automation>;
  /** Show the next times of a schedule. */
  previewSchedule(
    options: { cron: string; timeZone: string; from?: string; count?: number } & CallOptions,
  ): Call<Array<Time>>;
  /** Get an automation. */
  get(automationId: string, options?: CallOptions): Call<Automation>;
  /** Change an automation. */
  update(automationId: string, body?: UpdateAutomationInput, options?: WriteOptions): Call<Automation>;
  /** Delete an automation and keep its threads. */
  delete(automationId: string, options?: WriteOptions): Call<Automation>;
  /** Replace the secret of a hook. */
  rotateSecret(
    automationId: string,
    body?: AutomationRotateSecretInput,
    options?: WriteOptions,
  ): Call<{
    automation: Automation;
    /** Returned only once, in the format of Standard Webhooks. */
    secret?: string;
    /** True if the response has no secret: it is a replay, or the caller provided the secret. */
    secretUnavailable: boolean;
  }>;
  /** Run an automation now. */
  run(
    automationId: string,
    body?: RunAutomationInput,
    options?: WriteOptions,
  ): WorkCall<Execution, Execution>;
  /** List the executions of an automation, newest first. */
  executions(
    automationId: string,
    options?: {
      status?: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled' | 'skipped';
    } & PageOptions,
  ): ListCall<Execution>;
  /** Get an execution; waitSeconds waits for its end. */
  execution(
    automationId: string,
    executionId: string,
    options?: { waitSeconds?: number } & CallOptions,
  ): WorkCall<ExecutionDetail, ExecutionDetail>;
  /** Receive another system's hook. */
  receiveHook(
    automationId: string,
    options?: WriteOptions,
  ): Call<{
    execution: Execution | null;
    duplicate?: true;
    /** `disabled`: the automation is disabled. `filtered`: its filter or the `action` of the payload excludes the hook. `unmapped`: the payload names no issue. */
    skipped?: 'disabled' | 'filtered' | 'unmapped';
  }>;
}

export interface ApprovalsCalls {
  /** List a thread's approvals, newest first. */
  list(appId: string, threadId: string, options?: PageOptions): ListCall<Approval>;
  /** Approve or deny a tool call. */
  answer(
    appId: string,
    threadId: string,
    approvalId: string,
    body: AnswerApprovalInput,
    options?: WriteOptions,
  ): Call<Approval>;
}

export interface BuildsCalls {
  /** Build a source. */
  create(
    appId: string,
    threadId: string,
    body: CreateBuildInput,
    options?: WriteOptions,
  ): WorkCall<Build, Build>;
  /** List a thread's builds, newest first. */
  list(appId: string, threadId: string, options?: PageOptions): ListCall<Build>;
  /** Build an app's head, or any source of it. */
  createOfApp(appId: string, body: CreateAppBuildInput, options?: WriteOptions): WorkCall<Build, Build>;
  /** List an app's builds, newest first. */
  listOfApp(
    appId: string,
    options?: { threadId?: string; sourceId?: string; status?: string } & PageOptions,
  ): ListCall<Build>;
  /** Get a build; with waitSeconds once it has ended. */
  get(
    appId: string,
    buildId: string,
    options?: { waitSeconds?: number } & CallOptions,
  ): WorkCall<Build, Build>;
  /** Download a ready build's output as tar.gz. */
  artifact(appId: string, buildId: string, options?: CallOptions): Call<Uint8Array>;
  /** List the files of a ready build with their hashes and sizes. */
  manifest(appId: string, buildId: string, options?: CallOptions): Call<Manifest>;
  /** Read what a build's command printed. */
  logs(
    appId: string,
    buildId: string,
    options?: { offset?: number; waitSeconds?: number } & CallOptions,
  ): Call<{
    text: string;
    /** The size of the whole log so far. */
    byteSize: number;
    /** The log has only the first 2 MiB of the output; its last line says so. */
    truncated: boolean;
    /** Where this text ends: the next `offset`. */
    nextOffset: number;
    /** The build has ended, and the log has nothing after `nextOffset`. */
    ended: boolean;
  }>;
  /** Cancel a build. */
  cancel(appId: string, buildId: string, options?: WriteOptions): WorkCall<Build, Build>;
  /** List the builds of all apps, newest first. */
  listAll(options?: { appId?: string; status?: string } & PageOptions): ListCall<Build>;
}

export interface PreviewsCalls {
  /** Show the thread's app in a browser. */
  create(
    appId: string,
    threadId: string,
    body: CreatePreviewInput,
    options?: WriteOptions,
  ): WorkCall<Preview, Preview>;
  /** List a thread's previews, newest first. */
  list(appId: string, threadId: string, options?: PageOptions): ListCall<Preview>;
  /** Show an app's head, or any source of it, in a browser. */
  createOfApp(appId: string, body: CreateAppPreviewInput, options?: WriteOptions): WorkCall<Preview, Preview>;
  /** List an app's previews, newest first. */
  listOfApp(
    appId: string,
    options?: { threadId?: string; sourceId?: string; status?: string } & PageOptions,
  ): ListCall<Preview>;
  /** Get a preview; with waitSeconds once it is no longer starting. */
  get(
    appId: string,
    previewId: string,
    options?: { waitSeconds?: number } & CallOptions,
  ): WorkCall<Preview, Preview>;
  /** Stop a preview; it stays readable. */
  delete(appId: string, previewId: string, options?: WriteOptions): WorkCall<Preview, Preview>;
  /** List the previews of all apps, newest first. */
  listAll(options?: { appId?: string; status?: string } & PageOptions): ListCall<Preview>;
}

export interface WorkspacesCalls {
  /** Report activity: a fresh idle interval of 1 to 60 minutes. */
  reportActivity(
    appId: string,
    threadId: string,
    body: ReportActivityInput,
    options?: WriteOptions,
  ): Call<{
    policy: {
      idleTimeoutMinutes: number;
    } | null;
    expiresAt: Time | null;
    workspaceStatus: 'preparing' | 'cancelled' | 'ready' | 'archived' | 'cleanup_pending' | 'error' | null;
  }>;
  /** Get the saved idle policy, its deadline and the workspace's status. */
  policy(
    appId: string,
    threadId: string,
    options?: CallOptions,
  ): Call<{
    policy: {
      idleTimeoutMinutes: number;
    } | null;
    expiresAt: Time | null;
    workspaceStatus: 'preparing' | 'cancelled' | 'ready' | 'archived' | 'cleanup_pending' | 'error' | null;
  }>;
  /** List the changes of a thread's workspace, newest first. */
  history(appId: string, threadId: string, options?: PageOptions): ListCall<WorkspaceRecord>;
}

export interface SettingsCalls {
  /** Get an app's settings, as stored. */
  get(appId: string, options?: CallOptions): Call<Settings>;
  /** Change an app's settings. */
  update(appId: string, body?: UpdateAppSettingsInput, options?: WriteOptions): Call<Settings>;
  /** List the runtimes that sandboxes may have. */
  runtimes(options?: PageOptions): ListCall<Runtime>;
  /** Get the organization's defaults, as stored. */
  getOrganization(options?: CallOptions): Call<Settings>;
  /** Change the organization's defaults. */
  updateOrganization(body?: UpdateOrganizationSettingsInput, options?: WriteOptions): Call<Settings>;
}

export interface EnvironmentCalls {
  /** List an app's environment variables, by name. */
  list(appId: string, options?: { effective?: boolean } & PageOptions): ListCall<Variable>;
  /** Get an environment variable of an app. */
  get(appId: string, name: string, options?: CallOptions): Call<Variable>;
  /** Set an environment variable of an app. */
  set(appId: string, name: string, body: SetAppVariableInput, options?: WriteOptions): Call<Variable>;
  /** Delete an environment variable of an app. */
  delete(appId: string, name: string, options?: WriteOptions): Call<Variable>;
  /** List the organization's environment variables, by name. */
  listOrganization(options?: PageOptions): ListCall<Variable>;
  /** Get an environment variable of the organization. */
  getOrganization(name: string, options?: CallOptions): Call<Variable>;
  /** Set an environment variable of the organization. */
  setOrganization(name: string, body: SetOrganizationVariableInput, options?: WriteOptions): Call<Variable>;
  /** Delete an environment variable of the organization. */
  deleteOrganization(name: string, options?: WriteOptions): Call<Variable>;
}

export interface SetupsCalls {
  /** List an app's setups, newest first. */
  list(appId: string, options?: PageOptions): ListCall<Setup>;
  /** Make a source's setup ahead of its use. */
  create(appId: string, body?: CreateSetupInput, options?: WriteOptions): WorkCall<Setup, Setup>;
  /** Get a setup; with waitSeconds once it has ended. */
  get(
    appId: string,
    setupId: string,
    options?: { waitSeconds?: number } & CallOptions,
  ): WorkCall<Setup, Setup>;
  /** Read what a setup's command printed. */
  logs(
    appId: string,
    setupId: string,
    options?: { offset?: number; waitSeconds?: number } & CallOptions,
  ): Call<{
    text: string;
    /** The size of the whole log so far. */
    byteSize: number;
    /** The log has only the first 2 MiB of the output; its last line says so. */
    truncated: boolean;
    /** Where this text ends: the next `offset`. */
    nextOffset: number;
    /** The setup has ended, and the log has nothing after `nextOffset`. */
    ended: boolean;
  }>;
}

export interface SkillsCalls {
  /** List an app's skills, by name. */
  list(appId: string, options?: PageOptions): ListCall<Skill>;
  /** Get a skill of an app. */
  get(appId: string, name: string, options?: CallOptions): Call<Skill>;
  /** Set a skill of an app. */
  set(appId: string, name: string, body: SetAppSkillInput, options?: WriteOptions): Call<Skill>;
  /** Delete a skill of an app. */
  delete(appId: string, name: string, options?: WriteOptions): Call<Skill>;
  /** Download a skill of an app as tar.gz. */
  archive(appId: string, name: string, options?: CallOptions): Call<Uint8Array>;
  /** List the organization's skills, by name. */
  listOrganization(options?: PageOptions): ListCall<Skill>;
  /** Get a skill of the organization. */
  getOrganization(name: string, options?: CallOptions): Call<Skill>;
  /** Set a skill of the organization. */
  setOrganization(name: string, body: SetOrganizationSkillInput, options?: WriteOptions): Call<Skill>;
  /** Delete a skill of the organization. */
  deleteOrganization(name: string, options?: WriteOptions): Call<Skill>;
  /** Download a skill of the organization as tar.gz. */
  organizationArchive(name: string, options?: CallOptions): Call<Uint8Array>;
}

export interface OperationsCalls {
  /** Find the receipts of an idempotency key. */
  list(options: { idempotencyKey: string } & PageOptions): ListCall<Operation>;
  /** Inspect the receipt of an idempotent write. */
  get(operationId: string, options?: CallOptions): Call<Operation>;
}

export interface ModelsCalls {
  /** List the models that threads may use. */
  list(options?: PageOptions): ListCall<Model>;
}

export interface ModelKeysCalls {
  /** List the model providers for which the organization has a key. */
  list(options?: PageOptions): ListCall<ModelKey>;
  /** Set the organization's key of a model provider. */
  set(provider: string, body: SetModelKeyInput, options?: WriteOptions): Call<ModelKey>;
  /** Delete the organization's key of a model provider. */
  delete(provider: string, options?: WriteOptions): Call<ModelKey>;
}

export interface UsageCalls {
  /** Sum tokens and costs of runs. */
  read(
    options?: { from?: string; to?: string; groupBy?: 'day' | 'project' | 'thread' | 'model' } & PageOptions,
  ): ListCall<Usage>;
}

export interface McpServersCalls {
  /** Register an MCP server for agents. */
  create(body: CreateMcpServerInput, options?: WriteOptions): Call<McpServer>;
  /** List MCP servers, newest first. */
  list(options?: PageOptions): ListCall<McpServer>;
  /** Get an MCP server. */
  get(mcpServerId: string, options?: CallOptions): Call<McpServer>;
  /** Change an MCP server. */
  update(mcpServerId: string, body?: UpdateMcpServerInput, options?: WriteOptions): Call<McpServer>;
  /** Delete an MCP server. */
  delete(mcpServerId: string, options?: WriteOptions): Call<McpServer>;
}

export interface WebhooksCalls {
  /** Subscribe an address to events. */
  create(
    body: CreateWebhookInput,
    options?: WriteOptions,
  ): Call<{
    subscription: Subscription;
    /** Signs the deliveries (https://www.standardwebhooks.com). Returned only once. */
    secret?: string;
    /** True in the response to a retry, which cannot return the secret. */
    secretUnavailable: boolean;
  }>;
  /** List webhooks, newest first. */
  list(options?: PageOptions): ListCall<Subscription>;
  /** Get a webhook. */
  get(webhookId: string, options?: CallOptions): Call<Subscription>;
  /** Change, pause or resume a webhook. */
  update(webhookId: string, body?: UpdateWebhookInput, options?: WriteOptions): Call<Subscription>;
  /** Delete a webhook with its deliveries. */
  delete(webhookId: string, options?: WriteOptions): Call<Subscription>;
  /** Replace a webhook's secret. */
  rotateSecret(
    webhookId: string,
    body?: WebhookRotateSecretInput,
    options?: WriteOptions,
  ): Call<{
    subscription: Subscription;
    /** Signs the deliveries (https://www.standardwebhooks.com). Returned only once. */
    secret?: string;
    /** True in the response to a retry, which cannot return the secret. */
    secretUnavailable: boolean;
  }>;
  /** Send a test delivery. */
  test(webhookId: string, options?: WriteOptions): Call<Delivery>;
  /** List a webhook's deliveries, newest first. */
  deliveries(
    webhookId: string,
    options?: {
      status?: 'pending' | 'succeeded' | 'failed';
      eventType?:
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
        | 'webhook.ping';
    } & PageOptions,
  ): ListCall<Delivery>;
  /** Get a delivery. */
  delivery(webhookId: string, deliveryId: string, options?: CallOptions): Call<Delivery>;
  /** Send a delivery again. */
  redeliver(webhookId: string, deliveryId: string, options?: WriteOptions): Call<Delivery>;
}

export interface HostsCalls {
  /** Add one's own machine as a host. */
  create(
    body: CreateHostInput,
    options?: WriteOptions,
  ): Call<{
    host: Host;
    /** With this the program connects. Returned only once. */
    token?: string;
    /** True in the response to a retry, which cannot return the token. */
    secretUnavailable: boolean;
  }>;
  /** List hosts, newest first. */
  list(options?: PageOptions): ListCall<Host>;
  /** Get a host. */
  get(hostId: string, options?: CallOptions): Call<Host>;
  /** Rename a host. */
  update(hostId: string, body: UpdateHostInput, options?: WriteOptions): Call<Host>;
  /** Delete a host. */
  delete(hostId: string, options?: WriteOptions): Call<Host>;
  /** Replace a host's token. */
  rotateToken(
    hostId: string,
    options?: WriteOptions,
  ): Call<{
    host: Host;
    /** With this the program connects. Returned only once. */
    token?: string;
    /** True in the response to a retry, which cannot return the token. */
    secretUnavailable: boolean;
  }>;
  /** List the folders that a host offers, by name. */
  bindings(hostId: string, options?: PageOptions): ListCall<Binding>;
}

export interface ScmCalls {
  /** List the connections to source control hosts, newest first. */
  listInstallations(options?: PageOptions): ListCall<Installation>;
  /** Connect a source control host. */
  createInstallation(
    body: ScmCreateInstallationInput,
    options?: WriteOptions,
  ): Call<{
    installation: Installation;
    /** Only in the first response. */
    webhookSecret?: string;
    /** Whether this is a replay, without the secret. */
    secretUnavailable: boolean;
  }>;
  /** Read a connection to a source control host. */
  getInstallation(installationId: string, options?: CallOptions): Call<Installation>;
  /** Change the connection to a source control host. */
  updateInstallation(
    installationId: string,
    body?: ScmUpdateInstallationInput,
    options?: WriteOptions,
  ): Call<Installation>;
  /** Disconnect a source control host. */
  deleteInstallation(installationId: string, options?: WriteOptions): Call<Installation>;
  /** Refresh the repositories of a connection. */
  syncInstallation(installationId: string, options?: WriteOptions): Call<Installation>;
  /** Receive a webhook delivery from a source control host. */
  receiveWebhook(installationId: string, options?: WriteOptions): Call<boolean>;
  /** Create a repository that this service hosts. */
  createRepository(body: ScmCreateRepositoryInput, options?: WriteOptions): Call<Repository>;
  /** List repositories, in the order of their names. */
  listRepositories(options?: { installationId?: string; query?: string } & PageOptions): ListCall<Repository>;
  /** Read a repository. */
  getRepository(repositoryId: string, options?: CallOptions): Call<Repository>;
  /** Change a repository that this service hosts. */
  updateRepository(
    repositoryId: string,
    body?: ScmUpdateRepositoryInput,
    options?: WriteOptions,
  ): Call<Repository>;
  /** Delete a repository that this service hosts. */
  deleteRepository(repositoryId: string, options?: WriteOptions): Call<Repository>;
  /** List a repository's branches, in the order of their names. */
  listBranches(repositoryId: string, options?: { query?: string } & PageOptions): ListCall<Branch>;
  /** Look at a branch or a commit of a repository. */
  inspectRepository(repositoryId: string, options?: { ref?: string } & CallOptions): Call<Inspection>;
  /** Report the status of a commit. */
  createStatus(
    repositoryId: string,
    commitSha: string,
    body: ScmCreateStatusInput,
    options?: WriteOptions,
  ): Call<CommitStatus>;
  /** List a commit's statuses, newest first. */
  listStatuses(
    repositoryId: string,
    commitSha: string,
    options?: { latest?: boolean } & PageOptions,
  ): ListCall<CommitStatus>;
  /** Open a pull request in a repository that this service hosts. */
  createPullRequest(
    repositoryId: string,
    body: ScmCreatePullRequestInput,
    options?: WriteOptions,
  ): Call<ScmPullRequest>;
  /** List the pull requests of a repository that this service hosts, newest first. */
  listPullRequests(
    repositoryId: string,
    options?: { state?: 'open' | 'closed' | 'merged' } & PageOptions,
  ): ListCall<ScmPullRequest>;
  /** Read a pull request of a repository that this service hosts. */
  getPullRequest(repositoryId: string, number: number | string, options?: CallOptions): Call<ScmPullRequest>;
  /** Change a pull request of a repository that this service hosts. */
  updatePullRequest(
    repositoryId: string,
    number: number | string,
    body?: ScmUpdatePullRequestInput,
    options?: WriteOptions,
  ): Call<ScmPullRequest>;
  /** Merge a pull request of a repository that this service hosts. */
  mergePullRequest(
    repositoryId: string,
    number: number | string,
    body?: ScmMergePullRequestInput,
    options?: WriteOptions,
  ): Call<ScmPullRequest>;
  /** Comment on a pull request of a repository that this service hosts. */
  createComment(
    repositoryId: string,
    number: number | string,
    body: ScmCreateCommentInput,
    options?: WriteOptions,
  ): Call<Comment>;
  /** List the comments on a pull request, oldest first. */
  listComments(repositoryId: string, number: number | string, options?: PageOptions): ListCall<Comment>;
  /** Resolve a review thread, or open it again. */
  updateComment(
    repositoryId: string,
    number: number | string,
    commentId: string,
    body?: ScmUpdateCommentInput,
    options?: WriteOptions,
  ): Call<Comment>;
}

export interface SessionCalls {
  /** Sign in by e-mail address and password. */
  signIn(
    body: SignInInput,
    options?: WriteOptions,
  ): Call<{
    user: User;
    organizations: Array<Organization>;
    /** The organization that this session acts in; null when its user is no longer a member. */
    activeOrganizationId: string | null;
    entitlements: Entitlements;
    permissions: Permissions;
    /** That organization is the first one: its owners and admins see the state of the whole service. */
    isOperator: boolean;
  }>;
  /** Sign out. */
  signOut(options?: WriteOptions): Call<void>;
  /** Who is signed in, and where. */
  get(options?: CallOptions): Call<{
    user: User;
    organizations: Array<Organization>;
    /** The organization that this session acts in; null when its user is no longer a member. */
    activeOrganizationId: string | null;
    entitlements: Entitlements;
    permissions: Permissions;
    /** That organization is the first one: its owners and admins see the state of the whole service. */
    isOperator: boolean;
  }>;
  /** Choose the organization that this session acts in. */
  switchOrganization(
    body: SwitchOrganizationInput,
    options?: WriteOptions,
  ): Call<{
    user: User;
    organizations: Array<Organization>;
    /** The organization that this session acts in; null when its user is no longer a member. */
    activeOrganizationId: string | null;
    entitlements: Entitlements;
    permissions: Permissions;
    /** That organization is the first one: its owners and admins see the state of the whole service. */
    isOperator: boolean;
  }>;
  /** Change your password. */
  changePassword(
    body: ChangePasswordInput,
    options?: WriteOptions,
  ): Call<{
    user: User;
    organizations: Array<Organization>;
    /** The organization that this session acts in; null when its user is no longer a member. */
    activeOrganizationId: string | null;
    entitlements: Entitlements;
    permissions: Permissions;
    /** That organization is the first one: its owners and admins see the state of the whole service. */
    isOperator: boolean;
  }>;
}

export interface SessionsCalls {
  /** List your open sessions, newest first. */
  list(options?: PageOptions): ListCall<Session>;
  /** End one of your sessions. */
  end(sessionId: string, options?: WriteOptions): Call<Session>;
}

export interface OrganizationsCalls {
  /** Create a further, empty organization. */
  create(body: CreateOrganizationInput, options?: WriteOptions): Call<Organization>;
  /** Delete an organization. */
  delete(organizationId: string, options?: WriteOptions): Call<Organization>;
}

export interface MembersCalls {
  /** List the members of the organization. */
  list(options?: PageOptions): ListCall<Member>;
  /** Invite a person to the organization. */
  invite(body: InviteMemberInput, options?: WriteOptions): Call<Invitation>;
  /** Change a member's role. */
  update(userId: string, body: UpdateMemberInput, options?: WriteOptions): Call<Member>;
  /** Remove a member. */
  remove(userId: string, options?: WriteOptions): Call<Member>;
}

export interface InvitationsCalls {
  /** List the open invitations of the organization, newest first. */
  list(options?: PageOptions): ListCall<Invitation>;
  /** Revoke an invitation that was not accepted yet. */
  revoke(invitationId: string, options?: WriteOptions): Call<Invitation>;
  /** Accept an invitation. */
  accept(
    token: string,
    body: AcceptInvitationInput,
    options?: WriteOptions,
  ): Call<{
    user: User;
    organizations: Array<Organization>;
    /** The organization that this session acts in; null when its user is no longer a member. */
    activeOrganizationId: string | null;
    entitlements: Entitlements;
    permissions: Permissions;
    /** That organization is the first one: its owners and admins see the state of the whole service. */
    isOperator: boolean;
  }>;
}

export interface AccountsCalls {
  /** Create a service account and its first key. */
  create(
    body: CreateServiceAccountInput,
    options?: WriteOptions,
  ): Call<{
    account: Account;
    credential: Credential;
    /** The service key; only the first answer contains it. */
    key?: string;
    secretUnavailable: boolean;
  }>;
  /** List service accounts, newest first. */
  list(options?: PageOptions): ListCall<Account>;
  /** Get a service account. */
  get(accountId: string, options?: CallOptions): Call<Account>;
  /** Change a service account's name, permissions, projects, or disable it. */
  update(accountId: string, body?: UpdateServiceAccountInput, options?: WriteOptions): Call<Account>;
  /** Delete a service account. */
  delete(accountId: string, options?: WriteOptions): Call<Account>;
}

export interface CredentialsCalls {
  /** Add a key to a service account. */
  rotate(
    accountId: string,
    body?: RotateCredentialInput,
    options?: WriteOptions,
  ): Call<{
    account: Account;
    credential: Credential;
    /** The service key; only the first answer contains it. */
    key?: string;
    secretUnavailable: boolean;
  }>;
  /** List a service account's credentials, newest first. */
  list(accountId: string, options?: PageOptions): ListCall<Credential>;
  /** Revoke a key. */
  revoke(accountId: string, credentialId: string, options?: WriteOptions): Call<Credential>;
}

export interface AuditCalls {
  /** Read the audit log, newest first. */
  list(options?: PageOptions): ListCall<AuditEntry>;
}

export interface SystemCalls {
  /** Read the state of the deployment. */
  get(options?: CallOptions): Call<System>;
  /** List what has not moved though it should. */
  stuck(options?: { seconds?: number } & PageOptions): ListCall<Stuck>;
}

export interface HealthCalls {
  /** Whether the process lives. */
  get(options?: CallOptions): Call<{
    status: 'ok';
    version: string;
  }>;
  /** Whether every part works: database, object storage, rate limiter, sandbox. */
  ready(options?: CallOptions): Call<'ready'>;
}

/** What the client calls, by the document's resources. */
export interface Resources {
  apps: AppsCalls;
  head: HeadCalls;
  projects: ProjectsCalls;
  sources: SourcesCalls;
  threads: ThreadsCalls;
  messages: MessagesCalls;
  runs: RunsCalls;
  checkpoints: CheckpointsCalls;
  applies: AppliesCalls;
  edits: EditsCalls;
  execs: ExecsCalls;
  pullRequests: PullRequestsCalls;
  tasks: TasksCalls;
  automations: AutomationsCalls;
  approvals: ApprovalsCalls;
  builds: BuildsCalls;
  previews: PreviewsCalls;
  workspaces: WorkspacesCalls;
  settings: SettingsCalls;
  environment: EnvironmentCalls;
  setups: SetupsCalls;
  skills: SkillsCalls;
  operations: OperationsCalls;
  models: ModelsCalls;
  modelKeys: ModelKeysCalls;
  usage: UsageCalls;
  mcpServers: McpServersCalls;
  webhooks: WebhooksCalls;
  hosts: HostsCalls;
  scm: ScmCalls;
  session: SessionCalls;
  sessions: SessionsCalls;
  organizations: OrganizationsCalls;
  members: MembersCalls;
  invitations: InvitationsCalls;
  accounts: AccountsCalls;
  credentials: CredentialsCalls;
  audit: AuditCalls;
  system: SystemCalls;
  health: HealthCalls;
}

/** Calls of one app, its ids left out. */
export interface AppResources {
  apps: Bound<Pick<AppsCalls, 'get' | 'update' | 'delete'>>;
  head: Bound<Pick<HeadCalls, 'initialize' | 'get' | 'history'>>;
  sources: Bound<
    Pick<SourcesCalls, 'import' | 'list' | 'get' | 'files' | 'file' | 'archive' | 'diff' | 'search'>
  >;
  threads: Bound<Pick<ThreadsCalls, 'create' | 'list' | 'get' | 'update' | 'delete' | 'fork'>>;
  messages: Bound<Pick<MessagesCalls, 'send' | 'list' | 'attachment'>>;
  runs: Bound<Pick<RunsCalls, 'list' | 'get' | 'tools' | 'stop' | 'retry'>>;
  checkpoints: Bound<Pick<CheckpointsCalls, 'list' | 'restore' | 'restoreSource'>>;
  applies: Bound<Pick<AppliesCalls, 'create' | 'preview' | 'previewFile' | 'list' | 'get'>>;
  edits: Bound<Pick<EditsCalls, 'create'>>;
  execs: Bound<Pick<ExecsCalls, 'create'>>;
  approvals: Bound<Pick<ApprovalsCalls, 'list' | 'answer'>>;
  builds: Bound<
    Pick<
      BuildsCalls,
      'create' | 'list' | 'createOfApp' | 'listOfApp' | 'get' | 'artifact' | 'manifest' | 'logs' | 'cancel'
    >
  >;
  previews: Bound<Pick<PreviewsCalls, 'create' | 'list' | 'createOfApp' | 'listOfApp' | 'get' | 'delete'>>;
  workspaces: Bound<Pick<WorkspacesCalls, 'reportActivity' | 'policy' | 'history'>>;
  settings: Bound<Pick<SettingsCalls, 'get' | 'update'>>;
  environment: Bound<Pick<EnvironmentCalls, 'list' | 'get' | 'set' | 'delete'>>;
  setups: Bound<Pick<SetupsCalls, 'list' | 'create' | 'get' | 'logs'>>;
  skills: Bound<Pick<SkillsCalls, 'list' | 'get' | 'set' | 'delete' | 'archive'>>;
}

/** Calls of one project, by the Direct API, its ids left out. */
export interface ProjectResources {
  head: Bound<Pick<HeadCalls, 'initialize' | 'get' | 'history'>>;
  projects: Bound<Pick<ProjectsCalls, 'get' | 'update' | 'delete'>>;
  sources: Bound<
    Pick<SourcesCalls, 'import' | 'list' | 'get' | 'files' | 'file' | 'archive' | 'diff' | 'search'>
  >;
  applies: Bound<Pick<AppliesCalls, 'list' | 'get'>>;
  builds: Bound<
    Pick<BuildsCalls, 'createOfApp' | 'listOfApp' | 'get' | 'artifact' | 'manifest' | 'logs' | 'cancel'>
  >;
  previews: Bound<Pick<PreviewsCalls, 'createOfApp' | 'listOfApp' | 'get' | 'delete'>>;
  settings: Bound<Pick<SettingsCalls, 'get' | 'update'>>;
  environment: Bound<Pick<EnvironmentCalls, 'list' | 'get' | 'set' | 'delete'>>;
  setups: Bound<Pick<SetupsCalls, 'list' | 'create' | 'get' | 'logs'>>;
  skills: Bound<Pick<SkillsCalls, 'list' | 'get' | 'set' | 'delete' | 'archive'>>;
}

/** Calls of one thread of an app, its ids left out. */
export interface AppThreadResources {
  threads: Bound<Bound<Pick<ThreadsCalls, 'get' | 'update' | 'delete' | 'fork'>>>;
  messages: Bound<Bound<Pick<MessagesCalls, 'send' | 'list' | 'attachment'>>>;
  runs: Bound<Bound<Pick<RunsCalls, 'list' | 'get' | 'tools' | 'stop' | 'retry'>>>;
  checkpoints: Bound<Bound<Pick<CheckpointsCalls, 'list' | 'restore' | 'restoreSource'>>>;
  applies: Bound<Bound<Pick<AppliesCalls, 'create' | 'preview' | 'previewFile'>>>;
  edits: Bound<Bound<Pick<EditsCalls, 'create'>>>;
  execs: Bound<Bound<Pick<ExecsCalls, 'create'>>>;
  approvals: Bound<Bound<Pick<ApprovalsCalls, 'list' | 'answer'>>>;
  builds: Bound<Bound<Pick<BuildsCalls, 'create' | 'list'>>>;
  previews: Bound<Bound<Pick<PreviewsCalls, 'create' | 'list'>>>;
  workspaces: Bound<Bound<Pick<WorkspacesCalls, 'reportActivity' | 'policy' | 'history'>>>;
}

/** Calls of one thread, by the Direct API, its ids left out. */
export interface ThreadResources {
  threads: Bound<Bound<Pick<ThreadsCalls, 'get' | 'update' | 'delete' | 'fork'>>> &
    Bound<Pick<ThreadsCalls, 'export'>>;
  messages: Bound<Bound<Pick<MessagesCalls, 'send' | 'list' | 'attachment'>>>;
  runs: Bound<Bound<Pick<RunsCalls, 'list' | 'get' | 'tools' | 'stop' | 'retry'>>>;
  checkpoints: Bound<Bound<Pick<CheckpointsCalls, 'list' | 'restore' | 'restoreSource'>>>;
  applies: Bound<Bound<Pick<AppliesCalls, 'create' | 'preview' | 'previewFile'>>>;
  edits: Bound<Bound<Pick<EditsCalls, 'create'>>>;
  execs: Bound<Bound<Pick<ExecsCalls, 'create'>>>;
  pullRequests: Bound<
    Pick<
      PullRequestsCalls,
      'create' | 'list' | 'get' | 'update' | 'sync' | 'updateBranch' | 'merge' | 'updateReviewLoop'
    >
  >;
  approvals: Bound<Bound<Pick<ApprovalsCalls, 'list' | 'answer'>>>;
  builds: Bound<Bound<Pick<BuildsCalls, 'create' | 'list'>>>;
  previews: Bound<Bound<Pick<PreviewsCalls, 'create' | 'list'>>>;
  workspaces: Bound<Bound<Pick<WorkspacesCalls, 'reportActivity' | 'policy' | 'history'>>>;
}
