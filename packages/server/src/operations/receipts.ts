/**
 * Idempotent writes. A receipt is one row of `operations`; its id is the answer's x-operation-id.
 *
 *   transaction   The write, its events, jobs and its settled receipt are one transaction. A rival with the same key waits
 *                 for it, a second at most (here, or at an advisory lock), and replays.
 *   claimed       Work outside of a transaction (bytes to stage, a command to run): the claim commits first, with a lease that this
 *                 process renews, and the work settles it in its own last transaction. When the process dies the lease runs out: a retry
 *                 takes over with a higher fence (`staged`), or the job that the claim enqueued settles it (`job`).
 *
 *   (none) --transaction--> succeeded | failed          failed: a refusal that settles (404, most 409)
 *   (none) --claim--> pending --settle--> succeeded | failed
 *                     pending --a refusal that releases--> (deleted)
 *                     pending --staged, lease over--> pending, fence + 1 (a retry) | failed 503, key free (the reconciler)
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Principal } from '../accounts/principal.ts';
import type { Context } from '../context.ts';
import type { OperationRow } from '../db/schema.ts';
import { appendEvent, transaction } from '../db/transaction.ts';
import type { EventScope, Tx } from '../db/transaction.ts';
import { ApiError, settles } from '../http/errors.ts';
import { newId } from '../ids.ts';

export interface WriteRequest {
  principal: Principal;
  key: string;
  fingerprint: Buffer;
  method: string;
  path: string;
  projectId: string | null;
  permissions: string[];
  requestId: string;
  /** Direct API: `operation.updated` is published unless the write turns out to concern a Platform app. */
  direct: boolean;
}

export interface WriteResult {
  status: number;
  body: Record<string, unknown>;
  /** What a replay answers where it differs: secrets left out. */
  replay?: Record<string, unknown>;
  /** The project that the write concerned, where its path does not name it. */
  scope?: EventScope;
}

export interface Answer {
  status: number;
  text: string;
  operationId: string | null;
  replayed: boolean;
}

const RESERVED = sql<Date>`now() + interval '8 days'`;
const LEASE_SECONDS = 15;
const RENEW_MS = 4_000;

interface UnderWay {
  /** What the write's operation will be, unless the write turns out to be a replay. */
  operationId: string;
  fingerprint: Buffer;
  /** `pending` once the operation can be read as such; `over` when the write has ended, whatever its answer was. */
  state: Promise<'pending' | 'over'>;
}

/** Writes under way in this process: a rival learns their operation and payload without the database. */
const underWay = new Map<string, UnderWay>();
const lockKey = (r: WriteRequest) => createHash('sha256').update(`${r.principal.orgId}\n${r.principal.actorId}\n${r.key}`).digest().readBigInt64BE(0).toString();

const conflict = () => new ApiError('idempotency_conflict', 'This Idempotency-Key was used for another request. Use a new key for a new operation.');
const inProgress = (operationId: string) => new ApiError('request_in_progress', 'A request with this Idempotency-Key is still in progress. Read its operation, or retry in a moment.', { details: { operationId } });

/** The operation's event, where it is published at all. Called once per status. */
function publish(tx: Tx, request: WriteRequest, operationId: string, status: string, scope?: EventScope): void {
  if (!request.direct || scope?.feed === 'platform') return;
  appendEvent(tx, { orgId: request.principal.orgId, projectId: scope?.projectId ?? request.projectId, feed: 'direct' }, 'operation.updated', { id: operationId, status });
}

const LOCK_TRIES = 50;
const LOCK_RETRY_MS = 20;
const RIVAL_MS = LOCK_TRIES * LOCK_RETRY_MS;

/**
 * Before a write begins: refuses a rival of this process, with another payload at once, with the same as soon as it can read the operation
 * that it is told of. Returns when there is none any more: the receipt of the one before can be read then. A write that is one transaction
 * is waited for, as `lockAndRead` waits for other processes: it may be a replay itself, and its operation one that never exists.
 */
