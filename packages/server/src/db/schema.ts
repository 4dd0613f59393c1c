/**
 * The tables as Kysely sees them; migrations/*.sql is the truth. Columns with a default are Generated,
 * jsonb is written by `json()`.
 */
import { sql } from 'kysely';
import type { ColumnType, Generated, GeneratedAlways, RawBuilder, Selectable } from 'kysely';
import type { RunnerStatus } from '@headrace/runner/protocol';

type Time = ColumnType<Date, Date | string | RawBuilder<Date>, Date | string | RawBuilder<Date>>;
type TimeOrNull = ColumnType<
  Date | null,
  Date | string | RawBuilder<Date> | null | undefined,
  Date | string | RawBuilder<Date> | null
>;
type GeneratedTime = ColumnType<
  Date,
  Date | string | RawBuilder<Date> | undefined,
  Date | string | RawBuilder<Date>
>;
type Json<T> = ColumnType<T, RawBuilder<T>, RawBuilder<T>>;
type JsonOrNull<T> = ColumnType<T | null, RawBuilder<T> | null | undefined, RawBuilder<T> | null>;
type GeneratedJson<T> = ColumnType<T, RawBuilder<T> | undefined, RawBuilder<T>>;

/** A value for a jsonb column. */
export const json = <T>(value: T): RawBuilder<T> => sql<T>`${JSON.stringify(value)}::jsonb`;

interface OrganizationsTable {
  id: string;
  name: string;
  platform_api: Generated<boolean>;
  without: Generated<string[]>;
  settings: GeneratedJson<StoredSettings>;
  deleted_at: TimeOrNull;
  purged_at: TimeOrNull;
  created_at: GeneratedTime;
}

interface UsersTable {
  id: string;
  email: string;
  name: string;
  password_hash: string;
  created_at: GeneratedTime;
}

interface MembersTable {
  org_id: string;
  user_id: string;
  role: 'owner' | 'admin' | 'member';
  created_at: GeneratedTime;
}

interface InvitationsTable {
  id: string;
  org_id: string;
  email: string;
  role: 'owner' | 'admin' | 'member';
  token_hash: Buffer;
  invited_by: string;
  expires_at: Time;
  accepted_at: TimeOrNull;
  created_at: GeneratedTime;
}

interface SessionsTable {
  id: string;
  token_hash: Buffer;
  user_id: string;
  active_org_id: string | null;
  address: string | null;
  user_agent: string | null;
  expires_at: Time;
  last_seen_at: GeneratedTime;
  created_at: GeneratedTime;
}

interface SignInFailuresTable {
  account: Buffer;
  failures: number;
  expires_at: Time;
}

interface SignInNetworksTable {
  account: Buffer;
  network: string;
  is_known: boolean;
  attempted_at: Time;
  expires_at: Time;
}

interface ServiceAccountsTable {
  org_id: string;
  id: string;
  name: string;
  permissions: Json<Record<string, string[]>>;
  project_ids: string[] | null;
  disabled: Generated<boolean>;
  saved_by: string | null;
  deleted_at: TimeOrNull;
  created_at: GeneratedTime;
  updated_at: GeneratedTime;
}

interface CredentialsTable {
  org_id: string;
  id: string;
  account_id: string;
  secret_hash: Buffer;
  expires_at: Time;
  revoked: Generated<boolean>;
  last_used_at: TimeOrNull;
  created_at: GeneratedTime;
}

interface AuditEntriesTable {
  org_id: string;
  id: string;
  action: string;
  actor_id: string | null;
  target_id: string | null;
  address: string | null;
  created_at: GeneratedTime;
}

interface ModelKeysTable {
  org_id: string;
  provider: string;
  key_sealed: Buffer;
  created_at: GeneratedTime;
  updated_at: GeneratedTime;
}

interface SpendingTable {
  org_id: string;
  scope_id: string;
  period: string;
  spent_micros: Generated<number>;
  reserved_micros: Generated<number>;
}

interface ModelCallsTable {
  org_id: string;
  id: GeneratedAlways<number>;
  project_id: string;
  thread_id: string;
  run_id: string;
  provider: string;
  model: string;
  status: 'open' | 'settled';
  period: string;
  reserved_micros: number;
  cost_micros: Generated<number>;
  input_tokens: Generated<number>;
  output_tokens: Generated<number>;
  cached_tokens: Generated<number>;
  outcome: string | null;
  lease_until: Time;
  created_at: GeneratedTime;
  settled_at: TimeOrNull;
}

/** Micro-units of USD for a million tokens. */
export interface Prices {
  inputMicros: number;
  outputMicros: number;
  /** Input read from the provider's cache, and input written into it. */
  cachedMicros: number;
  cacheWriteMicros: number;
}

/** The last model calls of a run failed, `count` in a row. */
export interface ModelFailure {
  code: 'model_error' | 'spend_limit_reached';
  message: string;
  count: number;
}

export interface McpServersTable {
  org_id: string;
  id: string;
  name: string;
  transport: 'http' | 'stdio';
  url: string | null;
  command: string | null;
  secret_names: Generated<string[]>;
  secrets_sealed: Buffer | null;
  project_ids: string[] | null;
  created_by: string;
  created_at: GeneratedTime;
  updated_at: GeneratedTime;
}

export interface VariablesTable {
  org_id: string;
  id: string;
  /** null: of the whole organization. */
  project_id: string | null;
  name: string;
  value_sealed: Buffer;
  byte_size: number;
  is_secret: boolean;
  targets: VariableTarget[];
  created_at: GeneratedTime;
  updated_at: GeneratedTime;
}

