/** One attempt at a claimed job, from its handler to what becomes of its row. */
import type { Logger } from 'pino';
import type { Bus } from '../bus.ts';
import type { Db } from '../db/database.ts';
import type { JobRow } from '../db/schema.ts';
import { LostJob } from './job.ts';
import type { Job } from './job.ts';
import { deleteJob, isAttemptOurs, lockAttempt, putOffJob, retryJob } from './store.ts';

const MAX_FAILURES = 8;

/** Of whatever kind: the row's kind says which payload its handler gets. */
export interface AnyHandling {
  run: (job: Job) => Promise<void>;
  onDead?: (payload: unknown, error: unknown) => Promise<void>;
}

interface JobContext {
  db: Db;
  bus: Bus;
  log: Logger;
}

/**
 * Calls the handler; then the job is deleted, or queued again where it threw. Never rejects.
 */
export async function attemptJob(
  ctx: JobContext,
  row: JobRow,
  handling: AnyHandling,
  { signal, setWaiting }: Pick<Job, 'signal' | 'setWaiting'>,
): Promise<void> {
  try {
    await handling.run({
      id: row.id,
      attempt: row.attempt,
      claimedAt: row.claimed_at!.getTime(),
      enqueuedAt: row.created_at,
      failures: row.failures,
      payload: row.payload as never,
      fence: async (tx) => {
        if (!(await lockAttempt(tx, row))) throw new LostJob(`job ${row.id} was taken over`);
      },
      putOff: async (tx, waitsFor, delaySeconds) => {
        if (!(await putOffJob(tx, row, { waitsFor, delaySeconds })))
          throw new LostJob(`job ${row.id} was taken over`);
      },
      signal,
      setWaiting,
    });
    if (signal.aborted) return;
    await deleteJob(ctx.db, row);
    ctx.bus.notify('jobs');
  } catch (error) {
    if (error instanceof LostJob || signal.aborted) return;
    await failJob(ctx, row, handling, error).catch((err: unknown) =>
      ctx.log.error({ err, job: row.id }, 'a failed job could not be recorded'),
    );
  }
}

/** Thrown by a handler that cannot do here what another worker may. */
const isForOthers = (error: unknown) => error instanceof Error && 'isForOthers' in error;

async function failJob(ctx: JobContext, row: JobRow, { onDead }: AnyHandling, error: unknown): Promise<void> {
  const failures = row.failures + 1;
  ctx.log.warn({ err: error, job: row.id, kind: row.kind, failures }, 'job failed');
  if (failures < MAX_FAILURES) {
    const delaySeconds = Math.min(30, 0.2 * 2 ** row.failures) * (0.75 + Math.random() / 2);
    const leftBy = isForOthers(error) ? row.worker_id : null;
    await retryJob(ctx.db, row, { failures, error, delaySeconds, leftBy });
    return;
  }
  // A later attempt decides by itself what becomes of the job.
  if (!(await isAttemptOurs(ctx.db, row))) return;
  await onDead?.(row.payload, error);
  await deleteJob(ctx.db, row);
}
