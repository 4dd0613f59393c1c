/**
 * The protocol between a worker and the runner: HTTP/1.1 over the runner's unix socket, or over mTLS where the
 * runner is on a node (registration.ts), with JSON bodies unless a line says tar or NDJSON. The runner holds no database and no keys. Strangers' code may have
 * touched everything that the runner answers, so the worker validates it again.
 *
 *   GET    /status                                    → RunnerStatus
 *   GET    /metrics                                   → Prometheus' text format
 *   PUT    /workspaces/:id?ORIGIN     tar             → 204  makes or replaces the workspace
 *   PUT    /histories/:key?group=GROUP  tar           → 204  keeps a `.git` for workspaces of that project
 *   PUT    /contexts/:key?group=GROUP  tar            → 204  keeps a folder for turns of that project, which
 *                                                     they see read-only at CONTEXT_FOLDER
 *   GET    /workspaces                                → { workspaces: WorkspaceSize[] }
 *   GET    /workspaces/:id                            → WorkspaceState
 *   DELETE /workspaces/:id                            → 204  idempotent; resolves once nothing of it lives
 *   POST   /workspaces/:id/capture    CaptureRequest | OverRequest → CaptureResult
 *                                                     409 `busy` while a task of the workspace lives, unless
 *                                                     it is paused: then 409 `changed` where it went on
 *                                                     meanwhile
 *   POST   /workspaces/:id/blobs      BlobsRequest    → tar  the contents that the last capture hashed;
 *                                                     409 `changed` for a path that changed since
 *   POST   /workspaces/:id/patch      tar             → 204  the first entry is `.headrace-patch.json`,
 *                                                     { delete: string[], deleteBytes?: string[] } (one
 *                                                     character per byte); the files to write follow. `links`
 *                                                     (path → target): all links that there are then
 *   GET    /sources?group=GROUP                       → { keys: string[] }  kept files of that project, the
 *                                                     most recently used first
 *   GET    /layers?group=GROUP                        → { keys: string[] }  kept layers of that project, the
 *                                                     most recently used first
 *   GET    /groups                                    → { groups: string[] }  projects with anything kept
 *   DELETE /groups/:id                                → 204  drops what is kept for that project and unused:
 *                                                     files, histories and layers
 *   POST   /tasks/:id                 TaskRequest     → 201, or 200 when the task exists: an id never starts
 *                                                     twice; 410 for a build, preview or setup that was
 *                                                     removed, even if the removal arrived first; 404
 *                                                     `no_context` for a turn whose `context` is not kept
 *   GET    /tasks                                     → { tasks: TaskState[] }
 *   GET    /tasks/:id                                 → TaskState
 *   GET    /tasks/:id/journal?from=N&only=draft       → NDJSON of JournalEntry; stays open until the `end`
 *                                                     entry is sent. `only=draft`: `text`, cut to what is shown
 *                                                     of it, and `end`; a runner of an older version sends all
 *   POST   /tasks/:id/ack             AckRequest      → 204  entries up to and including the offset may be
 *                                                     forgotten
 *   POST   /tasks/:id/cancel                          → 204  kills the whole process tree; the journal ends
 *                                                     `cancelled`
 *   POST   /tasks/:id/pause                           → 204  holds the sandbox of a running turn still, for 10 s
 *                                                     at most; 409 `busy`, 503 `not_paused`
 *   POST   /tasks/:id/resume                          → 204  the turn goes on; idempotent
 *   POST   /tasks/:id/permissions/:requestId  PermissionAnswer → 204
 *   POST   /tasks/:id/steer           SteerRequest    → 204  hands a message to a running turn, once per id;
 *                                                     409 `not_steerable`; 504 `no_answer`: ask again
 *   PUT    /tasks/:id/source?ORIGIN   tar             → 204  build and preview: the files; to a preview that
 *                                                     has them, a patch, or 409 with ORIGIN's keys. setup:
 *                                                     the named files, no ORIGIN
 *   GET    /tasks/:id/output                          → tar  build: `outputDirectory` after the end, read
 *                                                     from a fresh read-only sandbox
 *   DELETE /tasks/:id                                 → 204  idempotent; resolves once its sandbox and its
 *                                                     files are gone; 500 when that is not confirmed. The
 *                                                     layer of a setup stays
 *   GET    /tasks/:id/connect         Upgrade: tcp    → 101  preview: a raw byte pipe to the port inside the
 *                                                     sandbox; 502 when nothing listens, 429
 *                                                     `too_many_visitors`
 *   PUT    /gateways/:id              GatewayRequest  → 204  a worker serves the model gateway there;
 *                                                     repeated as a sign of life
 *
 * ORIGIN: where the files come from. The tar holds regular files and symbolic links; links that are as they
 * came are no part of a capture and no warning.
 *   keep=KEY&group=GROUP     keeps the files under that key for that project, where `restore` is `overlay`
 *   base=KEY                 lies over the files kept under that key, with a patch as the tar or without a
 *                            body; 404 `not_cached` when they are not kept
 *   layer=KEY                with or without them: the files lie over that layer; 404 `no_layer`, before all
 *                            else, when it is not kept
 *   history=KEY              with any of them, workspaces only: with the `.git` kept under that key; 404
 *                            `no_history` when it is not kept
 *
 * The model gateway: a turn with `gateway` finds an HTTP server at GATEWAY_URL inside its sandbox. The
 * runner joins each connection to a worker's socket and writes one line before the agent's own bytes:
 * `task <id>\n`. So the worker knows which task is calling, whatever the call says. Connections wait up to
 * a minute for a worker; a task has at most 64 at once. The built-in model agent gets no HTTP port but the
 * unix socket itself, at the path in HEADRACE_GATEWAY_SOCKET.
 *
 * An agent's HOME and its sessions last as long as its workspace: a turn resumes the previous session where
 * the agent can load it, and gets `history` where it cannot. PUT /workspaces/:id starts over. Every agent
 * but `scripted` finds a git repository in the workspace, whose one commit is the source as the agent's
 * first turn found it, unless the workspace has a history; captures leave it out.
 *
 * Layers: a `setup` runs its command in a sandbox that holds the sent files alone. If it exits with 0, what
 * then lies beside these files becomes the layer: regular files, folders, and links that stay inside. It is kept
 * for the project under the task's id, until its room is needed or DELETE /groups; the end entry then has
 * `layer`. A layer is never written: each workspace, build and preview has changes of its own above it. A file
 * of the source wins over what the layer has at, above or below its path; where a patch deletes a path, the
 * layer's shows. Captures leave out what is as the layer has it.
 *
 * Fences: a worker that was taken for dead may wake up and believe that it still holds a workspace.
 * `Headrace-Fence: N` may accompany PUT, DELETE and patch of a workspace, and POST and DELETE of a task in
 * one. The request is refused with 409 `superseded` once a higher number was seen for that workspace, even
 * if the workspace is gone.
 *
 * Versions: PROTOCOL_VERSION is raised, once in a release, with every change after which a worker and a
 * runner of the release before could misunderstand each other, and with a change of the runner that has to
 * take effect at the next start. The socket's path holds it, so that a worker meets its own version only. The
 * runner of another version gets no new work: workers only finish there what it has, through the calls
 * about tasks and workspaces, which therefore keep their meaning from one version to the next.
 *
 * Errors: { error: { code, message } } with 4xx or 5xx; 404 for an unknown workspace or task, 400
 * `invalid_request` for a body that does not match its schema. Members that a schema does not list are
 * ignored. Ids are the worker's own (`thr_…`, `run_…`, `bld_…`, `prv_…`, `op_…`).
 */