export interface SkillsTable {
  org_id: string;
  id: string;
  /** null: of the whole organization. */
  project_id: string | null;
  name: string;
  description: string;
  file_count: number;
  byte_size: number;
  sha256: string;
  archive_key: string;
  archive_sha256: string;
  archive_byte_size: number;
  created_at: GeneratedTime;
  updated_at: GeneratedTime;
}

/** What the agent of a run is told: settings of both levels, and skills as they were stored. */
export interface RunContext {
  /** The organization's, then the project's. */
  instructions: (string | null)[];
  skills: { name: string; description: string; sha256: string; archive_key: string }[];
}

/** What a sandbox is for. */
export type VariableTarget = 'run' | 'exec' | 'build' | 'preview';

interface OperationsTable {
  org_id: string;
  id: string;
  actor_id: string;
  idempotency_key: string;
  fingerprint: Buffer;
  method: string;
  path: string;
  project_id: string | null;
  permissions: string[];
  published: boolean;
  status: 'pending' | 'succeeded' | 'failed' | 'uncertain';
  fence: Generated<number>;
  lease_until: TimeOrNull;
  look_name: string | null;
  look_target: JsonOrNull<Record<string, unknown>>;
  looks: Generated<number>;
  uncertain_at: TimeOrNull;
  response_status: number | null;
  response: string | null;
  response_sealed: Buffer | null;
  created_at: GeneratedTime;
  settled_at: TimeOrNull;
  reserved_until: TimeOrNull;
}

interface ProjectsTable {
  org_id: string;
  id: string;
  kind: 'platform' | 'direct';
  name: string;
  external_id: string | null;
  metadata: GeneratedJson<Record<string, string>>;
  repository_id: string | null;
  repo_full_name: string | null;
  default_branch: string | null;
  head_source_id: string | null;
  head_revision: number | null;
  head_updated_at: TimeOrNull;
  head_commit_sha: string | null;
  apply_sequence: Generated<number>;
  task_number: Generated<number>;
  settings: GeneratedJson<StoredSettings>;
  version: Generated<number>;
  created_at: GeneratedTime;
  updated_at: GeneratedTime;
  deleted_at: TimeOrNull;
  emptied_at: TimeOrNull;
  purged_at: TimeOrNull;
}

interface HeadHistoryTable {
  org_id: string;
  project_id: string;
  revision: number;
  source_id: string;
  apply_id: string | null;
  created_at: GeneratedTime;
}

export interface SourcesTable {
  org_id: string;
  id: string;
  project_id: string;
  thread_id: string | null;
  run_id: string | null;
  parent_source_ids: Generated<string[]>;
  origin: 'import' | 'edit' | 'run' | 'restore' | 'apply' | 'recovery';
  sha256: string;
  byte_size: number;
  file_count: number;
  message: string | null;
  manifest: Buffer;
  manifest_base: string | null;
  manifest_depth: Generated<number>;
  commit_sha: string | null;
  commit_branch: string | null;
  kept_aside: JsonOrNull<KeptAside[]>;
  kept_aside_count: number | null;
  created_at: GeneratedTime;
}

/** What a commit has and a source may not. */
export interface KeptAside {
  path: string;
  reason: 'symlink' | 'submodule' | 'reserved_name' | 'invalid_name' | 'collision' | 'too_large';
}

export interface PacksTable {
  org_id: string;
  id: string;
  project_id: string;
  object_key: string;
  byte_size: number;
  index: Buffer;
  created_at: GeneratedTime;
}

interface BlobsTable {
  project_id: string;
  sha256: Buffer;
  pack_id: string;
}

export interface ObjectsTable {
  org_id: string;
  key: string;
  /** null: of the whole organization. */
  project_id: string | null;
  committed_at: TimeOrNull;
  delete_after: TimeOrNull;
  attempts: Generated<number>;
  created_at: GeneratedTime;
}

type WorkspaceStatus = 'preparing' | 'cancelled' | 'ready' | 'archived' | 'cleanup_pending' | 'error';

interface ThreadsTable {
  org_id: string;
  id: string;
  project_id: string;
  source_id: string | null;
  latest_source_id: string | null;
  model_id: string | null;
  title: string | null;
  metadata: GeneratedJson<Record<string, string>>;
  status: 'queued' | 'running' | 'waiting' | 'blocked' | 'ready' | 'failed' | 'archived';
  archived_at: TimeOrNull;
  sealed_at: TimeOrNull;
  deleted_at: TimeOrNull;
  purged_at: TimeOrNull;
  initialization_state: 'accepted' | 'preparing' | 'completed' | 'failed' | 'cancelled';
  initialization_phase: string | null;
  initialization_attempt_count: Generated<number>;
  initialization_error_code: string | null;
  initialization_error_message: string | null;
  initialization_updated_at: TimeOrNull;
  workspace_status: WorkspaceStatus | null;
  workspace_setup_status: 'pending' | 'running' | 'ready' | 'failed' | null;
  setup_id: string | null;
  workspace_source_id: string | null;
  runner_id: string | null;
  idle_timeout_minutes: number | null;
  idle_expires_at: TimeOrNull;
  workspace_failures: Generated<number>;
  workspace_retry_at: TimeOrNull;
  spend_limit_micros: number | null;
  version: Generated<number>;
  title_version: Generated<number>;
  archive_version: Generated<number>;
  latest_user_message_at: TimeOrNull;
  stop_requested_at: TimeOrNull;
  active_exec_id: string | null;
  active_apply_id: string | null;
  active_build_id: string | null;
  last_run_failed: Generated<boolean>;
  lost_work_source_id: string | null;
  message_sequence: Generated<number>;
  created_by: string;
  participant_user_ids: Generated<string[]>;
  tracker_issue_url: string | null;
  error_tracker_issue: JsonOrNull<Record<string, unknown>>;
  execution_target: JsonOrNull<ExecutionTarget>;
  base_branch: string | null;
  base_commit_sha: string | null;
  pull_request_operation_id: string | null;
  task_id: string | null;
  thread_index: number | null;
  automation_id: string | null;
  forked_from: JsonOrNull<ForkedFrom>;
  created_at: GeneratedTime;
  updated_at: GeneratedTime;
  listed: boolean;
}

