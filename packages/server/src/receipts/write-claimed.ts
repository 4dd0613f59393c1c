/** Writes with work outside of a transaction; see the header of receipts.ts. */
import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import type { EventScope, Tx } from '../db/transaction.ts';
import { ApiError, settles } from '../http/errors.ts';
import { newId } from '../ids.ts';
import { keptFingerprint } from './fingerprint.ts';
import { holdLease } from './lease.ts';
import { refuse } from './receipts.ts';
import { inTurn } from './rivals.ts';
import { makeUncertain, publishOperation, settle } from './settle.ts';
import { deleteReceipt, findConcerned, insertClaim, refuseReceipt, takeClaimOver } from './store.ts';
import type { ClaimId } from './store.ts';
import { inProgress, takeKey } from './take-key.ts';
import type { Answer, Claim, ClaimOptions, WriteRequest, WriteResult } from '../http/write-request.ts';

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

interface Claimed extends ClaimId {
  scope: EventScope | undefined;
}

/** A Direct path may name an app, or a project that is not for the caller to see. */
async function scopeOfNamed(tx: Tx, request: WriteRequest): Promise<EventScope | undefined> {
  return request.direct && request.names.projectId !== null
    ? (await findConcerned(tx, request)).scope
    : undefined;
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
      if (found && !takenOver) await deleteReceipt(tx, found.id);
      const operationId = takenOver?.id ?? newOperationId;
      const fence = (takenOver?.fence ?? 0) + 1;
      const scope =
        (await options.onClaim?.(tx, operationId)) ?? options.scope ?? (await scopeOfNamed(tx, request));
      const claim = {
        org_id: request.principal.orgId,
        id: operationId,
        actor_id: request.principal.actorId,
        idempotency_key: request.key,
        fingerprint: keptFingerprint(ctx, request),
        method: request.method,
        path: request.path,
        project_id: scope ? scope.projectId : request.projectId,
        permissions: request.permissions,
        published: request.direct && scope?.feed !== 'platform',
        fence,
        isLeased: options.mode !== 'job',
        look: options.look,
      };
      if (!takenOver) await insertClaim(tx, claim);
      else if (!(await takeClaimOver(tx, { operationId, fence: takenOver.fence }, claim)))
        throw inProgress(operationId);
      if (options.publishesPending && !takenOver)
        publishOperation(tx, request, { id: operationId, status: 'pending', scope });
      return { claimed: { operationId, fence, scope } };
    });
  } catch (error) {
    if (error instanceof ApiError && settles(error))
      return { answer: await refuse(ctx, request, newOperationId, error) };
    throw error;
  }
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
      settle: (tx, r) => settle(tx, { operationId, fence }, r, { scope: scope ?? r.scope }),
    });
    return { status: result.status, text: JSON.stringify(result.body), operationId, replayed: false };
  } catch (error) {
    const known = error instanceof ApiError ? Object.assign(error, { operationId }) : error;
    // A job-backed claim is its job's to settle, whatever became of the one who waited.
    if (mode === 'job') throw known;
    if (error instanceof OutcomeUnknown) {
      await transaction(ctx, (tx) => makeUncertain(tx, { operationId, fence }));
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

async function refuseClaim(
  ctx: Context,
  request: WriteRequest,
  { operationId, fence, scope, publishesPending }: Claimed & { publishesPending: boolean },
  error: ApiError,
): Promise<void> {
  const response = JSON.stringify(error.body(request.requestId));
  await transaction(ctx, async (tx) => {
    const row = await refuseReceipt(
      tx,
      { operationId, fence },
      { status: error.status, response, isReserved: settles(error) },
    );
    if (row?.published && (publishesPending || settles(error)))
      publishOperation(tx, request, { id: operationId, status: 'failed', scope });
    tx.wake('operations', operationId);
  });
}
