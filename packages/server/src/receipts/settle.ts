/** Settles claims, in the transaction of the caller that knows the answer, and publishes their operations. */
import { appendEvent } from '../db/transaction.ts';
import type { EventScope, Tx } from '../db/transaction.ts';
import { ApiError } from '../http/errors.ts';
import type { ReceiptStatus } from './state.ts';
import { loseReceipt, settleReceipt } from './store.ts';
import type { ClaimId, Concerned, PublishedRow } from './store.ts';
import type { WriteRequest, WriteResult } from '../http/write-request.ts';

/** The operation's event, where it is published at all. Called once per status. */
export function publishOperation(
  tx: Tx,
  request: WriteRequest,
  { id, status, scope }: { id: string; status: ReceiptStatus; scope?: EventScope | undefined },
): void {
  if (!request.direct || scope?.feed === 'platform') return;
  appendEvent(
    tx,
    {
      orgId: request.principal.orgId,
      projectId: scope ? scope.projectId : request.projectId,
      threadId: threadOf(request.path),
      feed: 'direct',
    },
    'operation.updated',
    { id, status },
  );
}

/** The event of a refusal: with the project and thread that were found, which may be none. */
export function publishRefusal(tx: Tx, operationId: string, { scope, threadId }: Concerned): void {
  if (scope.feed === 'platform') return;
  appendEvent(tx, { ...scope, threadId }, 'operation.updated', { id: operationId, status: 'failed' });
}

/** The thread that a Direct path names. */
const threadOf = (path: string): string | null => /^\/api\/threads\/(thr_\w+)/.exec(path)?.[1] ?? null;

function publishRow(tx: Tx, id: string, row: PublishedRow): void {
  const scope = {
    orgId: row.org_id,
    projectId: row.project_id,
    threadId: threadOf(row.path),
    feed: 'direct' as const,
  };
  appendEvent(tx, scope, 'operation.updated', { id, status: row.status });
}

interface SettleOptions {
  /** The project that the write concerned. */
  scope?: EventScope | undefined;
  /** False frees the key: what was asked for was certainly not done. */
  isReserved?: boolean;
}

/**
 * Settles an open claim in the caller's transaction. Without a fence any owner may: for a job that owns
 * the operation.
 */
export async function settle(
  tx: Tx,
  claim: { operationId: string; fence?: number },
  result: WriteResult,
  { scope, isReserved = true }: SettleOptions = {},
): Promise<void> {
  if (result.shown) throw new Error('only a write in one transaction may have a secret in its replay');
  const { operationId } = claim;
  const response = JSON.stringify(result.replay ?? result.body);
  const row = await settleReceipt(tx, claim, { status: result.status, response, isReserved });
  if (!row)
    throw new ApiError('request_in_progress', 'A retry of this request took it over.', {
      details: { operationId },
    });
  tx.wake('operations', operationId);
  if (row.published && scope?.feed !== 'platform') publishRow(tx, operationId, row);
}

/** From now on only a look settles it, which is due at once. Does nothing where that is so already. */
export async function makeUncertain(tx: Tx, claim: ClaimId): Promise<void> {
  const row = await loseReceipt(tx, claim);
  if (!row) return;
  tx.wake('operations', claim.operationId);
  if (row.published) publishRow(tx, claim.operationId, row);
}
