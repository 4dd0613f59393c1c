/** Writes under way in this process: a rival learns their operation and payload without the database. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../context.ts';
import { ApiError } from '../http/errors.ts';
import { conflict, inProgress, RIVAL_MS } from './take-key.ts';
import type { WriteRequest } from '../http/write-request.ts';

interface UnderWay {
  fingerprint: Buffer;
  /** Its operation, once it has the key and is no replay. */
  operationId: string | undefined;
  /** The operation in another process that it was refused for. */
  blockedBy: string | undefined;
  /**
   * `pending` once the operation can be read as such; `over` when the write has ended, whatever its answer
   * was.
   */
  state: Promise<'pending' | 'over'>;
}

export interface Turn {
  /** This write has the key; its operation will be this one. */
  hold(operationId: string): void;
  /** The operation can be read as pending from now on. */
  setPending(): void;
}

const underWay = new WeakMap<Context['db'], Map<string, UnderWay>>();

/**
 * Runs the writes with one key in this process one after the other. A rival with another payload is refused
 * at once. One with the same payload is refused as soon as the operation that its refusal names can be read.
 * A write that is one transaction is waited for, as `takeKey` waits for other processes, since it may be a
 * replay itself.
 */
export async function inTurn<T>(
  ctx: Pick<Context, 'db'>,
  request: WriteRequest,
  write: (turn: Turn) => Promise<T>,
): Promise<T> {
  const writes = underWay.get(ctx.db) ?? new Map<string, UnderWay>();
  underWay.set(ctx.db, writes);
  const name = `${request.principal.orgId} ${request.principal.actorId} ${request.key}`;
  let patience: Promise<'late'> | undefined;
  // There is no await between the last look and the entry: of those that waited for one write, one goes on.
  for (let rival = writes.get(name); rival; rival = writes.get(name))
    await meet(rival, request, (patience ??= sleep(RIVAL_MS, 'late' as const, { ref: false })));
  const { promise, resolve } = Promise.withResolvers<'pending' | 'over'>();
  const entry: UnderWay = {
    fingerprint: request.fingerprint,
    operationId: undefined,
    blockedBy: undefined,
    state: promise,
  };
  writes.set(name, entry);
  try {
    return await write({
      hold: (operationId) => {
        entry.operationId = operationId;
      },
      setPending: () => resolve('pending'),
    });
  } catch (error) {
    if (entry.operationId === undefined && error instanceof ApiError && error.code === 'request_in_progress')
      entry.blockedBy = error.details.operationId as string;
    throw error;
  } finally {
    writes.delete(name);
    resolve('over');
  }
}

/** Returns when the rival's write is over: its receipt can be read then. Refuses once that takes too long. */
async function meet(rival: UnderWay, request: WriteRequest, patience: Promise<'late'>): Promise<void> {
  if (!rival.fingerprint.equals(request.fingerprint)) throw conflict();
  let state = await Promise.race([rival.state, patience]);
  // It waits for another process itself, a second at most: then it knows for whom.
  if (state === 'late' && rival.operationId === undefined) state = await rival.state;
  if (rival.blockedBy !== undefined) throw inProgress(rival.blockedBy);
  if (state !== 'over') throw inProgress(rival.operationId!);
}