/** The host, folder, and agent that a thread works with, as its creation said. */
export interface ExecutionTarget {
  kind: 'local';
  hostId: string;
  bindingId: string;
  provider: 'agent_a' | 'agent_b';
  model?: string | null | undefined;
  workspaceMode: 'direct' | 'worktree';
}

/** What a fork began from; its ids stay when the parent is deleted. */
export interface ForkedFrom {
  threadId: string;
  checkpointId: string | null;
  sourceId: string;
}

export interface MessagesTable {
  org_id: string;
  id: string;
  thread_id: string;
  run_id: string | null;
  role: 'user' | 'assistant' | 'system';
  content: string;
  attachments: JsonOrNull<{ mediaType: string; data: string }[]>;
  /** Of the attachments, in their order. */
  attachment_sizes: JsonOrNull<{ mediaType: string; byteSize: number }[]>;
  sequence: number;
  client_message_id: string | null;
  steering: 'sent' | 'taken' | null;
  created_at: GeneratedTime;
}

export interface InheritedMessagesTable {
  org_id: string;
  thread_id: string;
  position: number;
  message_id: string;
  role: MessagesTable['role'];
  content: string;
}

export interface RunsTable {
  org_id: string;
  id: string;
  /** Rises along a thread's runs, by the database's own count. */
  position: Generated<number>;
  project_id: string;
  thread_id: string;
  message_id: string | null;
  reply_message_id: string;
  kind: 'message' | 'restore' | 'repair' | 'retry';
  agent: string;
  model_id: string;
  prompt: string | null;
  status: 'queued' | 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled';
  base_source_id: string | null;
  result_source_id: string | null;
  restore_source_id: string | null;
  apply_id: string | null;
  error_code: string | null;
  error_message: string | null;
  input_tokens: Generated<number>;
  output_tokens: Generated<number>;
  cached_tokens: Generated<number>;
  cost_micros: Generated<number>;
  warnings: GeneratedJson<{ path: string; reason: string }[]>;
  steerable: Generated<boolean>;
  held: Generated<boolean>;
  cancel_requested_at: TimeOrNull;
  active_duration_ms: Generated<number>;
  active_since: TimeOrNull;
  journal_offset: Generated<number>;
  prices: GeneratedJson<Record<string, Prices>>;
  model_failure: JsonOrNull<ModelFailure>;
  context: JsonOrNull<RunContext>;
  snapshot_at: TimeOrNull;
  created_by: string;
  created_at: GeneratedTime;
  started_at: TimeOrNull;
  finished_at: TimeOrNull;
}

export interface ToolsTable {
  org_id: string;
  id: string;
  thread_id: string;
  run_id: string;
  call_id: string;
  name: string;
  title: string | null;
  status: 'pending' | 'running' | 'completed' | 'failed' | 'cancelled';
  input: JsonOrNull<unknown>;
  output: string | null;
  truncated: Generated<boolean>;
  first_event_id: string;
  started_at: TimeOrNull;
  finished_at: TimeOrNull;
  created_at: GeneratedTime;
}

export interface ApprovalsTable {
  org_id: string;
  id: string;
  thread_id: string;
  run_id: string;
  tool_id: string;
  request_id: string;
  title: string;
  status: 'pending' | 'approved' | 'denied' | 'expired';
  expires_at: Time;
  resolved_by: string | null;
  resolved_at: TimeOrNull;
  created_at: GeneratedTime;
}

export interface RememberedDecisionsTable {
  org_id: string;
  thread_id: string;
  tool: string;
  command: string;
  allow: boolean;
  created_at: GeneratedTime;
}

export interface CheckpointsTable {
  org_id: string;
  id: string;
  thread_id: string;
  run_id: string | null;
  source_id: string;
  kind: 'run' | 'edit' | 'recovery';
  base_commit_sha: string | null;
  created_at: GeneratedTime;
}

export interface WorkspaceRecordsTable {
  org_id: string;
  id: string;
  thread_id: string;
  run_id: string | null;
  from_status: WorkspaceStatus | null;
  to_status: WorkspaceStatus;
  reason: string;
  source_id: string | null;
  created_at: GeneratedTime;
}

export interface AppliesTable {
  org_id: string;
  id: string;
  project_id: string;
  thread_id: string;
  sequence: number;
  conflict_resolution: 'agent' | 'manual';
  repairs: GeneratedJson<Repair[]>;
  base_source_id: string | null;
  draft_source_id: string;
  head_source_id: string | null;
  result_source_id: string | null;
  expected_head_source_id: string | null;
  resolutions: GeneratedJson<{ path: string; take: 'head' | 'draft' }[]>;
  status: 'queued' | 'applied' | 'conflicted' | 'failed';
  conflicts: GeneratedJson<string[]>;
  error: string | null;
  cancel_requested_at: TimeOrNull;
  repair_deadline: TimeOrNull;
  created_by: string;
  created_at: GeneratedTime;
  finished_at: TimeOrNull;
  listed: boolean;
}