async function meetRivals(local: string, request: WriteRequest): Promise<void> {
  const patience = sleep(RIVAL_MS, 'late' as const, { ref: false });
  for (let rival = underWay.get(local); rival; rival = underWay.get(local)) {
    if (!rival.fingerprint.equals(request.fingerprint)) throw conflict();
    if (await Promise.race([rival.state, patience]) !== 'over') throw inProgress(rival.operationId);
  }
}

/** Registers a write under way; `end` has to be called. */
function beginWrite(local: string, operationId: string, request: WriteRequest): { setPending: (id: string) => void; end: () => void } {
  const { promise, resolve } = Promise.withResolvers<'pending' | 'over'>();
  const entry: UnderWay = { operationId, fingerprint: request.fingerprint, state: promise };
  underWay.set(local, entry);
  return {
    setPending(id) {
      entry.operationId = id;
      resolve('pending');
    },
    end() {
      underWay.delete(local);
      resolve('over');
    },
  };
}

/**
 * Locks the key and reads its receipt. Another process may hold the lock for the length of one transaction: it is tried for a second,
 * since nothing that a rival could be told of is committed yet. `undefined` when it is held longer.
 */
async function lockAndRead(tx: Tx, request: WriteRequest): Promise<{ row: OperationRow | undefined } | undefined> {
  // Two statements: the read needs a snapshot taken after the lock, or it misses the receipt that the lock's last holder committed.
  for (let tries = 1; ; tries++) {
    const { rows: [lock] } = await sql<{ held: boolean }>`select pg_try_advisory_xact_lock(${lockKey(request)}::bigint) as held`.execute(tx.db);
    if (lock!.held) break;
    if (tries === LOCK_TRIES) return undefined;
    await sleep(LOCK_RETRY_MS);
  }
  const row = await tx.db.selectFrom('operations').selectAll()
    .where('org_id', '=', request.principal.orgId).where('actor_id', '=', request.principal.actorId).where('idempotency_key', '=', request.key).executeTakeFirst();
  return { row };
}

/** What an existing receipt answers; undefined when the key is free for this request (failed by the reconciler, or its lease is over). */
function answerOf(row: OperationRow, request: WriteRequest): Answer | undefined {
  const isSettled = row.status === 'succeeded' || row.status === 'failed';
  if (isSettled && (row.reserved_until === null || row.reserved_until.getTime() < Date.now())) return undefined;
  if (!row.fingerprint.equals(request.fingerprint)) throw conflict();
  if (row.status === 'uncertain') throw inProgress(row.id);
  if (row.status === 'pending') {
    if (row.lease_until !== null && row.lease_until.getTime() < Date.now()) return undefined;
    throw inProgress(row.id);
  }
  return { status: row.response_status!, text: row.response!, operationId: row.id, replayed: true };
}

async function insertSettled(tx: Tx, request: WriteRequest, operationId: string, status: number, response: string, scope?: EventScope): Promise<void> {
  await tx.db.insertInto('operations').values({
    org_id: request.principal.orgId, id: operationId, actor_id: request.principal.actorId, idempotency_key: request.key, fingerprint: request.fingerprint,
    method: request.method, path: request.path, project_id: scope?.projectId ?? request.projectId, permissions: request.permissions, published: request.direct && scope?.feed !== 'platform',
    status: status < 400 ? 'succeeded' : 'failed', response_status: status, response, settled_at: sql<Date>`clock_timestamp()`, reserved_until: RESERVED,
  }).execute();
}

/** For a handler that has to publish its operation's event elsewhere than last. */
export interface Receipt {
  operationId: string;
  publish(tx: Tx, scope?: EventScope): void;
}

/**
 * One write in one transaction, or the replay of an earlier one. Throws ApiError: a refusal that settles is stored first, so that
 * its replay is the same.
 */
