/**
 * What the runner and a worker say to each other: HTTP/1.1 over the runner's unix socket, JSON bodies
 * unless a line says tar or NDJSON. The runner holds no database and no keys. Everything that comes back
 * through here was touched by strangers' code: the worker validates it again.
 *
 *   GET    /status                                → RunnerStatus
 *   PUT    /workspaces/:id            tar         → 204           makes or replaces the workspace; the tar holds regular files only
 *          …?keep=KEY&group=GROUP                                 and keeps its files under that key, where `restore` is `overlay`; the group is the project
 *          …?base=KEY                 (tar)       → 204           from kept files, with a patch as for POST …/patch or without; 404 `not_cached` when they are not kept
 *          …&warm=GROUP&lock=SHA256                               with either, where `restore` is `overlay`: with the dependency folder that another workspace of that project
 *                                                                 installed by a lock file of this SHA-256;
 *                                                                 `lock` may be repeated
 *   DELETE /groups/:id                            → 204           gives up what is kept for that project and not in use: files and installed dependencies
 *   GET    /groups                                → { groups: string[] }   projects of which anything is kept
 *   GET    /sources?group=GROUP                   → { keys: string[] }   kept files of that project, the last used first
 *   GET    /workspaces/:id                        → { exists: boolean, base: string | null }   `base`: the key of the kept files that it lies over
 *   DELETE /workspaces/:id                        → 204           idempotent; resolves once nothing of it is live
 *   POST   /workspaces/:id/capture    CaptureRequest | OverRequest → CaptureResult   freezes nothing: refused (409 `busy`) while a task of the workspace is live
 *   POST   /workspaces/:id/blobs      { paths }   → tar           the contents that the last capture hashed; a path that changed since is 409 `changed`
 *   POST   /workspaces/:id/patch      tar         → 204           entry `.headrace-patch.json` first: { delete: string[] }; then the files to write
 *   POST   /tasks/:id                 TaskRequest → 201 | 200     200 when the task is there already (same id = same task, never started twice); build and preview: 410 once it was removed, also before it came
 *   GET    /tasks                                 → { tasks: TaskState[] }
 *   GET    /tasks/:id                             → TaskState     404 when unknown
 *   GET    /tasks/:id/journal?from=N              → NDJSON of JournalEntry, kept open until the `end` entry was sent; 404 when unknown
 *   POST   /tasks/:id/ack             { offset }  → 204           entries up to and including offset may be forgotten
 *   POST   /tasks/:id/cancel                      → 204           kills the whole process tree; the journal then ends `cancelled`
 *   POST   /tasks/:id/permissions/:requestId  { allow: boolean } → 204
 *   POST   /tasks/:id/steer           SteerRequest → 204          hands a message to a turn that is under way; an id is handed over once; 409 `not_steerable`; 504 `no_answer`: ask again
 *   PUT    /tasks/:id/source          tar         → 204           build and preview: the files, with ?keep= or ?base= as for a workspace; preview: later, a patch
 *   GET    /tasks/:id/output                      → tar           build: `outputDirectory` after the end, read from a fresh read-only sandbox
 *   DELETE /tasks/:id                             → 204           idempotent; resolves once its sandbox is gone and its files are removed; 500 when not confirmed
 *   PUT    /gateways/:id              { socketPath } → 204        a worker serves the model gateway there; repeated as a sign of life
 *   GET    /tasks/:id/connect         Upgrade: tcp → 101          preview: a raw byte pipe to the port inside the sandbox; 502 when nothing listens
 *
 * The model gateway: a turn with `gateway` finds an HTTP server at GATEWAY_URL inside its sandbox. Each
 * connection to it is joined to a worker's socket, with one line before the agent's own bytes: `task
 * <id>\n`. So the worker knows which task is calling, whatever the call says. While no worker is there,
 * connections wait, for a minute at most; a task has 64 at once. The built-in model agent gets no HTTP port
 * but the unix socket itself, whose path HEADRACE_GATEWAY_SOCKET tells.
 *
 * An agent's HOME and its sessions last as long as its workspace: a turn goes on with the session of the
 * one before where the agent can load it, and gets `history` where it cannot. PUT /workspaces/:id begins
 * anew. Every agent but `scripted` finds a git repository in the workspace, whose one commit is the source
 * as its first turn found it; no capture has it.
 *
 * Installed dependencies: when a task has ended by itself, a `node_modules` that an installer finished by
 * the lock file beside it becomes a layer below the workspace, and below later ones of the same project
 * with that lock file; each writes beside it. Nothing of it where `restore` is `copy`, nor in builds and
 * previews.
 *
 * Fences: a worker that was taken for dead may wake and take itself for the holder of a workspace. With
 * `Headrace-Fence: N` to PUT, DELETE and patch of a workspace, and to POST and DELETE of a task in one, a
 * request is refused (409 `superseded`) where a higher number was seen for that workspace, also one that is
 * gone meanwhile.
 *
 * Errors: { error: { code, message } } with 4xx/5xx. Ids are the worker's own (`thr_…`, `run_…`, `bld_…`,
 * `prv_…`, `op_…`).
 */