export interface RepairCandidatesTable {
  org_id: string;
  apply_id: string;
  run_id: string;
  manifest: Buffer;
  created_at: GeneratedTime;
}

export interface BuildsTable {
  org_id: string;
  id: string;
  project_id: string;
  thread_id: string | null;
  source_id: string;
  command: string;
  output_directory: string;
  timeout_seconds: number;
  status: 'queued' | 'building' | 'ready' | 'failed';
  exit_code: number | null;
  error_code: string | null;
  error_message: string | null;
  artifact_key: string | null;
  artifact_sha256: string | null;
  artifact_byte_size: number | null;
  file_count: number | null;
  output_byte_size: number | null;
  manifest: JsonOrNull<ManifestFile[]>;
  held: Generated<boolean>;
  logs_byte_size: Generated<number>;
  logs_truncated: Generated<boolean>;
  journal_offset: Generated<number>;
  cancel_requested_at: TimeOrNull;
  outcome: 'ready' | 'failed' | null;
  runner_id: string | null;
  created_by: string;
  created_at: GeneratedTime;
  started_at: TimeOrNull;
  finished_at: TimeOrNull;
  listed: boolean;
  setup: Generated<boolean>;
  layer_of: string | null;
}

export interface SetupsTable {
  org_id: string;
  id: string;
  project_id: string;
  key: string;
  command: string;
  paths: string[];
  timeout_seconds: number;
  runtime: string | null;
  source_id: string;
  status: 'queued' | 'running' | 'ready' | 'failed';
  exit_code: number | null;
  error_code: string | null;
  error_message: string | null;
  byte_size: number | null;
  layer_gone_at: TimeOrNull;
  held: Generated<boolean>;
  logs_byte_size: Generated<number>;
  logs_truncated: Generated<boolean>;
  journal_offset: Generated<number>;
  runner_id: string | null;
  created_at: GeneratedTime;
  started_at: TimeOrNull;
  finished_at: TimeOrNull;
}

export interface ExecsTable {
  org_id: string;
  id: string;
  project_id: string;
  thread_id: string;
  operation_id: string;
  request_id: string;
  command: string;
  stdin: string | null;
  timeout_seconds: number;
  status: 'queued' | 'running' | 'completed' | 'failed';
  created_at: GeneratedTime;
}

export interface PreviewsTable {
  org_id: string;
  id: string;
  project_id: string;
  thread_id: string | null;
  status: 'starting' | 'ready' | 'failed' | 'stopped';
  token: string;
  command: string;
  port: number;
  source_id: string | null;
  tried_source_ids: Generated<(string | null)[]>;
  follows_head: Generated<boolean>;
  error_code: string | null;
  error_message: string | null;
  created_by: string;
  created_at: GeneratedTime;
  expires_at: TimeOrNull;
  listed: boolean;
  setup: Generated<boolean>;
  starting_since: GeneratedTime;
  runner_id: string | null;
}

interface OutboxTable {
  id: Generated<number>;
  event_id: string;
  org_id: string;
  feed: 'platform' | 'direct';
  type: string;
  project_id: string | null;
  thread_id: string | null;
  run_id: string | null;
  data: Json<Record<string, unknown>>;
  occurred_at: GeneratedTime;
}

interface EventsTable {
  org_id: string;
  sequence: number;
  event_id: string;
  feed: string;
  type: string;
  project_id: string | null;
  thread_id: string | null;
  run_id: string | null;
  data: Json<Record<string, unknown>>;
  occurred_at: Time;
  published_at: Time;
}

interface LogStateTable {
  one: Generated<boolean>;
  last_sequence: Generated<number>;
  last_published_at: GeneratedTime;
  /** Raised by a restore. */
  generation: Generated<number>;
  /** What `server_timeline()` returned when the generation began; null: not known yet. */
  timeline: string | null;
}

interface WorkersTable {
  id: string;
  lock_key: Generated<number>;
  started_at: GeneratedTime;
  heartbeat_at: GeneratedTime;
}

/** What a runner reports of itself, with its host's memory; null is unknown. */
export interface RunnerReport {
  id: string;
  driver: string | null;
  /** Whether it can make sandboxes that meet the configuration. */
  ok: boolean;
  limits: { memory: string; processes: string; cpu: string };
  warnings: string[];
  sandboxes: number | null;
  memoryBytes: number | null;
  freeBytes: number | null;
  /** Connections that its egress proxy refused since its start. */
  egressRefused: number;
}

interface RunSnapshotsTable {
  org_id: string;
  run_id: string;
  delta: Buffer;
  pack_id: string | null;
  object_key: string | null;
  byte_size: number | null;
  pack_index: Buffer | null;
  created_at: GeneratedTime;
}

interface WorkspaceSizesTable {
  thread_id: string;
  runner_id: string;
  bytes: number;
  used_at: GeneratedTime;
}

interface RunnersTable {
  boot_id: string;
  name: string;
  address: string;
  pool: string;
  protocol: number[];
  capacity: number;
  reserved: Generated<number>;
  memory_bytes: number | null;
  free_bytes: number | null;
  is_ok: boolean;
  is_draining: boolean;
  state: Generated<'ready' | 'suspect' | 'lost' | 'gone'>;
  groups: Generated<string[]>;
  status: Json<RunnerStatus>;
  first_seen_at: GeneratedTime;
  last_seen_at: GeneratedTime;
}

interface RunnerPlacesTable {
  holder: string;
  boot_id: string;
  taken_at: GeneratedTime;
}

