/**
 * What a runner on a node and the workers agree on. Every REGISTER_MS the runner calls a worker's link listener
 * (mTLS, role `runner`), which also carries what it dials for its agents:
 *
 *   PUT    /runners/:bootId           RegistrationRequest → Registration
 *                                     409 `gone`: the runner counts as gone under this id. It kills all that it
 *                                     has, and registers under another id
 *                                     409 `unsupported_protocol`: the ranges do not meet; it asks again
 *   DELETE /runners/:bootId           → 204  the last call of a runner that leaves: nothing of it lives
 *   GET    /gateway    Upgrade: tcp   → 101  then `task <id>\n` and the agent's bytes, as on the unix socket
 *
 * The answer is a lease. The runner counts it from when it sent its last accepted call, on its own monotonic
 * clock, and at its end kills all that it has. So a worker that has not accepted a call for LEASE_SECONDS and
 * some seconds more knows that nothing of the runner lives, without reaching it.
 *
 * States of a runner, by the time since its last accepted call: ready, suspect (SUSPECT_MS), lost (LOST_MS),
 * gone (GONE_MS).
 *
 * Where the answer says `measures`, the next requests have the sizes of workspaces, at most every MEASURE_MS.
 *
 * `forget` names tasks, workspaces and groups of the request that nobody needs: the runner ends and deletes
 * them, except workspaces that something has used since the request was sent.
 */
import Type from 'typebox';
import type { Static } from 'typebox';
import { PROTOCOL_VERSION, RunnerStatus } from './protocol.ts';
import { RUNNER_ID } from './runner-id.ts';

export const REGISTER_MS = 3_000;
export const LEASE_SECONDS = 180;
export const SUSPECT_MS = 10_000;
export const LOST_MS = 30_000;
export const GONE_MS = 210_000;
export const MEASURE_MS = 5_000;

/** The oldest and the newest version of the protocol that this release speaks: it works with the one before. */
export const PROTOCOL_RANGE: readonly [number, number] = [PROTOCOL_VERSION - 1, PROTOCOL_VERSION];

/** Whether this release has a version of the protocol in common with a peer of this range. */
export const speaks = ([min, max]: readonly [number, number]): boolean =>
  min <= PROTOCOL_RANGE[1] && max >= PROTOCOL_RANGE[0];

export const BOOT_ID_PATTERN = RUNNER_ID.source;
export const POOL_PATTERN = '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$';
const Id = Type.String({ pattern: '^[\\w-]{1,100}$' });
const MOST_IDS = 100_000;
const Ids = Type.Array(Id, { maxItems: MOST_IDS });
const TEN_YEARS_MS = 10 * 366 * 86_400_000;
/** WorkspaceSize of protocol.ts. */
const Size = Type.Object({
  id: Id,
  bytes: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  idleMs: Type.Integer({ minimum: 0, maximum: TEN_YEARS_MS }),
});

export type RegistrationRequest = Static<typeof RegistrationRequest>;
export const RegistrationRequest = Type.Object({
  /** The host's, for people. */
  name: Type.String({ minLength: 1, maxLength: 255 }),
  /** Where workers and api processes reach its listener: `host:port`. */
  address: Type.String({ minLength: 3, maxLength: 300 }),
  pool: Type.String({ pattern: POOL_PATTERN }),
  /** Versions of the protocol that it speaks, from and to. */
  protocol: Type.Tuple([Type.Integer({ minimum: 0 }), Type.Integer({ minimum: 0 })]),
  /** Slots: how many runs it may have at once. */
  capacity: Type.Integer({ minimum: 1, maximum: 100_000 }),
  /** It takes nothing new, and exits when all it has is gone. */
  isDraining: Type.Boolean(),
  /** As of GET /status; its `id` is the bootId. */
  status: RunnerStatus,
  /** Ids of all that it has: tasks that are not deleted, workspaces, and projects that something is kept for. */
  tasks: Ids,
  workspaces: Ids,
  groups: Ids,
  /** Of all its workspaces, where they were measured since the last request. */
  sizes: Type.Optional(Type.Array(Size, { maxItems: MOST_IDS })),
});

export type Forget = Static<typeof Forget>;
export const Forget = Type.Object({ tasks: Ids, workspaces: Ids, groups: Ids });

export type Registration = Static<typeof Registration>;
export const Registration = Type.Object({
  leaseSeconds: Type.Number({ exclusiveMinimum: 0, maximum: 86_400 }),
  forget: Forget,
  /** Whether the workers want to know what workspaces take. Absent in the release before this one. */
  measures: Type.Optional(Type.Boolean()),
});