export interface RunnerStatus {
  id: string;
  pid: number;
  driver: 'bubblewrap' | 'container' | null;
  /**
   * What it was started with, and keeps to for its life, which may be longer than that of the service that
   * started it.
   */
  asked?: {
    driver: 'auto' | 'bubblewrap' | 'container';
    socket: string | null;
    image: string | null;
    runtime: string | null;
  };
  /** False when no driver can isolate here: nothing will run. */
  ok: boolean;
  /** What is missing, each with its remedy, for a person. */
  missing: string[];
  /** How a known source is restored: mounted or unpacked. Absent until it was tried. */
  restore?: 'overlay' | 'copy' | undefined;
  /**
   * What bounds a sandbox here. The size of one file is always an rlimit's, that of the whole workspace
   * always the watchdog's.
   */
  limits: {
    memory: 'cgroup' | 'watchdog';
    processes: 'cgroup' | 'rlimit' | 'watchdog';
    cpu: 'cgroup' | 'none';
    warnings: string[];
  };
  /** Connections that sandboxes asked the egress proxy for, since the runner's start. */
  egress?: { allowed: number; refused: number };
  /**
   * Bytes that this machine (or the runner's control group) has, and that are free now; sandboxes that
   * live. Absent: not measured.
   */
  load?: { memoryBytes: number; freeBytes: number; sandboxes: number };
}

/** What a worker calls a tree, and the project that it is of, which alone is told of it. */
export interface TreeKey {
  key: string;
  group: string;
}

/**
 * `keep`: the tar, which has all files, is kept as a source tree under this key. `base`: the workspace lies
 * over the kept one of this key, and the tar, if any, is a patch. `warm`: it takes part in the project's
 * installed dependencies; `locks`: SHA-256 of the lock files at its top.
 */
export interface Origin {
  keep?: TreeKey | undefined;
  base?: string | undefined;
  warm?: { group: string; locks: string[] } | undefined;
}

export interface CaptureRequest {
  /**
   * Paths of the source that the workspace was restored from (base of the run). Kept wherever they still
   * exist as regular files.
   */
  basePaths: string[];
}

/**
 * For a workspace that lies over kept files: the paths of its source are theirs, without those removed and
 * with those added.
 */
export interface OverRequest {
  /** The key of the kept files; 409 `changed` when it lies over others. */
  over: string;
  added: string[];
  removed: string[];
}

export interface CaptureResult {
  /** All files of the source; to an OverRequest those that are not exactly files of the kept source. */
  files: CapturedFile[];
  /**
   * To an OverRequest: files of the kept source that were moved, and the paths of it where the file is not
   * what it was there.
   */
  over?: { moved: { path: string; from: string }[]; missing: string[] };
  /**
   * What was left out: symlinks, special files, new files under dependency or reserved folders; at most
   * 1,000.
   */
  warnings: { path: string; reason: string }[];
}

export interface CapturedFile {
  path: string;
  byteSize: number;
  sha256: string;
  executable: boolean;
}

export interface SandboxLimits {
  memoryBytes: number;
  processes: number;
  /** Bytes that one file and the whole writable tree may take. */
  diskBytes: number;
}

export interface TaskRequestBase {
  /** Bounds the whole task; at the end of it the tree is killed and the end entry has `timedOut`. */
  timeoutMs: number;
  limits?: Partial<SandboxLimits>;
  /**
   * Host names that its sandbox may reach over TLS by way of the egress proxy (`example.com`,
   * `*.example.com`); absent or empty: no network.
   */
  egress?: string[];
}

/** An agent that speaks ACP on its stdio. */
export interface TurnAgent {
  /** Names its folder and its sessions in the workspace. */
  name: string;
  /** The command inside the sandbox; null: the built-in agent of that name. */
  command: string[] | null;
  /**
   * Folder of the runner's host, mounted read-only at AGENTS_FOLDER/<name>; its node_modules/.bin comes
   * first in PATH.
   */
  folder: string | null;
  env: Record<string, string>;
  /** Files written into its HOME before it starts: relative path → content. */
  home: Record<string, string>;
  /** The ACP session mode that is set; null: the agent's own. */
  mode: string | null;
  /** The command that installs it, told when it is not there. */
  install: string | null;
}

export interface Attachment {
  mediaType: string;
  /** Base64. */
  data: string;
}