interface ProcessesTable {
  id: string;
  host: string;
  roles: string[];
  started_at: GeneratedTime;
  last_seen_at: GeneratedTime;
  sandbox_seen_at: TimeOrNull;
  runner: JsonOrNull<RunnerReport>;
}

interface JobsTable {
  id: Generated<number>;
  kind: string;
  key: string | null;
  fair_org: Generated<string>;
  fair_key: Generated<string>;
  waiting: Generated<boolean>;
  waits_for: string | null;
  payload: Json<Record<string, unknown>>;
  status: Generated<'queued' | 'active'>;
  run_at: GeneratedTime;
  attempt: Generated<number>;
  failures: Generated<number>;
  worker_id: string | null;
  left_by: string | null;
  last_error: string | null;
  claimed_at: TimeOrNull;
  created_at: GeneratedTime;
}

/** null, or absent: the organization's, then the service's default. */
export interface StoredSettings {
  idleTimeoutMinutes?: number | null;
  modelId?: string | null;
  spendLimitMicros?: number | null;
  budgetMicros?: number | null;
  approvals?: { tool: string; pattern?: string; decision: 'ask' | 'allow' | 'deny' }[] | null;
  egress?: { mode: 'none' | 'registries' | 'list'; hosts: string[] } | null;
  concurrency?: { runs: number | null; builds: number | null } | null;
  runtime?: string | null;
  setup?: { command: string | null; paths: string[]; timeoutSeconds?: number } | null;
  preview?: { frameAncestors: string[] } | null;
  pullRequests?: { draft: boolean | null } | null;
  instructions?: string | null;
  reviewLoop?: {
    enabled: boolean | null;
    autoMerge: boolean | null;
    maxPasses: number | null;
    mergeMethod: MergeMethod | null;
    instructions: string | null;
    reply: boolean | null;
  } | null;
}

/** One attempt of an agent at an apply's conflicts, as the API shows it. */
export interface Repair {
  runId: string;
  headSourceId: string;
  revision: number;
  startedAt: string;
  error: string | null;
  report: { status: 'resolved' | 'unresolved'; summary: string; checks: string[] } | null;
  candidateFingerprint?: string;
}

export interface SetupLogsTable {
  org_id: string;
  setup_id: string;
  journal_offset: number;
  content: string;
}

export interface BuildLogsTable {
  org_id: string;
  build_id: string;
  journal_offset: number;
  content: string;
}

export interface ManifestFile {
  path: string;
  byteSize: number;
  sha256: string;
  mode: '0644' | '0755';
}

/** Sums of the runs that began in an hour; `project_id` '' sums all projects. */
interface UsageHoursTable {
  org_id: string;
  hour: Time;
  project_id: string;
  model_id: string;
  runs: number;
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  cost_micros: number;
}

export interface InstallationsTable {
  org_id: string;
  id: string;
  provider: 'local' | 'github';
  name: string;
  account_login: string | null;
  base_url: string | null;
  auth: 'none' | 'token' | 'app';
  managed_by: 'service' | 'config' | 'api';
  credential_sealed: Buffer | null;
  webhook_secret_sealed: Buffer | null;
  error: JsonOrNull<{ code: 'access_denied' | 'unreachable'; message: string }>;
  webhook_received_at: TimeOrNull;
  synced_at: TimeOrNull;
  sync_due_at: TimeOrNull;
  deleted_at: TimeOrNull;
  created_at: GeneratedTime;
  updated_at: GeneratedTime;
}

export type MergeMethod = 'merge' | 'squash' | 'rebase';

export interface RepositoriesTable {
  org_id: string;
  id: string;
  installation_id: string;
  provider: 'local' | 'github';
  /** '' for the built-in provider. */
  base_url: Generated<string>;
  /** The provider's own id; the built-in one's is the row's. */
  external_id: string;
  full_name: string;
  name: string;
  private: Generated<boolean>;
  archived: Generated<boolean>;
  default_branch: string;
  url: string | null;
  clone_url: string | null;
  merge_methods: Generated<MergeMethod[]>;
  required_checks: Generated<string[]>;
  last_number: Generated<number>;
  gone_at: TimeOrNull;
  deleted_at: TimeOrNull;
  created_at: GeneratedTime;
  updated_at: GeneratedTime;
}

export interface CommitStatusesTable {
  org_id: string;
  id: string;
  repository_id: string;
  commit_sha: string;
  context: string;
  state: 'pending' | 'success' | 'failure' | 'error';
  description: string | null;
  target_url: string | null;
  log: string | null;
  created_by: string | null;
  created_at: GeneratedTime;
}

export type Mergeable = 'mergeable' | 'conflicting' | 'unknown';

export interface LocalPullRequestsTable {
  org_id: string;
  repository_id: string;
  number: number;
  title: string;
  body: Generated<string>;
  state: 'open' | 'closed' | 'merged';
  draft: Generated<boolean>;
  head_ref: string;
  head_sha: string;
  base_ref: string;
  base_sha: string | null;
  mergeable: Generated<Mergeable>;
  merge_commit_sha: string | null;
  merging_sha: string | null;
  author: string;
  operation_id: string | null;
  created_at: GeneratedTime;
  updated_at: GeneratedTime;
}

export interface LocalCommentsTable {
  org_id: string;
  id: string;
  repository_id: string;
  number: number;
  body: string;
  path: string | null;
  line: number | null;
  in_reply_to: string | null;
  resolved: Generated<boolean>;
  author: string;
  author_id: string | null;
  created_at: GeneratedTime;
}

interface ScmDeliveriesTable {
  installation_id: string;
  delivery_id: string;
  received_at: GeneratedTime;
}