import Type from 'typebox';
import type { Static, TSchema } from 'typebox';

/** Version 0 is a runner's from before versions: its status and its socket's path name none. */
export const PROTOCOL_VERSION = 4;

const Nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
const Texts = Type.Record(Type.String(), Type.String());

export type RunnerStatus = Static<typeof RunnerStatus>;
export const RunnerStatus = Type.Object({
  id: Type.String(),
  pid: Type.Number(),
  /** The runner's PROTOCOL_VERSION; version 0 leaves it out. */
  protocol: Type.Optional(Type.Number()),
  driver: Nullable(Type.Enum(['bubblewrap', 'container'])),
  /** The settings that the runner keeps for life, which may outlast the service that started it. */
  asked: Type.Optional(
    Type.Object({
      driver: Type.Enum(['auto', 'bubblewrap', 'container']),
      socket: Nullable(Type.String()),
      image: Nullable(Type.String()),
      runtime: Nullable(Type.String()),
    }),
  ),
  /** False when no driver can isolate here: nothing runs. */
  ok: Type.Boolean(),
  /** What is missing, each with its remedy, for a person. */
  missing: Type.Array(Type.String()),
  /** How a known source is restored: mounted or unpacked. Absent until it was tried. */
  restore: Type.Optional(Type.Enum(['overlay', 'copy'])),
  /**
   * What bounds a sandbox here. An rlimit always bounds the size of one file, the watchdog always that of
   * the whole workspace.
   */
  limits: Type.Object({
    memory: Type.Enum(['cgroup', 'watchdog']),
    processes: Type.Enum(['cgroup', 'rlimit', 'watchdog']),
    cpu: Type.Enum(['cgroup', 'none']),
    warnings: Type.Array(Type.String()),
  }),
  /** Connections that sandboxes asked the egress proxy for since the runner's start. */
  egress: Type.Optional(Type.Object({ allowed: Type.Number(), refused: Type.Number() })),
  /**
   * Bytes that this machine (or the runner's control group) has and has free, and the number of live
   * sandboxes. Absent when not measured.
   */
  load: Type.Optional(
    Type.Object({ memoryBytes: Type.Number(), freeBytes: Type.Number(), sandboxes: Type.Number() }),
  ),
});

