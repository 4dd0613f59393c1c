/**
 * Idempotent writes. A receipt is one row of `operations`; its id is the answer's x-operation-id.
 *
 *   transaction   The write, its events, jobs and its settled receipt are one transaction. A rival with the same key waits
 *                 for it, a second at most (rivals.ts in this process, take-key.ts in others), and replays.
 *   claimed       Work outside of a transaction: the claim commits first, and the work settles it in its own last transaction.
 *                 `staged` (bytes to store): a lease that this process renews; when it dies a retry takes
 *                 over with a higher fence.
 *                 `job` (a command): no lease, the job that the claim enqueued settles it.
 *                 `outside` (an effect elsewhere, outside.ts): a lease; nobody takes over, a reconciler
 *                 looks what became of it.
 *
 *   (none) --transaction--> succeeded | failed          failed: a refusal that settles (404, most 409)
 *   (none) --claim--> pending --settle--> succeeded | failed
 *                     pending --a refusal that releases--> failed, key free
 *                     pending --staged, lease over--> pending, fence + 1 (a retry) | failed 503, key free
 *                     (maintain.ts)
 *                     pending --outside, nobody knows--> uncertain, fence + 1 --a look--> succeeded | failed
 */
import { sql } from 'kysely';
import type { Insertable, RawBuilder } from 'kysely';
import type { Context } from '../context.ts';
import { json } from '../db/schema.ts';
import type { OperationsTable } from '../db/schema.ts';
import { appendEvent, transaction } from '../db/transaction.ts';
import type { EventScope, SettledReceipt, Tx } from '../db/transaction.ts';
import { ApiError, settles } from '../http/errors.ts';
import { newId } from '../ids.ts';
import { holdLease, LEASE_SECONDS } from './lease.ts';
import { inTurn } from './rivals.ts';
import { sealAnswer } from './sealed-answer.ts';
import { inProgress, takeKey } from './take-key.ts';
import type { Found } from './take-key.ts';
import type {
  Answer,
  Claim,
  Receipt,
  WriteRequest,
  WriteResult,
  ClaimOptions,
} from '../http/write-request.ts';

/** As of a write in one transaction (db/transaction.ts). */
const RESERVED = sql<Date>`now() + interval '8 days'`;

/** The operation's event, where it is published at all. Called once per status. */
function publish(
  tx: Tx,
  request: WriteRequest,
  operationId: string,
  status: string,
  scope?: EventScope,
): void {
  if (!request.direct || scope?.feed === 'platform') return;
  appendEvent(
    tx,
    { orgId: request.principal.orgId, projectId: scope?.projectId ?? request.projectId, feed: 'direct' },
    'operation.updated',
    { id: operationId, status },
  );
}

/**
 * Keeps the answer as a replay gives it; sealed, beside what the receipt shows, where a replay repeats a
 * secret.
 */
function settledReceipt(
  ctx: Context,
  request: WriteRequest,
  operationId: string,
  { status, body, replay, shown, scope }: WriteResult,
): SettledReceipt {
  const answer = JSON.stringify(replay ?? body);
  return {
    ...request,
    orgId: request.principal.orgId,
    actorId: request.principal.actorId,
    id: operationId,
    projectId: scope?.projectId ?? request.projectId,
    published: request.direct && scope?.feed !== 'platform',
    responseStatus: status,
    response: shown ? JSON.stringify(shown) : answer,
    responseSealed: shown ? sealAnswer(ctx, request, answer) : null,
  };
}

/** Frees the key of a receipt that is in the way. */
async function forget(tx: Tx, found: Found): Promise<void> {
  await tx.db.deleteFrom('operations').where('id', '=', found.id).execute();
}

/**
 * One write in one transaction, or the replay of an earlier one. Throws ApiError: a refusal that settles is
 * stored first, so that its replay is the same.
 */
export async function writeOnce(
  ctx: Context,
  request: WriteRequest,
  write: (tx: Tx, receipt: Receipt) => Promise<WriteResult>,
): Promise<Answer> {
  const operationId = newId('op');
  return inTurn(ctx, request, async (turn) => {
    try {
      return await transaction(ctx, async (tx) => {
        const { answer, found } = await takeKey(ctx, tx, request, operationId);
        if (answer) return answer;
        turn.hold(operationId);
        if (found) await forget(tx, found);
        let isPublished = false;
        const receipt: Receipt = {
          operationId,
          publish: (t, scope) => {
            isPublished = true;
            publish(t, request, operationId, 'succeeded', scope);
          },
        };
        const result = await write(tx, receipt);
        tx.receipt = settledReceipt(ctx, request, operationId, result);
        if (!isPublished) publish(tx, request, operationId, 'succeeded', result.scope);
        return { status: result.status, text: JSON.stringify(result.body), operationId, replayed: false };
      });
    } catch (error) {
      if (!(error instanceof ApiError) || !settles(error)) throw error;
      return await refuse(ctx, request, operationId, error);
    }
  });
}