export interface TasksTable {
  org_id: string;
  id: string;
  project_id: string;
  identifier: string;
  title: string;
  title_awaits_issue: Generated<boolean>;
  set_status: TaskStatus | null;
  tracker_issue_url: string | null;
  issue_key: string | null;
  last_thread_index: Generated<number>;
  created_by: string;
  created_at: GeneratedTime;
  updated_at: GeneratedTime;
}
export type TaskStatus = 'open' | 'in_progress' | 'in_review' | 'done' | 'cancelled';

export interface PullRequestsTable {
  org_id: string;
  id: string;
  project_id: string;
  thread_id: string;
  repository_id: string;
  number: number;
  url: string;
  repo_full_name: string;
  title: string;
  body: Generated<string>;
  state: 'open' | 'closed' | 'merged';
  draft: Generated<boolean>;
  head_ref: string;
  head_sha: string;
  base_ref: string;
  head_source_id: string | null;
  auto_push: Generated<boolean>;
  transferred_at: TimeOrNull;
  push_status: Generated<'current' | 'pending' | 'diverged' | 'failed'>;
  push_reason: string | null;
  push_conflicts: Generated<string[]>;
  push_error: JsonOrNull<{ code: string; message: string }>;
  push_attempts: Generated<number>;
  push_retry_at: TimeOrNull;
  push_take: 'branch' | 'thread' | null;
  pushing_sha: string | null;
  pushing_source_id: string | null;
  branch_update: JsonOrNull<BranchUpdate>;
  update_run_id: string | null;
  merge_parent_sha: string | null;
  named_source_id: string | null;
  merge_commit_sha: string | null;
  merged_at: TimeOrNull;
  scm_summary: JsonOrNull<ScmSummary>;
  scm_summary_updated_at: TimeOrNull;
  unknown_looks: Generated<number>;
  hints: Generated<number>;
  reviews_mark: Generated<string | null>;
  reviews_read_at: TimeOrNull;
  looked_at: TimeOrNull;
  next_look_at: TimeOrNull;
  version: Generated<number>;
  created_by: string;
  created_at: GeneratedTime;
  updated_at: GeneratedTime;
}

/** The last update of a pull request's branch from its base. Responses show its first four fields. */
export interface BranchUpdate {
  status: 'running' | 'done' | 'conflicted' | 'failed';
  baseSha: string | null;
  conflicts: string[];
  error: { code: string; message: string } | null;
  conflictResolution: 'agent' | 'manual';
  /** Its repair is the work of this user or account. */
  requestedBy: string;
  /** How often the provider was away for it. */
  attempts: number;
  /** The sources that its repair merges; null without one. */
  sides: { base: string; head: string; draft: string } | null;
}

/** What the provider said of a pull request at the last look. */
export interface ScmSummary {
  state: 'open' | 'closed' | 'merged';
  draft: boolean;
  mergeable: Mergeable;
  mergeQueued: boolean;
  checks: { total: number; succeeded: number; failing: number; running: number };
  checksAvailable: boolean;
  commentsAvailable: boolean;
  unresolvedCount: number;
}

export interface ReviewLoopsTable {
  org_id: string;
  id: string;
  pull_request_id: string;
  thread_id: string;
  enabled: boolean;
  auto_merge: Generated<boolean>;
  status:
    | 'disabled'
    | 'observing'
    | 'waiting_checks'
    | 'fixing'
    | 'finalizing'
    | 'ready'
    | 'blocked'
    | 'error';
  disabled_by: 'user' | 'system' | 'transferred' | null;
  head_sha: string | null;
  last_processed_head_sha: string | null;
  last_observed_at: TimeOrNull;
  wait_until: TimeOrNull;
  last_fix_run_id: string | null;
  last_error_code: string | null;
  last_error_message: string | null;
  blocked_reason: string | null;
  pass_count: Generated<number>;
  operational_retry_count: Generated<number>;
  enabled_at: GeneratedTime;
  status_since: GeneratedTime;
  head_seen_at: TimeOrNull;
  unknown_since: TimeOrNull;
  refused_summary: JsonOrNull<ScmSummary>;
  merging_sha: string | null;
  created_at: GeneratedTime;
  updated_at: GeneratedTime;
}

export interface ReviewPassesTable {
  org_id: string;
  id: string;
  loop_id: string;
  loop_enabled_at: Time;
  kind: 'message' | 'update';
  head_sha: string;
  message_id: string | null;
  run_id: string | null;
  lost_runs: Generated<number>;
  retry_at: TimeOrNull;
  settled_at: TimeOrNull;
  created_at: GeneratedTime;
}

export interface ReviewPointsTable {
  org_id: string;
  loop_id: string;
  pass_id: string;
  review_thread_id: string;
  comment_id: string;
  comment_at: Time;
  reply_sha: string | null;
  replied_at: TimeOrNull;
}

interface LogConsumersTable {
  name: ConsumerName;
  sequence: number;
  published_at: Time;
}

/** The readers of the log inside the service. */
export type ConsumerName = 'webhooks' | 'automations';

interface HostsTable {
  org_id: string;
  id: string;
  name: string;
  user_id: string;
  token_hash: Buffer | null;
  share: Generated<'owner' | 'organization'>;
  version: string | null;
  providers: Generated<string[]>;
  epoch: Generated<number>;
  process_id: string | null;
  /** Where that process passes calls on: a unix socket's path, or `host:port` over mTLS. */
  socket: string | null;
  last_seen_at: TimeOrNull;
  created_at: GeneratedTime;
  updated_at: GeneratedTime;
  deleted_at: TimeOrNull;
}

