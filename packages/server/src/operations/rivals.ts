/** Writes under way in this process: a rival learns their operation and payload without the database. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../context.ts';
import { conflict, inProgress, RIVAL_MS } from './take-key.ts';
import type { WriteRequest } from './write-request.ts';

interface UnderWay {
  /** What the write's operation will be, unless the write turns out to be a replay. */
  operationId: string;
  fingerprint: Buffer;
  /** `pending` once the operation can be read as such; `over` when the write has ended, whatever its answer was. */
  state: Promise<'pending' | 'over'>;
}

export interface Turn {
  /** The operation can be read as pending from now on. */
  setPending(operationId: string): void;
  /** Has to be called, whatever became of the write. */
  end(): void;
}

const underWay = new WeakMap<Context['db'], Map<string, UnderWay>>();

/**
 * The turn of a write among those of its key in this process. A rival with another payload is refused at once, one with the same as soon
 * as it can read the operation that it is told of. A write that is one transaction is waited for, as `takeKey` waits for other processes:
 * it may be a replay itself, and its operation one that never exists. Those who wait go on one after the other.
 */
export async function takeTurn(ctx: Pick<Context, 'db'>, request: WriteRequest, operationId: string): Promise<Turn> {
  const writes = underWay.get(ctx.db) ?? new Map<string, UnderWay>();
  underWay.set(ctx.db, writes);
  const name = `${request.principal.orgId} ${request.principal.actorId} ${request.key}`;
  const patience = new AbortController();
  let late: Promise<'late'> | undefined;
  // No await stands between the last look and the entry: two that waited for the same write must not both go on.
  for (let rival = writes.get(name); rival; rival = writes.get(name)) {
    late ??= sleep(RIVAL_MS, 'late' as const, { ref: false, signal: patience.signal }).catch(() => 'late');
    const isOver = rival.fingerprint.equals(request.fingerprint) && await Promise.race([rival.state, late]) === 'over';
    if (isOver) continue;
    patience.abort();
    throw rival.fingerprint.equals(request.fingerprint) ? inProgress(rival.operationId) : conflict();
  }
  patience.abort();
  const { promise, resolve } = Promise.withResolvers<'pending' | 'over'>();
  const entry: UnderWay = { operationId, fingerprint: request.fingerprint, state: promise };
  writes.set(name, entry);
  return {
    setPending(id) {
      entry.operationId = id;
      resolve('pending');
    },
    end() {
      writes.delete(name);
      resolve('over');
    },
  };
}
