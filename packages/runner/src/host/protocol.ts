/**
 * The protocol between the service and a host: a person's own machine, on which threads work in folders that its
 * program was given. The host dials the service and is the one that answers. What it answers is a stranger's, so the
 * service validates it; what it is asked names a binding, a mode and a provider, never a command, a path or an
 * environment.
 *
 * The connection: GET /api/hosts/connect as a WebSocket with the subprotocol HOST_PROTOCOL and
 * `Authorization: Bearer <host token>`. The answer 101 has HOST_ID_HEADER and HOST_NAME_HEADER (percent-encoded); a
 * host does without them. Binary messages are the bytes of one HTTP/2 connection, without TLS, in which the service is
 * the client. Each side pings every PING_MS, and ends a connection that gave no sign of life for SILENCE_MS. The service closes
 * with a code of CLOSED and a reason for people; the program says it and ends. After any other end it dials again.
 *
 * Bodies are JSON unless a line says tar or NDJSON; shapes and meanings are the runner's (../protocol.ts) where it
 * has them:
 *
 *   GET    /status                                    → HostStatus
 *   PUT    /workspaces/:id         HostWorkspace      → HostWorkspaceMade: idempotent; a worktree is made once. 404
 *                                                     `binding_not_found`, 409 `worktree_failed`
 *   GET    /workspaces/:id                            → { exists, base: null }: whether it was prepared and its folder
 *                                                     is there
 *   DELETE /workspaces/:id                            → 204  idempotent: the worktree goes, its branch and a bound
 *                                                     folder stay
 *   POST   /workspaces/:id/capture CaptureRequest     → CaptureResult. 409 `busy` while a task of it lives
 *   POST   /workspaces/:id/blobs   BlobsRequest       → tar
 *   POST   /workspaces/:id/patch   tar                → 204  as the runner's, in a worktree only: else 409
 *                                                     `unsupported_on_host`
 *   POST   /tasks/:id              HostTurnRequest    → TaskState: 201, or 200 when the task is there. An id never starts
 *                                                     twice, whatever happens to the program: 410 `gone` once its
 *                                                     journal was deleted. 409 `busy` while another task lives in
 *                                                     the same folder
 *   GET    /tasks/:id                                 → TaskState
 *   GET    /tasks/:id/journal?from=N                  → NDJSON of JournalEntry, up to the `end` entry; an empty line
 *                                                     every SIGN_OF_LIFE_MS. A task that the end of the program ended has
 *                                                     an `end` with outcome `failed` and the code `sandbox_lost`
 *   POST   /tasks/:id/ack          AckRequest         → 204
 *   POST   /tasks/:id/cancel                          → 204  resolves once its processes are gone
 *   POST   /tasks/:id/permissions/:requestId  PermissionAnswer → 204
 *   POST   /tasks/:id/steer        SteerRequest       → 204; 409 `not_steerable`, 504 `no_answer`
 *   DELETE /tasks/:id                                 → 204  idempotent: cancels it where it lives, and forgets its
 *                                                     journal
 *
 * Fences are the runner's (Headrace-Fence, ../protocol.ts), on the same requests. The host keeps the highest number with the workspace,
 * for as long as that is there.
 *
 * All else is refused with 404. Errors have the runner's form: { error: { code, message } }. Workspace ids are thread
 * ids, task ids run ids: `[A-Za-z0-9_]{1,128}`.
 */
import Type from 'typebox';
import type { Static, TSchema } from 'typebox';
import { Attachment, TaskState, Told } from '../protocol.ts';

export const HOST_PROTOCOL = 'headrace-host.v1';
export const HOST_ID_HEADER = 'headrace-host-id';
export const HOST_NAME_HEADER = 'headrace-host-name';

export const PING_MS = 15_000;
export const SILENCE_MS = 45_000;

/** WebSocket close codes after which the program ends. */
export const CLOSED = {
  /** Another program connected with this host's token. */
  replaced: 4001,
  /** The token counts no more. */
  refused: 4003,
  /** The host was deleted. */
  deleted: 4004,
} as const;

const Nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

export const Provider = Type.Enum(['agent_a', 'agent_b']);
export const WorkspaceMode = Type.Enum(['direct', 'worktree']);

export type HostBinding = Static<typeof HostBinding>;
export const HostBinding = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 100 }),
  workspaceModes: Type.Array(WorkspaceMode, { maxItems: 2 }),
  isGit: Type.Boolean(),
  /** The branch that HEAD is on. */
  branch: Nullable(Type.String({ maxLength: 1024 })),
});

export type HostStatus = Static<typeof HostStatus>;
export const HostStatus = Type.Object({
  /** The program's. */
  version: Type.String({ maxLength: 100 }),
  providers: Type.Array(Provider, { maxItems: 2 }),
  share: Type.Enum(['owner', 'organization']),
  bindings: Type.Array(HostBinding, { maxItems: 1000 }),
  /** Those whose journal was not deleted. */
  tasks: Type.Array(TaskState),
  /** Ids of the workspaces that were prepared and not deleted. */
  workspaces: Type.Array(Type.String()),
});

export type HostWorkspace = Static<typeof HostWorkspace>;
export const HostWorkspace = Type.Object({
  binding: Type.String(),
  mode: WorkspaceMode,
  /** Of the worktree, `headrace/…`; in the mode `direct` nothing is done with it. */
  branch: Type.String({ pattern: '^headrace/[a-z0-9]{1,32}$' }),
});

export type HostWorkspaceMade = Static<typeof HostWorkspaceMade>;
export const HostWorkspaceMade = Type.Object({
  /** The commit that it began with (`worktree`), or that HEAD is (`direct`); null without git, or without a commit. */
  headCommit: Nullable(Type.String({ pattern: '^([0-9a-f]{40}|[0-9a-f]{64})$' })),
});

/** One turn of an agent of the host. The members are those of the runner's TurnRequest. */
export type HostTurnRequest = Static<typeof HostTurnRequest>;
export const HostTurnRequest = Type.Object({
  kind: Type.Literal('turn'),
  workspaceId: Type.String(),
  binding: Type.String(),
  mode: WorkspaceMode,
  provider: Provider,
  /** For the agent to choose from what it has; null: its own. */
  model: Nullable(Type.String()),
  prompt: Type.String(),
  attachments: Type.Optional(Type.Array(Attachment)),
  history: Type.Optional(
    Type.Array(Type.Object({ role: Type.Enum(['user', 'assistant']), content: Type.String() })),
  ),
  /** Instructions alone: `skills` is empty. */
  told: Type.Optional(Told),
  permissions: Type.Enum(['ask', 'allow']),
  timeoutMs: Type.Number({ exclusiveMinimum: 0, maximum: 24 * 60 * 60_000 }),
});