/**
 * Stores a refusal that settles. It is published where its pending was: when a retry that took a claim over
 * is refused.
 */
async function refuse(
  ctx: Context,
  request: WriteRequest,
  operationId: string,
  error: ApiError,
): Promise<Answer> {
  const result = { status: error.status, body: error.body(request.requestId) };
  const text = JSON.stringify(result.body);
  return transaction(ctx, async (tx) => {
    const { answer, found } = await takeKey(ctx, tx, request, operationId);
    if (answer) return answer;
    if (found?.status === 'pending') {
      await settle(tx, found.id, found.fence, result);
      return { status: error.status, text, operationId: found.id, replayed: false };
    }
    if (found) await forget(tx, found);
    tx.receipt = settledReceipt(ctx, request, operationId, result);
    return { status: error.status, text, operationId, replayed: false };
  });
}

/** Thrown by the work of an `outside` claim: the effect may have happened or not. */
export class OutcomeUnknown extends Error {}

/**
 * A write with work outside of a transaction: claims the key, runs `work`, which settles the claim in its
 * own last transaction and returns the same result. A refusal settles or releases the key.
 */
export async function writeClaimed(
  ctx: Context,
  request: WriteRequest,
  options: ClaimOptions,
  work: (claim: Claim) => Promise<WriteResult>,
): Promise<Answer> {
  return inTurn(ctx, request, async (turn) => {
    const began = performance.now();
    const { answer, claimed } = await claimKey(ctx, request, newId('op'), options);
    if (!claimed) return answer;
    turn.hold(claimed.operationId);
    turn.setPending();
    const lease = holdLease(ctx, claimed, options.mode === 'job' ? null : { began });
    try {
      return await workOn(
        ctx,
        request,
        { ...claimed, mode: options.mode, publishesPending: options.publishesPending, signal: lease.signal },
        work,
      );
    } finally {
      lease.release();
    }
  });
}

interface Claimed {
  operationId: string;
  fence: number;
  scope: EventScope | undefined;
}

/**
 * Commits the claim; or answers for an earlier request, or by a refusal of the claim's own transaction,
 * which settles like any.
 */
async function claimKey(
  ctx: Context,
  request: WriteRequest,
  newOperationId: string,
  options: ClaimOptions,
): Promise<{ claimed: Claimed; answer?: never } | { claimed?: never; answer: Answer }> {
  try {
    return await transaction(ctx, async (tx) => {
      const { answer, found } = await takeKey(ctx, tx, request, newOperationId);
      if (answer) return { answer };
      const takenOver = found?.status === 'pending' ? found : undefined;
      if (found && !takenOver) await forget(tx, found);
      const operationId = takenOver?.id ?? newOperationId;
      const fence = (takenOver?.fence ?? 0) + 1;
      const scope = (await options.onClaim?.(tx, operationId)) ?? options.scope;
      const row = {
        org_id: request.principal.orgId,
        id: operationId,
        actor_id: request.principal.actorId,
        idempotency_key: request.key,
        fingerprint: request.fingerprint,
        method: request.method,
        path: request.path,
        project_id: scope?.projectId ?? request.projectId,
        permissions: request.permissions,
        published: request.direct && scope?.feed !== 'platform',
        fence,
        ...claimColumns(options),
      };
      if (takenOver) await takeOver(tx, takenOver, row);
      else await tx.db.insertInto('operations').values(row).execute();
      if (options.publishesPending && !takenOver) publish(tx, request, operationId, 'pending', scope);
      return { claimed: { operationId, fence, scope } };
    });
  } catch (error) {
    if (error instanceof ApiError && settles(error))
      return { answer: await refuse(ctx, request, newOperationId, error) };
    throw error;
  }
}

const claimColumns = ({
  mode,
  look,
}: ClaimOptions): {
  status: 'pending';
  lease_until: RawBuilder<Date> | null;
  look_name: string | null;
  look_target: RawBuilder<Record<string, unknown>> | null;
} => ({
  status: 'pending',
  lease_until: mode === 'job' ? null : sql<Date>`clock_timestamp() + ${LEASE_SECONDS} * interval '1 second'`,
  look_name: look?.name ?? null,
  look_target: look ? json(look.target) : null,
});

/** Throws when the claim was settled between our look and our lock. */
async function takeOver(tx: Tx, found: Found, row: Insertable<OperationsTable>): Promise<void> {
  const taken = await tx.db
    .updateTable('operations')
    .set(row)
    .where('id', '=', found.id)
    .where('fence', '=', found.fence)
    .where('status', '=', 'pending')
    .executeTakeFirst();
  if (taken.numUpdatedRows === 0n) throw inProgress(found.id);
}

