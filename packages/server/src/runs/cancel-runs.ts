/** Runs that end because of their thread, not by their own turn. */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { RunRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { returnUntaken } from '../messages/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import { finishRun } from './finish-run.ts';
import type { RunError } from './schemas.ts';
import { openRuns, queuedRuns } from './store.ts';

/**
 * Cancels the open runs of a locked thread in the caller's transaction (archive, delete), or the queued
 * ones only (stop), or one. A worker that drives one notices and kills its sandbox. Messages that joined one are
 * cancelled with it.
 */
export async function cancelRuns(
  tx: Tx,
  loaded: LoadedThread,
  which: 'all' | 'queued' | { runId: string },
): Promise<RunRow[]> {
  const runs = await lockRuns(
    tx,
    loaded.thread.id,
    which === 'all'
      ? openRuns
      : which === 'queued'
        ? queuedRuns
        : sql<boolean>`${openRuns} and runs.id = ${which.runId}`,
  );
  for (const run of runs)
    await finishRun(tx, loaded, run, {
      status: 'cancelled',
      reply: run.status === 'queued' ? null : '[interrupted]',
    });
  if (!runs.length) return runs;
  await returnUntaken(
    tx,
    runs.map((run) => run.id),
  );
  tx.wake('control', loaded.thread.id);
  return runs;
}

/** Ends the queued runs of a locked thread whose workspace cannot be prepared; returns how many. */
export async function failQueuedRuns(
  tx: Tx,
  loaded: LoadedThread,
  error: { code: RunError; message: string },
): Promise<number> {
  const runs = await lockRuns(tx, loaded.thread.id, queuedRuns);
  for (const run of runs) await finishRun(tx, loaded, run, { status: 'failed', reply: null, error });
  return runs.length;
}

const lockRuns = (tx: Tx, threadId: string, which: RawBuilder<boolean>): Promise<RunRow[]> =>
  tx.db
    .selectFrom('runs')
    .selectAll()
    .where('thread_id', '=', threadId)
    .where(which)
    .orderBy('id')
    .forUpdate()
    .execute();