/** A kept source tree: the worker's name for it, and the only project that learns of it. */
export interface TreeKey {
  key: string;
  group: string;
}

/**
 * What a tree is made from; travels as query parameters. `keep`: the tar holds all files and is kept as a
 * source tree under this key. `base`: the workspace lies over the tree kept under this key, and the tar, if
 * any, is a patch. `layer`: the key of the layer below these files. `history`: the key of the `.git` that it
 * gets.
 */
export interface Origin {
  keep?: TreeKey | undefined;
  base?: string | undefined;
  layer?: string | undefined;
  history?: string | undefined;
}

export interface WorkspaceSize {
  id: string;
  /** Of its files on disk, but for those of kept sources, and its agents' homes. */
  bytes: number;
  /** Since it was used last. */
  idleMs: number;
}

export type WorkspaceState = Static<typeof WorkspaceState>;
export const WorkspaceState = Type.Object({
  exists: Type.Boolean(),
  /** The key of the kept files that it lies over. */
  base: Nullable(Type.String()),
});

export type CaptureRequest = Static<typeof CaptureRequest>;
export const CaptureRequest = Type.Object({
  /**
   * Paths of the source that the workspace was restored from (base of the run). Kept wherever they still
   * exist as regular files.
   */
  basePaths: Type.Array(Type.String()),
});

/**
 * For a workspace that lies over kept files: its source has their paths, without those removed and with
 * those added.
 */
export type OverRequest = Static<typeof OverRequest>;
export const OverRequest = Type.Object({
  /** The key of the kept files; 409 `changed` when the workspace lies over others. */
  over: Type.String(),
  added: Type.Array(Type.String()),
  removed: Type.Array(Type.String()),
});

export type CapturedFile = Static<typeof CapturedFile>;
export const CapturedFile = Type.Object({
  path: Type.String(),
  byteSize: Type.Number(),
  sha256: Type.String(),
  executable: Type.Boolean(),
});

export type CaptureResult = Static<typeof CaptureResult>;
export const CaptureResult = Type.Object({
  /** All files of the source; for an OverRequest those that differ from the files of the kept source. */
  files: Type.Array(CapturedFile),
  /**
   * For an OverRequest: files of the kept source that were moved, and its paths that no longer hold their
   * file.
   */
  over: Type.Optional(
    Type.Object({
      moved: Type.Array(Type.Object({ path: Type.String(), from: Type.String() })),
      missing: Type.Array(Type.String()),
    }),
  ),
  /**
   * Further files of the source, whose paths are not UTF-8 or too long to be opened: `path` shows U+FFFD,
   * `fault` says what it must be, `bytes` (one character per byte) is what a patch has to remove. A runner of
   * an older version leaves them out.
   */
  strays: Type.Optional(
    Type.Array(Type.Object({ path: Type.String(), fault: Type.String(), bytes: Type.String() })),
  ),
  /**
   * What was left out: symlinks, special files, new files under dependency or reserved folders; at most
   * 1,000.
   */
  warnings: Type.Array(Type.Object({ path: Type.String(), reason: Type.String() })),
  /**
   * Those of `files` that hold the value of a secret of the workspace's last turn, where no other command ran
   * since.
   */
  secrets: Type.Optional(Type.Array(Type.String())),
});

export const BlobsRequest = Type.Object({ paths: Type.Array(Type.String()) });