interface BindingsTable {
  org_id: string;
  host_id: string;
  id: string;
  name: string;
  workspace_modes: string[];
  is_git: boolean;
  branch: string | null;
  removed: Generated<boolean>;
}

interface WebhookSubscriptionsTable {
  org_id: string;
  id: string;
  project_id: string | null;
  url: string;
  types: string[];
  disabled_reason: 'user' | 'gone' | 'failures' | null;
  failing_since: TimeOrNull;
  failed_attempts: Generated<number>;
  secret_sealed: Buffer | null;
  former_secret_sealed: Buffer | null;
  former_secret_until: TimeOrNull;
  after_sequence: number;
  created_by: string;
  created_at: GeneratedTime;
  updated_at: GeneratedTime;
  deleted_at: TimeOrNull;
}

/** The outcome of a failed attempt of a delivery. */
export type AttemptError = 'timeout' | 'connection' | 'tls' | 'address_refused' | 'redirect' | 'status';

/** An attempt, as the delivery shows it. */
export interface DeliveryAttempt {
  at: string;
  durationMs: number;
  statusCode: number | null;
  error: AttemptError | null;
  /** The first 1,024 bytes of the response; null without one. */
  response: string | null;
}

/** An event as a delivery stores it: the envelope without the organization and the cursor. */
export interface DeliveredEvent {
  /** Null: a ping, which is on no feed. */
  sequence: number | null;
  projectId: string | null;
  threadId: string | null;
  runId: string | null;
  data: Record<string, unknown>;
  occurredAt: string;
  publishedAt: string;
}

interface WebhookDeliveriesTable {
  org_id: string;
  id: string;
  subscription_id: string;
  number: GeneratedAlways<number>;
  project_id: string | null;
  event_id: string;
  event_type: string;
  event: Json<DeliveredEvent>;
  status: Generated<'pending' | 'succeeded' | 'failed'>;
  attempt_count: Generated<number>;
  attempts: GeneratedJson<DeliveryAttempt[]>;
  next_attempt_at: TimeOrNull;
  error_code: 'exhausted' | 'gone' | 'platform_app_event' | 'expired' | 'overflow' | null;
  redelivery_of: string | null;
  created_at: GeneratedTime;
  finished_at: TimeOrNull;
}

/** An automation's trigger, as clients see it. */
export type AutomationTrigger =
  | { kind: 'schedule'; cron: string; timeZone: string }
  | { kind: 'event'; types: string[] }
  | {
      kind: 'webhook';
      source: HookSource;
      defaults?: { organizationSlug?: string; projectSlug?: string; projectId?: string };
    };

export type HookSource = 'generic' | 'error_tracker' | 'tracker';

/** A rule of a filter; all rules of an automation must match. */
export interface FilterRule {
  path: string;
  op: 'eq' | 'ne' | 'in' | 'contains' | 'exists';
  value?: unknown;
}

interface AutomationsTable {
  org_id: string;
  id: string;
  project_id: string;
  name: string;
  prompt: string;
  kind: AutomationTrigger['kind'];
  trigger: Json<AutomationTrigger>;
  filter: GeneratedJson<FilterRule[]>;
  model_id: string | null;
  base_branch: string | null;
  pull_request: 'none' | 'draft' | 'open';
  overlap: 'skip' | 'queue' | 'allow';
  catch_up: boolean;
  spend_limit_micros: number | null;
  monthly_limit_micros: number | null;
  disable_after_failures: number | null;
  disabled_reason: 'user' | 'failures' | null;
  consecutive_failures: Generated<number>;
  next_run_at: TimeOrNull;
  last_execution_at: TimeOrNull;
  secret_sealed: Buffer | null;
  former_secret_sealed: Buffer | null;
  former_secret_until: TimeOrNull;
  after_sequence: number;
  created_by: string;
  created_at: GeneratedTime;
  updated_at: GeneratedTime;
  deleted_at: TimeOrNull;
  purged_at: TimeOrNull;
}

/** The event that started an execution, as templates read it. */
export interface TriggerEvent {
  type: string;
  data: Record<string, unknown>;
  threadId: string | null;
  runId: string | null;
}

/** The issue found in a hook's payload. */
export interface MappedIssue {
  errorTrackerIssue?: Record<string, unknown>;
  trackerIssueUrl?: string;
}

export interface ExecutionsTable {
  org_id: string;
  id: string;
  automation_id: string;
  project_id: string;
  kind: AutomationTrigger['kind'] | 'manual';
  scheduled_for: TimeOrNull;
  event_id: string | null;
  event_type: string | null;
  delivery_id: string | null;
  status: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled' | 'skipped';
  skipped_reason: 'overlap' | 'queue_full' | 'limit' | 'rate' | 'loop' | null;
  overlap_key: string;
  depth: number;
  payload: JsonOrNull<Record<string, unknown>>;
  event: JsonOrNull<TriggerEvent>;
  mapped: JsonOrNull<MappedIssue>;
  thread_id: string | null;
  run_id: string | null;
  pull_request_id: string | null;
  opening: JsonOrNull<Record<string, unknown>>;
  error_code: string | null;
  error_message: string | null;
  created_at: GeneratedTime;
  started_at: TimeOrNull;
  finished_at: TimeOrNull;
}

interface HookDeliveriesTable {
  automation_id: string;
  delivery_id: string;
  execution_id: string | null;
  skipped: 'filtered' | 'disabled' | 'unmapped' | null;
  created_at: GeneratedTime;
}