/** Runs the work on a claim, and sees to it that the claim does not stay behind. */
async function workOn(
  ctx: Context,
  request: WriteRequest,
  claim: Claimed & Pick<ClaimOptions, 'mode' | 'publishesPending'> & { signal: AbortSignal },
  work: (claim: Claim) => Promise<WriteResult>,
): Promise<Answer> {
  const { operationId, fence, scope, mode, signal } = claim;
  try {
    const result = await work({
      operationId,
      signal,
      settle: (tx, r) => settle(tx, operationId, fence, r, scope ?? r.scope),
    });
    return { status: result.status, text: JSON.stringify(result.body), operationId, replayed: false };
  } catch (error) {
    const known = error instanceof ApiError ? Object.assign(error, { operationId }) : error;
    // A job-backed claim is its job's to settle, whatever became of the one who waited.
    if (mode === 'job') throw known;
    if (error instanceof OutcomeUnknown) {
      await transaction(ctx, (tx) => makeUncertain(tx, operationId, fence));
      throw Object.assign(
        new ApiError(
          'unavailable',
          'It is not known yet whether this was done. Read its operation until it has settled.',
          { details: { operationId }, cause: error.cause },
        ),
        { operationId },
      );
    }
    const refusal =
      error instanceof ApiError
        ? error
        : new ApiError('internal', 'Something failed on our side. Retry with the same Idempotency-Key.', {
            cause: error,
          });
    await refuseClaim(ctx, request, claim, refusal);
    throw known;
  }
}

/**
 * Settles an open claim in the caller's transaction; `fence` undefined = whichever (a job that owns the
 * operation). `isReserved` false frees the key: what was asked for was certainly not done.
 */
export async function settle(
  tx: Tx,
  operationId: string,
  fence: number | undefined,
  result: WriteResult,
  scope?: EventScope,
  isReserved = true,
): Promise<void> {
  if (result.shown) throw new Error('only a write in one transaction may have a secret in its replay');
  let update = tx.db
    .updateTable('operations')
    .set({
      status: result.status < 400 ? 'succeeded' : 'failed',
      response_status: result.status,
      response: JSON.stringify(result.replay ?? result.body),
      settled_at: sql<Date>`clock_timestamp()`,
      reserved_until: isReserved ? RESERVED : null,
      lease_until: null,
    })
    .where('id', '=', operationId)
    .where('status', 'in', ['pending', 'uncertain']);
  if (fence !== undefined) update = update.where('fence', '=', fence);
  const row = await update.returning(['org_id', 'project_id', 'published', 'status']).executeTakeFirst();
  if (!row)
    throw new ApiError('request_in_progress', 'A retry of this request took it over.', {
      details: { operationId },
    });
  tx.wake('operations', operationId);
  if (row.published && scope?.feed !== 'platform')
    appendEvent(tx, { orgId: row.org_id, projectId: row.project_id, feed: 'direct' }, 'operation.updated', {
      id: operationId,
      status: row.status,
    });
}

/** From now on nobody but a look settles it; nothing happens when that is so already. It is due at once. */
export async function makeUncertain(tx: Tx, operationId: string, fence: number): Promise<void> {
  const row = await tx.db
    .updateTable('operations')
    .set({
      status: 'uncertain',
      fence: fence + 1,
      uncertain_at: sql<Date>`clock_timestamp()`,
      lease_until: sql<Date>`clock_timestamp()`,
    })
    .where('id', '=', operationId)
    .where('fence', '=', fence)
    .where('status', '=', 'pending')
    .returning(['org_id', 'project_id', 'published'])
    .executeTakeFirst();
  if (!row) return;
  tx.wake('operations', operationId);
  if (row.published)
    appendEvent(tx, { orgId: row.org_id, projectId: row.project_id, feed: 'direct' }, 'operation.updated', {
      id: operationId,
      status: 'uncertain',
    });
}

async function refuseClaim(
  ctx: Context,
  request: WriteRequest,
  { operationId, fence, scope, publishesPending }: Claimed & { publishesPending: boolean },
  error: ApiError,
): Promise<void> {
  const text = JSON.stringify(error.body(request.requestId));
  await transaction(ctx, async (tx) => {
    const isKept = settles(error);
    // A released key leaves no reservation: the row stays, failed, so that its operation can still be read.
    const row = await tx.db
      .updateTable('operations')
      .set({
        status: 'failed',
        response_status: error.status,
        response: text,
        settled_at: sql<Date>`clock_timestamp()`,
        reserved_until: isKept ? RESERVED : null,
        lease_until: null,
      })
      .where('id', '=', operationId)
      .where('fence', '=', fence)
      .where('status', '=', 'pending')
      .returning('published')
      .executeTakeFirst();
    if (row?.published && publishesPending) publish(tx, request, operationId, 'failed', scope);
    tx.wake('operations', operationId);
  });
}
