/**
 * The service's answers; openapi.json documents every field. Times are ISO 8601, money is micro-units of USD.
 */
export interface App {
  id: string;
  projectId: string;
  orgId: string;
  name: string;
  externalId: string | null;
  metadata: Record<string, string>;
  headSourceId: string | null;
  headRevision: number | null;
  version: number;
  createdAt: string;
  updatedAt: string;
  deletedAt: string | null;
}

export interface Head {
  projectId: string;
  sourceId: string;
  revision: number;
  updatedAt: string;
}

export interface FileInput {
  path: string;
  content: string;
  encoding?: 'utf8' | 'base64';
  executable?: boolean;
}

export interface Source {
  id: string;
  projectId: string;
  threadId: string | null;
  runId: string | null;
  parentSourceIds: string[];
  origin: 'import' | 'edit' | 'run' | 'restore' | 'apply' | 'recovery';
  sha256: string;
  byteSize: number;
  fileCount: number;
  message: string | null;
  createdAt: string;
}

/** Something that an import or a run left out. */
export interface Warning {
  path: string;
  reason: string;
}

export interface SourceFile {
  path: string;
  byteSize: number;
  sha256: string;
  executable: boolean;
}

export interface SourceFileContent extends SourceFile {
  encoding: 'utf8' | 'base64';
  content: string;
}

export interface DiffFile {
  path: string;
  oldPath?: string;
  status: 'added' | 'modified' | 'deleted' | 'renamed' | 'mode';
  binary: boolean;
  additions: number;
  deletions: number;
  patch?: string;
  truncated?: boolean;
}

export interface Diff {
  baseSourceId: string;
  sourceId: string;
  files: DiffFile[];
}

export interface Thread {
  id: string;
  projectId: string;
  sourceId: string | null;
  latestSourceId: string | null;
  modelId: string | null;
  title: string | null;
  status: 'queued' | 'running' | 'waiting' | 'blocked' | 'ready' | 'failed' | 'archived';
  archivedAt: string | null;
  sealedAt: string | null;
  waitingOn: string[];
  blockedOn: string[];
  spendLimitMicros: number | null;
  version: number;
  titleVersion: number;
  archiveVersion: number;
  workspaceStatus: 'preparing' | 'cancelled' | 'ready' | 'archived' | 'cleanup_pending' | 'error' | null;
  latestRunId: string | null;
  runStatus: RunStatus | null;
  metadata: Record<string, string>;
  createdAt: string;
  updatedAt: string;
}

export interface Message {
  id: string;
  threadId: string;
  role: 'user' | 'assistant' | 'system';
  content: string;
  runId: string | null;
  sequence: number;
  clientMessageId: string | null;
  createdAt: string;
}

export type RunStatus = 'queued' | 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled';

export interface Run {
  id: string;
  threadId: string;
  messageId: string | null;
  kind: 'message' | 'restore' | 'repair' | 'retry';
  agent: string;
  modelId: string;
  status: RunStatus;
  baseSourceId: string | null;
  resultSourceId: string | null;
  error: { code: string; message: string } | null;
  usage: { inputTokens: number; outputTokens: number; cachedTokens: number; costMicros: number };
  warnings: Warning[];
  activeDurationMs: number;
  createdAt: string;
  startedAt: string | null;
  finishedAt: string | null;
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
  startedAt: string | null;
  finishedAt: string | null;
}

export interface Change {
  path: string;
  /** null deletes the file. */
  content?: string | null;
  encoding?: 'utf8' | 'base64';
  executable?: boolean;
  renameFrom?: string;
}

export interface Resolution {
  path: string;
  take: 'head' | 'draft';
}

export interface ApplyDecision {
  expectedSourceId: string;
  conflictResolution?: 'agent' | 'manual';
  expectedHeadSourceId?: string;
  resolutions?: Resolution[];
}

export interface Apply {
  id: string;
  sequence: number;
  conflictResolution: 'agent' | 'manual';
  orgId: string;
  projectId: string;
  threadId: string;
  baseSourceId: string | null;
  draftSourceId: string;
  headSourceId: string | null;
  resultSourceId: string | null;
  expectedHeadSourceId: string | null;
  resolutions: Resolution[];
  status: 'queued' | 'applied' | 'conflicted' | 'failed';
  conflicts: string[];
  error: string | null;
  repairs: {
    runId: string | null;
    headSourceId: string | null;
    revision: number | null;
    startedAt: string | null;
    error: string | null;
    report: { status: 'resolved' | 'unresolved'; summary: string; checks: string[] } | null;
    candidateFingerprint?: string;
  }[];
  createdByUserId: string | null;
  createdAt: string;
  finishedAt: string | null;
}

export interface Conflict {
  path: string;
  kind: 'content' | 'add_add' | 'delete_modify' | 'rename' | 'mode' | 'binary' | 'path';
  base: string | null;
  head: string | null;
  draft: string | null;
  hunks?: {
    baseStart: number;
    headStart: number;
    draftStart: number;
    base: string[];
    head: string[];
    draft: string[];
  }[];
}

export interface ApplyPreview {
  headSourceId: string;
  status: 'clean' | 'conflicted';
  changes: DiffFile[];
  conflicts: Conflict[];
}

export interface BuildInput {
  sourceId?: string;
  command: string;
  outputDirectory: string;
  timeoutSeconds?: number;
}

export interface Build {
  id: string;
  projectId: string;
  threadId: string;
  sourceId: string;
  command: string;
  outputDirectory: string;
  timeoutSeconds: number;
  status: 'queued' | 'building' | 'ready' | 'failed';
  exitCode: number | null;
  error: { code: string; message: string } | null;
  artifactSha256: string | null;
  artifactByteSize: number | null;
  fileCount: number | null;
  createdAt: string;
  startedAt: string | null;
  finishedAt: string | null;
}

export interface Manifest {
  buildId: string;
  sourceId: string;
  artifactSha256: string;
  fileCount: number;
  byteSize: number;
  files: { path: string; byteSize: number; sha256: string; mode: '0644' | '0755' }[];
}

export interface Logs {
  text: string;
  byteSize: number;
  truncated: boolean;
}

export interface Exec {
  exitCode: number | null;
  signal: string | null;
  timedOut: boolean;
  stdout: string;
  stderr: string;
  truncated: boolean;
  durationMs: number;
  sourceId: string | null;
}

export interface Preview {
  id: string;
  projectId: string;
  threadId: string;
  status: 'starting' | 'ready' | 'failed' | 'stopped';
  url: string | null;
  command: string;
  port: number;
  error: { code: string; message: string } | null;
  createdAt: string;
  expiresAt: string | null;
}

export interface HeadraceEvent {
  /** Deduplicate by this id. */
  id: string;
  type: string;
  sequence: string;
  orgId: string;
  appId: string;
  projectId: string;
  threadId: string | null;
  runId: string | null;
  /** Identities and public status only: read the resource for more. */
  data: Record<string, unknown>;
  occurredAt: string;
  publishedAt: string;
  /** Resume after this event. */
  cursor: string;
}

export interface Page<T> {
  items: T[];
  nextCursor: string | null;
  hasMore: boolean;
}