export type SandboxLimits = Static<typeof SandboxLimits>;
export const SandboxLimits = Type.Object({
  memoryBytes: Type.Number(),
  processes: Type.Number(),
  /** Bytes that one file and the whole writable tree may take. */
  diskBytes: Type.Number(),
});

/** A system for sandboxes. What no driver here can give ends a task with `workspace_unavailable`. */
export type Runtime = Static<typeof Runtime>;
export const Runtime = Type.Object({
  name: Type.String(),
  /** A folder of the runner's host that holds a root file system, for bubblewrap. */
  root: Nullable(Type.String()),
  /** An image of the container engine. */
  image: Nullable(Type.String()),
});

/** The longest task: a preview of a day. */
const LONGEST_MS = 24 * 60 * 60 * 1000;

/** What every task request has. */
const COMMON = {
  /** Bounds the whole task; then the process tree is killed and the end entry has `timedOut`. */
  timeoutMs: Type.Number({ exclusiveMinimum: 0, maximum: LONGEST_MS }),
  limits: Type.Optional(Type.Partial(SandboxLimits)),
  /**
   * Host names that the sandbox may reach over TLS through the egress proxy (`example.com`,
   * `*.example.com`); absent or empty: no network.
   */
  egress: Type.Optional(Type.Array(Type.String())),
  /** The operator's own hosts, in the same notation: these names may have private addresses. */
  privateHosts: Type.Optional(Type.Array(Type.String())),
  /**
   * Reached in addition to `egress`: exactly this host and port, with TLS or without; a sandbox with one has
   * the proxy.
   */
  endpoints: Type.Optional(
    Type.Array(Type.Object({ host: Type.String(), port: Type.Number(), tls: Type.Boolean() })),
  ),
  /** Certificates (PEM) that programs trust in addition to the system's. */
  authorities: Type.Optional(Type.String()),
  /** Variables; what the sandbox sets itself overrides them, and so do the agent's own. */
  env: Type.Optional(Texts),
  /** Variables of the app: all that is set by anything else overrides them. */
  variables: Type.Optional(Texts),
  /** Those of their values that are masked in everything that the journal says, in each of their forms. */
  secrets: Type.Optional(Type.Array(Type.String())),
  /** The system that the sandbox sees; absent: this machine's own, or that of the container driver's image. */
  runtime: Type.Optional(Runtime),
};

/** An agent that speaks ACP on its stdio. */
export type TurnAgent = Static<typeof TurnAgent>;
export const TurnAgent = Type.Object({
  /** Names its folder and its sessions in the workspace. */
  name: Type.String({ pattern: '^[a-z][a-z0-9._-]{0,63}$' }),
  /** The command inside the sandbox; null: the built-in agent of that name. */
  command: Nullable(Type.Array(Type.String())),
  /**
   * A folder of the runner's host, mounted read-only at AGENTS_FOLDER/<name>; its node_modules/.bin comes
   * first in PATH.
   */
  folder: Nullable(Type.String()),
  env: Texts,
  /** Files written into its HOME before it starts: relative path → content. */
  home: Texts,
  /** Paths in its HOME where it finds the context's instructions and skills; absent or null: it is told. */
  instructionsFile: Type.Optional(Nullable(Type.String())),
  skillsFolder: Type.Optional(Nullable(Type.String())),
  /** The ACP session mode to set; null: the agent's own. */
  mode: Nullable(Type.String()),
  /** The command that installs it, shown when it is missing. */
  install: Nullable(Type.String()),
});

export type Attachment = Static<typeof Attachment>;
export const Attachment = Type.Object({
  mediaType: Type.String(),
  /** Base64. */
  data: Type.String(),
});

/** A message for a running turn. */
export type SteerRequest = Static<typeof SteerRequest>;
export const SteerRequest = Type.Object({
  id: Type.String(),
  prompt: Type.String(),
  attachments: Type.Optional(Type.Array(Attachment)),
});

/** In the form of ACP. The url of an http server is one of the gateway's. */
export type TurnMcpServer = Static<typeof TurnMcpServer>;
export const TurnMcpServer = Type.Union([
  Type.Object({ transport: Type.Literal('http'), name: Type.String(), url: Type.String(), headers: Texts }),
  Type.Object({
    transport: Type.Literal('stdio'),
    name: Type.String(),
    command: Type.Array(Type.String()),
    env: Texts,
  }),
]);

/** What an agent is told of its context: the instructions, and the skills, whose files are in the folder. */
export type Told = Static<typeof Told>;
export const Told = Type.Object({
  instructions: Nullable(Type.String()),
  skills: Type.Array(Type.Object({ name: Type.String(), description: Type.String() })),
});