export async function writeOnce(ctx: Context, request: WriteRequest, write: (tx: Tx, receipt: Receipt) => Promise<WriteResult>): Promise<Answer> {
  const local = `${request.principal.orgId} ${request.principal.actorId} ${request.key}`;
  await meetRivals(local, request);
  const operationId = newId('op');
  const { end } = beginWrite(local, operationId, request);
  try {
    return await transaction(ctx, async (tx) => {
      const found = await lockAndRead(tx, request);
      if (!found) throw inProgress(operationId);
      if (found.row) {
        const answer = answerOf(found.row, request);
        if (answer) return answer;
        await tx.db.deleteFrom('operations').where('org_id', '=', request.principal.orgId).where('id', '=', found.row.id).execute();
      }
      let isPublished = false;
      const receipt: Receipt = { operationId, publish: (t, scope) => { isPublished = true; publish(t, request, operationId, 'succeeded', scope); } };
      const result = await write(tx, receipt);
      await insertSettled(tx, request, operationId, result.status, JSON.stringify(result.replay ?? result.body), result.scope);
      if (!isPublished) publish(tx, request, operationId, 'succeeded', result.scope);
      return { status: result.status, text: JSON.stringify(result.body), operationId, replayed: false };
    });
  } catch (error) {
    if (!(error instanceof ApiError) || !settles(error)) throw error;
    return await refuse(ctx, request, operationId, error);
  } finally {
    end();
  }
}

/** Stores a refusal that settles; it publishes nothing, since its pending was not published either. */
async function refuse(ctx: Context, request: WriteRequest, operationId: string, error: ApiError): Promise<Answer> {
  const text = JSON.stringify(error.body(request.requestId));
  return transaction(ctx, async (tx) => {
    const found = await lockAndRead(tx, request);
    if (!found) throw inProgress(operationId);
    const earlier = found.row && answerOf(found.row, request);
    if (earlier) return earlier;
    if (found.row) await tx.db.deleteFrom('operations').where('org_id', '=', request.principal.orgId).where('id', '=', found.row.id).execute();
    await insertSettled(tx, request, operationId, error.status, text);
    return { status: error.status, text, operationId, replayed: false };
  });
}

/** A committed claim on a key. */
export interface Claim {
  operationId: string;
  /** Settles the receipt in the caller's last transaction. Throws when a retry took over. */
  settle(tx: Tx, result: WriteResult): Promise<void>;
}

/**
 * A write with work outside of a transaction: claims the key, runs `work`, which settles the claim in its own last transaction and
 * returns the same result. A refusal settles or releases the key. `onClaim` runs in the claim's transaction (for the job that will settle it).
 */
