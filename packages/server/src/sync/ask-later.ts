import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import { enqueue } from '../jobs/enqueue.ts';
import type { JobKinds, Turn } from '../jobs/enqueue.ts';
import type { Job } from '../jobs/job.ts';
import { ProviderError } from '../scm/index.ts';

type Kind = 'pull-request.follow-base' | 'pull-request.comment' | 'pull-request.reply' | 'task.title';

/** Delays in seconds before a provider that was unavailable is asked again, for a day. */
const SECONDS = [5, 30, 120, 300];
const TRIES = 290;

interface Asked<K extends Kind> {
  kind: K;
  row: Turn;
  key?: string;
}

/** Ends a job that failed at a provider. If the provider was unavailable, enqueues a retry; otherwise throws. */
export async function askLater<K extends Kind>(
  ctx: Context,
  job: Pick<Job<K>, 'fence' | 'payload'>,
  { kind, row, key }: Asked<K>,
  error: unknown,
): Promise<void> {
  const { tries = 0 } = job.payload;
  const isAway = error instanceof ProviderError && error.fault.code === 'unavailable';
  if (!isAway || tries === TRIES) throw error;
  const delaySeconds = SECONDS[Math.min(tries, SECONDS.length - 1)]!;
  const payload: JobKinds[K] = { ...job.payload, tries: tries + 1 };
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    await enqueue(tx, kind, payload, { ...(key === undefined ? {} : { key }), turnOf: row, delaySeconds });
  });
}