/** One turn of an ACP agent in a workspace. */
export type TurnRequest = Static<typeof TurnRequest>;
export const TurnRequest = Type.Object({
  ...COMMON,
  kind: Type.Literal('turn'),
  workspaceId: Type.String(),
  agent: TurnAgent,
  prompt: Type.String(),
  attachments: Type.Optional(Type.Array(Attachment)),
  /** The conversation so far, oldest first, for an agent without a session to resume. */
  history: Type.Optional(
    Type.Array(Type.Object({ role: Type.Enum(['user', 'assistant']), content: Type.String() })),
  ),
  mcpServers: Type.Optional(Type.Array(TurnMcpServer)),
  /** Whether the sandbox gets the model gateway. */
  gateway: Type.Optional(Type.Boolean()),
  /**
   * Further files written to the workspace before the agent starts, such as `.hoplite/repair/…`; captures
   * leave them out.
   */
  evidence: Type.Optional(
    Type.Array(
      Type.Object({
        path: Type.String(),
        content: Type.String(),
        encoding: Type.Enum(['utf8', 'base64']),
      }),
    ),
  ),
  /** The names of the app's variables, and what each is for, which the agent is told. */
  variableTargets: Type.Optional(Type.Record(Type.String(), Type.Array(Type.String()))),
  /** The key of the kept folder that it sees at CONTEXT_FOLDER; absent: an empty one. */
  context: Type.Optional(Type.String()),
  told: Type.Optional(Told),
  /** `ask`: each tool call waits for POST …/permissions; the worker decides by policy. */
  permissions: Type.Enum(['ask', 'allow']),
});

/** A command in a workspace. */
export type ExecRequest = Static<typeof ExecRequest>;
export const ExecRequest = Type.Object({
  ...COMMON,
  kind: Type.Literal('exec'),
  workspaceId: Type.String(),
  command: Type.String(),
  stdin: Type.Optional(Type.String()),
  /** It reads what the workspace's last turn has left: the secrets of that turn are masked, too. */
  isOfTurn: Type.Optional(Type.Boolean()),
});

/**
 * A command in a scratch sandbox that holds exactly the source sent by PUT …/source; starts when the source
 * has arrived.
 */
export type BuildRequest = Static<typeof BuildRequest>;
export const BuildRequest = Type.Object({
  ...COMMON,
  kind: Type.Literal('build'),
  command: Type.String(),
  outputDirectory: Type.String(),
});

/** A server in its own sandbox; starts when the source has arrived and lives until it is deleted. */
export type PreviewRequest = Static<typeof PreviewRequest>;
export const PreviewRequest = Type.Object({
  ...COMMON,
  kind: Type.Literal('preview'),
  command: Type.String(),
  port: Type.Number(),
});

/**
 * A command in a scratch sandbox that holds exactly the files sent by PUT …/source, a plain tar; starts when
 * they have arrived. Its time-out bounds the command; making the layer takes at most LAYER_TIMEOUT_MS more.
 */
export type SetupRequest = Static<typeof SetupRequest>;
export const SetupRequest = Type.Object({
  ...COMMON,
  kind: Type.Literal('setup'),
  command: Type.String(),
  /** The project that the layer is kept for. */
  group: Type.String({ pattern: '^[\\w-]{1,100}$' }),
});

export type TaskRequest = TurnRequest | ExecRequest | BuildRequest | PreviewRequest | SetupRequest;
/** By `kind`, so that a fault names its member instead of all the kinds that the body is not. */
export const TASK_REQUESTS = {
  turn: TurnRequest,
  exec: ExecRequest,
  build: BuildRequest,
  preview: PreviewRequest,
  setup: SetupRequest,
};

export type TaskState = Static<typeof TaskState>;
export const TaskState = Type.Object({
  id: Type.String(),
  kind: Type.Enum(['turn', 'exec', 'build', 'preview', 'setup']),
  workspaceId: Nullable(Type.String()),
  status: Type.Enum(['preparing', 'running', 'ended']),
  /** Offset of the newest journal entry, -1 when there is none. */
  lastOffset: Type.Number(),
});

export const AckRequest = Type.Object({ offset: Type.Number() });
export const PermissionAnswer = Type.Object({ allow: Type.Boolean() });
export const GatewayRequest = Type.Object({ socketPath: Type.String() });