/** A message for a turn under way. */
export interface SteerRequest {
  id: string;
  prompt: string;
  attachments?: Attachment[];
}

/** As ACP takes them. An http server's url is one of the gateway's. */
export type TurnMcpServer =
  | { transport: 'http'; name: string; url: string; headers: Record<string, string> }
  | { transport: 'stdio'; name: string; command: string[]; env: Record<string, string> };

/** One turn of an ACP agent in a workspace. */
export interface TurnRequest extends TaskRequestBase {
  kind: 'turn';
  workspaceId: string;
  agent: TurnAgent;
  prompt: string;
  attachments?: Attachment[];
  /** What was said before, oldest first, for an agent that has no session to go on with. */
  history?: { role: 'user' | 'assistant'; content: string }[];
  mcpServers?: TurnMcpServer[];
  /** Whether the sandbox gets the model gateway. */
  gateway?: boolean;
  /**
   * Further files that the agent finds in the workspace before it starts, e.g. `.hoplite/repair/…`; never
   * captured.
   */
  evidence?: { path: string; content: string; encoding: 'utf8' | 'base64' }[];
  /** `ask`: each tool call waits for POST …/permissions; the worker decides by policy. */
  permissions: 'ask' | 'allow';
}

/** A command in a workspace. */
export interface ExecRequest extends TaskRequestBase {
  kind: 'exec';
  workspaceId: string;
  command: string;
  stdin?: string;
}

/**
 * A command in a scratch sandbox that holds exactly the source sent by PUT …/source; starts when the source
 * is there.
 */
export interface BuildRequest extends TaskRequestBase {
  kind: 'build';
  command: string;
  outputDirectory: string;
}

/** A server in a sandbox of its own; starts when the source is there and lives until it is deleted. */
export interface PreviewRequest extends TaskRequestBase {
  kind: 'preview';
  command: string;
  port: number;
}

export type TaskRequest = TurnRequest | ExecRequest | BuildRequest | PreviewRequest;

export interface TaskState {
  id: string;
  kind: TaskRequest['kind'];
  workspaceId: string | null;
  status: 'preparing' | 'running' | 'ended';
  /** Offset of the newest journal entry, -1 when there is none. */
  lastOffset: number;
}

export type JournalEntry = { offset: number; at: string } & (
  | { type: 'started' }
  /** turn: the agent has its session and is about to get the message. */
  | { type: 'ready'; steerable: boolean }
  /** turn: the agent took a message of POST …/steer. */
  | { type: 'steered'; id: string }
  /** The agent's reply so far, whole, replacing the one before. */
  | { type: 'text'; content: string }
  | {
      type: 'tool';
      toolCallId: string;
      name: string;
      title: string;
      status: 'pending' | 'running' | 'completed' | 'failed' | 'cancelled';
      input: unknown;
      output: string | null;
      truncated: boolean;
    }
  /**
   * `name`, `input`: of the call as it is asked about; a runner that went on from an older version leaves
   * them out.
   */
  | {
      type: 'permission';
      requestId: string;
      toolCallId: string;
      name?: string;
      title: string;
      input?: unknown;
    }
  /** exec, build, preview: what the command printed, in order of arrival, at most 64 KiB an entry. */
  | { type: 'output'; stream: 'stdout' | 'stderr'; text: string }
  /** The egress proxy refused a connection; at most 100 a task. */
  | { type: 'refused'; host: string; port: number; reason: string }
  /** preview: something listens on the port. */
  | { type: 'listening' }
  | TaskEnd
);

export interface TaskEnd {
  type: 'end';
  /** `completed`: the turn ended, or the command exited (whatever its code). `failed`: see error. */
  outcome: 'completed' | 'failed' | 'cancelled';
  exitCode: number | null;
  signal: string | null;
  timedOut: boolean;
  oom: boolean;
  /**
   * turn: `script_failed`, `agent_error`, `not_configured` (its command is not there); any: `sandbox_lost`.
   */
  error: {
    code: 'script_failed' | 'agent_error' | 'not_configured' | 'sandbox_lost';
    message: string;
  } | null;
  durationMs: number;
}

/** Where agents' folders are inside a sandbox, and where the model gateway answers. */
export const AGENTS_FOLDER = '/opt/headrace/agents';
export const GATEWAY_PORT = 4401;
export const GATEWAY_URL = `http://127.0.0.1:${GATEWAY_PORT}`;
/** Where a sandbox with egress finds its HTTP proxy, which takes CONNECT only. */
export const EGRESS_PORT = 4402;

export const FENCE_HEADER = 'headrace-fence';

/** Output of a tool call is cut here, output of exec per stream at 1 MiB by the worker. */
export const TOOL_OUTPUT_BYTES = 64 * 1024;
