/**
 * Locks a key and reads its receipt, in one round trip (the function `take_key` of migration 0003).
 *
 * The lock's holder shows its operation's id as its connection's application_name: a rival in another
 * process can name the operation that it met, although nothing of it is committed yet.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { seesProject } from '../http/principal.ts';
import type { Context } from '../context.ts';
import { prepared } from '../db/prepared.ts';
import type { OperationRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { ApiError, notFound } from '../http/errors.ts';
import { isFingerprintOf } from './fingerprint.ts';
import { unsealAnswer } from './sealed-answer.ts';
import { isOpen } from './state.ts';
import type { Answer, WriteRequest } from '../http/write-request.ts';

const LOCK_TRIES = 50;
const LOCK_RETRY_MS = 20;
/** How long a rival waits for a write that is one transaction, in this process or another. */
export const RIVAL_MS = LOCK_TRIES * LOCK_RETRY_MS;

export const conflict = () =>
  new ApiError(
    'idempotency_conflict',
    'This Idempotency-Key was used for another request. Use a new key for a new operation.',
  );
export const inProgress = (operationId: string) =>
  new ApiError(
    'request_in_progress',
    'A request with this Idempotency-Key is still in progress. Read its operation, or retry in a moment.',
    { details: { operationId } },
  );

export type Found = Pick<
  OperationRow,
  | 'id'
  | 'fingerprint'
  | 'status'
  | 'fence'
  | 'response_status'
  | 'response'
  | 'response_sealed'
  | 'project_id'
  | 'look_name'
> & {
  /**
   * Settled, and its reservation is over (or there was none): the key is free. On the database's clock, as
   * all of these times.
   */
  is_over: boolean;
  is_lease_over: boolean;
};

const lockKey = (r: WriteRequest) =>
  createHash('sha256')
    .update(`${r.principal.orgId}\n${r.principal.actorId}\n${r.key}`)
    .digest()
    .readBigInt64BE(0)
    .toString();

const TAKE_KEY = prepared<{ held: boolean } & (Found | { [K in keyof Found]: null })>(
  'take_key',
  'select held, id, fingerprint, status, fence, response_status, response, response_sealed, project_id, look_name, is_over, is_lease_over from take_key($1, $2, $3, $4, $5)',
);

/**
 * Takes the key for `operationId`. The answer of an earlier request, or the receipt that is in the way: one
 * that is over, or a staged claim whose lease is. Throws `idempotency_conflict`, and `request_in_progress`
 * when somebody else is at it: another process may hold the lock for the length of one transaction, so it
 * is tried for a second.
 */
export async function takeKey(
  ctx: Pick<Context, 'secretKey'>,
  tx: Tx,
  request: WriteRequest,
  operationId: string,
): Promise<{ answer?: Answer; found?: Found }> {
  const key = lockKey(request);
  for (let tries = 1; ; tries++) {
    const {
      rows: [row],
    } = await tx.db.executeQuery(
      TAKE_KEY([key, operationId, request.principal.orgId, request.principal.actorId, request.key]),
    );
    const found = row!.id === null ? undefined : (row as Found);
    // What is decided needs no lock.
    const answer = found && answerOf(ctx, found, request);
    if (answer) return { answer };
    if (row!.held) return found ? { found } : {};
    const rival = tries < LOCK_TRIES ? undefined : await holderOf(tx, key);
    // Its last holder may have gone at this moment.
    if (rival !== undefined || tries >= 2 * LOCK_TRIES) throw inProgress(rival ?? operationId);
    await sleep(LOCK_RETRY_MS);
  }
}

/** What an existing receipt answers; undefined when this request may have the key. */
function answerOf(ctx: Pick<Context, 'secretKey'>, found: Found, request: WriteRequest): Answer | undefined {
  if (found.is_over) return undefined;
  if (!isFingerprintOf(ctx, found.fingerprint, request)) throw conflict();
  requireSight(found, request);
  // Only a staged claim is taken over: what an outside effect became is not known before it was looked at.
  if (found.status === 'pending' && found.is_lease_over && found.look_name === null) return undefined;
  if (isOpen(found.status)) throw inProgress(found.id);
  return {
    status: found.response_status!,
    text: found.response_sealed ? unsealAnswer(ctx, request, found.response_sealed) : found.response!,
    operationId: found.id,
    replayed: true,
  };
}

/**
 * A Direct path does not name its project: a key that has lost it since gets the refusal that the write
 * itself would give, no replay.
 */
function requireSight(found: Found, request: WriteRequest): void {
  if (found.project_id === null || seesProject(request.principal, found.project_id)) return;
  throw notFound(request.path.startsWith('/api/threads/') ? 'thread' : 'project');
}

/** The operation of the connection that holds the key's lock; undefined when none does now. */
async function holderOf(tx: Tx, key: string): Promise<string | undefined> {
  const { rows } = await sql<{ operation: string }>`
    select a.application_name as operation from pg_locks l join pg_stat_activity a on a.pid = l.pid
    where l.locktype = 'advisory' and l.granted and l.objsubid = 1 and (l.classid::bigint << 32 | l.objid::bigint) = ${key}::bigint
      and l.database = (select oid from pg_database where datname = current_database()) and a.application_name like 'op\\_%'`.execute(
    tx.db,
  );
  return rows[0]?.operation;
}