export type TaskEnd = Static<typeof TaskEnd>;
export const TaskEnd = Type.Object({
  type: Type.Literal('end'),
  /** `completed`: the turn ended, or the command exited (whatever its code). `failed`: see error. */
  outcome: Type.Enum(['completed', 'failed', 'cancelled']),
  exitCode: Nullable(Type.Number()),
  signal: Nullable(Type.String()),
  timedOut: Type.Boolean(),
  oom: Type.Boolean(),
  /**
   * turn: `script_failed`, `agent_error`, `not_configured` (its command is missing); setup:
   * `layer_too_large` (2 GiB, 200,000 entries, or the sandbox's disk); any: `sandbox_lost`,
   * `workspace_unavailable` (its runtime is not there, and nothing was started).
   */
  error: Nullable(
    Type.Object({
      code: Type.Enum([
        'script_failed',
        'agent_error',
        'not_configured',
        'layer_too_large',
        'sandbox_lost',
        'workspace_unavailable',
      ]),
      message: Type.String(),
    }),
  ),
  durationMs: Type.Number(),
  /** setup: its layer is kept. */
  layer: Type.Optional(Type.Object({ byteSize: Type.Number() })),
});

export type JournalEntry = Static<typeof JournalEntry>;
export const JournalEntry = Type.Intersect([
  Type.Object({ offset: Type.Number(), at: Type.String() }),
  Type.Union([
    Type.Object({ type: Type.Literal('started') }),
    /** turn: the agent has its session and is about to get the message. */
    Type.Object({ type: Type.Literal('ready'), steerable: Type.Boolean() }),
    /** turn: the agent took a message of POST …/steer. */
    Type.Object({ type: Type.Literal('steered'), id: Type.String() }),
    /** The agent's whole reply so far; it replaces the previous one. */
    Type.Object({ type: Type.Literal('text'), content: Type.String() }),
    Type.Object({
      type: Type.Literal('tool'),
      toolCallId: Type.String(),
      name: Type.String(),
      title: Type.String(),
      status: Type.Enum(['pending', 'running', 'completed', 'failed', 'cancelled']),
      input: Type.Unknown(),
      output: Nullable(Type.String()),
      truncated: Type.Boolean(),
    }),
    /** `name`, `input`: of the call in question; a runner of an older version leaves them out. */
    Type.Object({
      type: Type.Literal('permission'),
      requestId: Type.String(),
      toolCallId: Type.String(),
      name: Type.Optional(Type.String()),
      title: Type.String(),
      input: Type.Optional(Type.Unknown()),
    }),
    /** exec, build, preview, setup: what the command printed, in order of arrival, at most 64 KiB an entry. */
    Type.Object({
      type: Type.Literal('output'),
      stream: Type.Enum(['stdout', 'stderr']),
      text: Type.String(),
    }),
    /** The egress proxy refused connections to a host: once a host, at most 100 a task. */
    Type.Object({
      type: Type.Literal('refused'),
      host: Type.String(),
      port: Type.Number(),
      reason: Type.String(),
    }),
    /** preview: something listens on the port. */
    Type.Object({ type: Type.Literal('listening') }),
    TaskEnd,
  ]),
]);

/** Where agents' folders are inside a sandbox, and where the model gateway answers. */
export const AGENTS_FOLDER = '/opt/headrace/agents';
/** Where a turn finds its context: `instructions.md` and `skills/<name>/…`, as far as there are any. */
export const CONTEXT_FOLDER = '/run/headrace-context';
export const GATEWAY_PORT = 4401;
export const GATEWAY_URL = `http://127.0.0.1:${GATEWAY_PORT}`;
/** Where a sandbox with egress finds its HTTP proxy. */
export const EGRESS_PORT = 4402;

/**
 * How often a runner on a node shows that it lives while a request waits: `102 Processing` before the answer, an
 * empty line in a journal.
 */
export const SIGN_OF_LIFE_MS = 5_000;

export const FENCE_HEADER = 'headrace-fence';

/** Output of a tool call is cut here, output of exec per stream at 1 MiB by the worker. */
export const TOOL_OUTPUT_BYTES = 64 * 1024;

/** What a layer may hold, and how long it may take to make one of what a setup left. */
export const LAYER_BYTES = 2 * 1024 ** 3;
export const LAYER_ENTRIES = 200_000;
/** What a listing of its entries may take. */
export const LAYER_LISTING_BYTES = 32 * 1024 ** 2;
export const LAYER_TIMEOUT_MS = 120_000;
