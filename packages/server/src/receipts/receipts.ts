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
import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import type { SettledReceipt, Tx } from '../db/transaction.ts';
import { ApiError, settles } from '../http/errors.ts';
import { newId } from '../ids.ts';
import { keptFingerprint } from './fingerprint.ts';
import { inTurn } from './rivals.ts';
import { sealAnswer } from './sealed-answer.ts';
import { publishOperation, publishRefusal, settle } from './settle.ts';
import { deleteReceipt, findConcerned } from './store.ts';
import { takeKey } from './take-key.ts';
import type { Answer, Receipt, WriteRequest, WriteResult } from '../http/write-request.ts';

/**
 * Keeps the answer as a replay gives it; sealed, next to what the receipt shows, where a replay repeats a
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
    fingerprint: keptFingerprint(ctx, request),
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
        if (found) await deleteReceipt(tx, found.id);
        let isPublished = false;
        const receipt: Receipt = {
          operationId,
          publish: (t, scope) => {
            isPublished = true;
            publishOperation(t, request, { id: operationId, status: 'succeeded', scope });
          },
        };
        const result = await write(tx, receipt);
        tx.receipt = settledReceipt(ctx, request, operationId, result);
        if (!isPublished)
          publishOperation(tx, request, { id: operationId, status: 'succeeded', scope: result.scope });
        return { status: result.status, text: JSON.stringify(result.body), operationId, replayed: false };
      });
    } catch (error) {
      if (!(error instanceof ApiError) || !settles(error)) throw error;
      return await refuse(ctx, request, operationId, error);
    }
  });
}

/** Stores a refusal that settles, and publishes it where the write would have been. */
export async function refuse(
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
      await settle(tx, { operationId: found.id, fence: found.fence }, result);
      return { status: error.status, text, operationId: found.id, replayed: false };
    }
    if (found) await deleteReceipt(tx, found.id);
    const concerned = request.direct ? await findConcerned(tx, request) : undefined;
    tx.receipt = settledReceipt(ctx, request, operationId, { ...result, ...concerned });
    if (concerned) publishRefusal(tx, operationId, concerned);
    return { status: error.status, text, operationId, replayed: false };
  });
}