export interface Database {
  installations: InstallationsTable;
  repositories: RepositoriesTable;
  commit_statuses: CommitStatusesTable;
  local_pull_requests: LocalPullRequestsTable;
  local_comments: LocalCommentsTable;
  scm_deliveries: ScmDeliveriesTable;
  pull_requests: PullRequestsTable;
  tasks: TasksTable;
  review_loops: ReviewLoopsTable;
  review_passes: ReviewPassesTable;
  review_points: ReviewPointsTable;
  usage_hours: UsageHoursTable;
  organizations: OrganizationsTable;
  users: UsersTable;
  members: MembersTable;
  invitations: InvitationsTable;
  sessions: SessionsTable;
  sign_in_failures: SignInFailuresTable;
  sign_in_networks: SignInNetworksTable;
  service_accounts: ServiceAccountsTable;
  credentials: CredentialsTable;
  audit_entries: AuditEntriesTable;
  model_keys: ModelKeysTable;
  spending: SpendingTable;
  model_calls: ModelCallsTable;
  mcp_servers: McpServersTable;
  variables: VariablesTable;
  skills: SkillsTable;
  operations: OperationsTable;
  projects: ProjectsTable;
  head_history: HeadHistoryTable;
  sources: SourcesTable;
  packs: PacksTable;
  blobs: BlobsTable;
  objects: ObjectsTable;
  threads: ThreadsTable;
  messages: MessagesTable;
  inherited_messages: InheritedMessagesTable;
  runs: RunsTable;
  tools: ToolsTable;
  approvals: ApprovalsTable;
  remembered_decisions: RememberedDecisionsTable;
  checkpoints: CheckpointsTable;
  workspace_records: WorkspaceRecordsTable;
  applies: AppliesTable;
  repair_candidates: RepairCandidatesTable;
  builds: BuildsTable;
  build_logs: BuildLogsTable;
  setups: SetupsTable;
  setup_logs: SetupLogsTable;
  execs: ExecsTable;
  previews: PreviewsTable;
  outbox: OutboxTable;
  events: EventsTable;
  log_state: LogStateTable;
  workers: WorkersTable;
  processes: ProcessesTable;
  runners: RunnersTable;
  runner_places: RunnerPlacesTable;
  run_snapshots: RunSnapshotsTable;
  workspace_sizes: WorkspaceSizesTable;
  jobs: JobsTable;
  log_consumers: LogConsumersTable;
  hosts: HostsTable;
  bindings: BindingsTable;
  webhook_subscriptions: WebhookSubscriptionsTable;
  webhook_deliveries: WebhookDeliveriesTable;
  automations: AutomationsTable;
  executions: ExecutionsTable;
  hook_deliveries: HookDeliveriesTable;
}

export type OrganizationRow = Selectable<OrganizationsTable>;
export type UserRow = Selectable<UsersTable>;
export type MemberRow = Selectable<MembersTable>;
export type InvitationRow = Selectable<InvitationsTable>;
export type SessionRow = Selectable<SessionsTable>;
export type ServiceAccountRow = Selectable<ServiceAccountsTable>;
export type CredentialRow = Selectable<CredentialsTable>;
export type ModelKeyRow = Selectable<ModelKeysTable>;
export type ModelCallRow = Selectable<ModelCallsTable>;
export type McpServerRow = Selectable<McpServersTable>;
export type VariableRow = Selectable<VariablesTable>;
export type SkillRow = Selectable<SkillsTable>;
export type OperationRow = Selectable<OperationsTable>;
export type ProjectRow = Selectable<ProjectsTable>;
export type SourceRow = Selectable<SourcesTable>;
export type PackRow = Selectable<PacksTable>;
export type ThreadRow = Selectable<ThreadsTable>;
export type MessageRow = Selectable<MessagesTable>;
export type InstallationRow = Selectable<InstallationsTable>;
export type RepositoryRow = Selectable<RepositoriesTable>;
export type CommitStatusRow = Selectable<CommitStatusesTable>;
export type LocalPullRequestRow = Selectable<LocalPullRequestsTable>;
export type LocalCommentRow = Selectable<LocalCommentsTable>;
export type PullRequestRow = Selectable<PullRequestsTable>;
export type TaskRow = Selectable<TasksTable>;
export type ReviewLoopRow = Selectable<ReviewLoopsTable>;
export type ReviewPassRow = Selectable<ReviewPassesTable>;
export type ReviewPointRow = Selectable<ReviewPointsTable>;
export type RunRow = Selectable<RunsTable>;
export type ToolRow = Selectable<ToolsTable>;
export type ApprovalRow = Selectable<ApprovalsTable>;
export type CheckpointRow = Selectable<CheckpointsTable>;
export type ApplyRow = Selectable<AppliesTable>;
export type BuildRow = Selectable<BuildsTable>;
export type SetupRow = Selectable<SetupsTable>;
export type ExecRow = Selectable<ExecsTable>;
export type PreviewRow = Selectable<PreviewsTable>;
export type EventRow = Selectable<EventsTable>;
export type JobRow = Selectable<JobsTable>;
export type RunnerRow = Selectable<RunnersTable>;
export type HostRow = Selectable<HostsTable>;
export type BindingRow = Selectable<BindingsTable>;
export type WebhookSubscriptionRow = Selectable<WebhookSubscriptionsTable>;
export type WebhookDeliveryRow = Selectable<WebhookDeliveriesTable>;
export type AutomationRow = Selectable<AutomationsTable>;
export type ExecutionRow = Selectable<ExecutionsTable>;
export type HookDeliveryRow = Selectable<HookDeliveriesTable>;