export async function writeClaimed(
  ctx: Context, request: WriteRequest,
  options: { mode: 'staged' | 'job'; scope?: EventScope; publishesPending: boolean; onClaim?: (tx: Tx, operationId: string) => Promise<EventScope | undefined> },
  work: (claim: Claim) => Promise<WriteResult>,
): Promise<Answer> {
  const local = `${request.principal.orgId} ${request.principal.actorId} ${request.key}`;
  await meetRivals(local, request);
  let operationId: string = newId('op');
  const { setPending, end } = beginWrite(local, operationId, request);
  let renewal: NodeJS.Timeout | undefined;
  try {
    let fence = 1;
    let scope = options.scope;
    const earlier = await transaction(ctx, async (tx) => {
      const found = await lockAndRead(tx, request);
      if (!found) throw inProgress(operationId);
      const lease = options.mode === 'staged' ? sql<Date>`now() + ${LEASE_SECONDS} * interval '1 second'` : null;
      if (found.row) {
        const answer = answerOf(found.row, request);
        if (answer) return answer;
        operationId = found.row.id;
        fence = found.row.fence + 1;
      }
      scope = (await options.onClaim?.(tx, operationId)) ?? options.scope;
      const claimed = {
        fingerprint: request.fingerprint, method: request.method, path: request.path, project_id: scope?.projectId ?? request.projectId, permissions: request.permissions,
        published: request.direct && scope?.feed !== 'platform', status: 'pending' as const, fence, lease_until: lease,
      };
      if (found.row) await tx.db.updateTable('operations').set({ ...claimed, response: null, response_status: null, settled_at: null, reserved_until: null }).where('id', '=', operationId).execute();
      else await tx.db.insertInto('operations').values({ ...claimed, org_id: request.principal.orgId, id: operationId, actor_id: request.principal.actorId, idempotency_key: request.key }).execute();
      if (options.publishesPending) publish(tx, request, operationId, 'pending', scope);
      return undefined;
    }).catch((error: unknown) => {
      // What the claim's own transaction refuses (the job's resource or state) settles like any refusal.
      if (error instanceof ApiError && settles(error)) return refuse(ctx, request, operationId, error);
      throw error;
    });
    if (earlier) return earlier;
    setPending(operationId);
    if (options.mode === 'staged') {
      renewal = setInterval(() => {
        ctx.db.updateTable('operations').set({ lease_until: sql<Date>`now() + ${LEASE_SECONDS} * interval '1 second'` }).where('id', '=', operationId).where('fence', '=', fence).where('status', '=', 'pending').execute().catch(() => {});
      }, RENEW_MS);
    }
    try {
      const result = await work({ operationId, settle: (tx, r) => settle(tx, operationId, fence, r, scope ?? r.scope) });
      return { status: result.status, text: JSON.stringify(result.body), operationId, replayed: false };
    } catch (error) {
      // A job-backed claim is its job's to settle, whatever became of the one who waited.
      if (options.mode === 'job') throw error instanceof ApiError ? Object.assign(error, { operationId }) : error;
      const refusal = error instanceof ApiError ? error : new ApiError('internal', 'Something failed on our side. Retry with the same Idempotency-Key.', { cause: error });
      await refuseClaim(ctx, request, operationId, fence, refusal, { scope, publishesPending: options.publishesPending });
      throw error instanceof ApiError ? Object.assign(error, { operationId }) : error;
    }
  } finally {
    clearInterval(renewal);
    end();
  }
}

/** Settles a pending claim in the caller's transaction; `fence` undefined = whichever (a job that owns the operation). */
export async function settle(tx: Tx, operationId: string, fence: number | undefined, result: WriteResult, scope?: EventScope): Promise<void> {
  let update = tx.db.updateTable('operations')
    .set({ status: result.status < 400 ? 'succeeded' : 'failed', response_status: result.status, response: JSON.stringify(result.replay ?? result.body), settled_at: sql<Date>`clock_timestamp()`, reserved_until: RESERVED, lease_until: null })
    .where('id', '=', operationId).where('status', '=', 'pending');
  if (fence !== undefined) update = update.where('fence', '=', fence);
  const row = await update.returning(['org_id', 'project_id', 'published', 'status']).executeTakeFirst();
  if (!row) throw new ApiError('request_in_progress', 'A retry of this request took it over.', { details: { operationId } });
  tx.wake('operations', operationId);
  if (row.published && scope?.feed !== 'platform') appendEvent(tx, { orgId: row.org_id, projectId: row.project_id, feed: 'direct' }, 'operation.updated', { id: operationId, status: row.status });
}

async function refuseClaim(ctx: Context, request: WriteRequest, operationId: string, fence: number, error: ApiError, options: { scope?: EventScope; publishesPending: boolean }): Promise<void> {
  const text = JSON.stringify(error.body(request.requestId));
  await transaction(ctx, async (tx) => {
    const isKept = settles(error);
    // A released key leaves no receipt: the row stays, failed and unreserved, so that its operation can still be read.
    const row = await tx.db.updateTable('operations')
      .set({ status: 'failed', response_status: error.status, response: text, settled_at: sql<Date>`clock_timestamp()`, reserved_until: isKept ? RESERVED : null, lease_until: null })
      .where('id', '=', operationId).where('fence', '=', fence).where('status', '=', 'pending').returning('published').executeTakeFirst();
    if (row?.published && options.publishesPending) publish(tx, request, operationId, 'failed', options.scope);
    tx.wake('operations', operationId);
  });
}
