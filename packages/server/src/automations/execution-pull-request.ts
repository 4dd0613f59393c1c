/**
 * The pull request of an execution whose run has completed: decided and stored on the execution, then opened, then
 * recorded with the execution's end. An attempt that finds a stored decision first looks for the result of a lost
 * attempt, so that no second pull request is opened.
 */
import type { Context } from '../context.ts';
import { json } from '../db/schema.ts';
import type { ExecutionRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { mayBegin } from '../http/capabilities.ts';
import { ApiError } from '../http/errors.ts';
import { enqueue } from '../jobs/enqueue.ts';
import type { Job } from '../jobs/job.ts';
import { ProviderError } from '../scm/index.ts';
import { decideOpening, decideRecord, opening } from '../sync/index.ts';
import type { Opening } from '../sync/index.ts';
import { lockThreadById } from '../threads/index.ts';
import { endExecution } from './end-execution.ts';
import type { End } from './end-execution.ts';
import { executionKey } from './enqueue.ts';
import { lockExecution, writeExecution } from './execution-store.ts';

type ExecuteJob = Job<'automation.execute'>;

/** Delays of retries while the provider is unavailable or the thread's pull requests are busy: an hour in total. */
const SECONDS = [2, 5, 15, 30];
const TRIES = 120;

export async function openPullRequest(ctx: Context, job: ExecuteJob, row: ExecutionRow): Promise<void> {
  try {
    const stored = isDecided(row.opening) ? row.opening : null;
    const target = stored ?? (await decide(ctx, job, row));
    if (!target) return;
    const mark = { operationId: row.id, signal: job.signal };
    const opened =
      (stored && (await opening.look(ctx, target, mark))) ?? (await opening.act(ctx, target, mark));
    await transaction(ctx, async (tx) => {
      await job.fence(tx);
      await opening.record(tx, target, opened);
      await end(tx, row, { event: 'complete', pullRequestId: target.id });
    });
  } catch (error) {
    if (isTemporary(error) && (job.payload.tries ?? 0) < TRIES) return askLater(ctx, job, row);
    if (!(error instanceof ApiError || error instanceof ProviderError)) throw error;
    await transaction(ctx, async (tx) => {
      await job.fence(tx);
      await end(tx, row, endOfRefusal(error));
    });
  }
}

/** True for a full decision, not only the reservation. */
const isDecided = (stored: ExecutionRow['opening']): stored is Opening => stored?.['branch'] !== undefined;

/** Null if nothing is to be opened, and the execution has ended. */
async function decide(ctx: Context, job: ExecuteJob, row: ExecutionRow): Promise<Opening | null> {
  if (!(await mayBegin(ctx, row.org_id, 'sourceControl'))) throw withoutSourceControl();
  return transaction(ctx, async (tx) => {
    await job.fence(tx);
    const loaded = await lockThreadById(tx, row.thread_id!);
    const locked = await lockExecution(tx, row);
    if (locked?.execution.status !== 'running') return null;
    if (!loaded || loaded.thread.archived_at) {
      await endExecution(tx, locked, { event: 'cancel' });
      return null;
    }
    const record = await decideRecord(tx, loaded, {
      createdBy: locked.automation.created_by,
      address: null,
      heldBy: row.id,
    });
    const target = await decideOpening(
      tx,
      ctx,
      { ...loaded, record },
      { draft: row.opening!['draft'] === true },
    );
    await writeExecution(tx, row.id, { opening: json(target) });
    return target;
  });
}

async function end(tx: Tx, row: ExecutionRow, how: End): Promise<void> {
  const locked = await lockExecution(tx, row);
  if (locked) await endExecution(tx, locked, how);
}

/** Without a change no pull request is opened; if the thread already has an open one, the execution takes it. */
function endOfRefusal(error: ApiError | ProviderError): End {
  const { message } = error;
  const code = error instanceof ApiError ? error.code : error.fault.code;
  if (code === 'no_changes') return { event: 'complete' };
  if (code === 'pull_request_exists')
    return { event: 'complete', pullRequestId: (error as ApiError).details['pullRequestId'] as string };
  return { event: 'fail', error: { code: 'pull_request_failed', message: `${code}: ${message}` } };
}

/** Errors that another attempt may not get. */
const isTemporary = (error: unknown): boolean =>
  error instanceof ApiError
    ? error.code === 'unavailable' || error.code === 'thread_busy'
    : error instanceof ProviderError && error.fault.code === 'unavailable';

async function askLater(ctx: Context, job: ExecuteJob, row: ExecutionRow): Promise<void> {
  const { tries = 0 } = job.payload;
  const delaySeconds = SECONDS[Math.min(tries, SECONDS.length - 1)]!;
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    await enqueue(
      tx,
      'automation.execute',
      { executionId: row.id, tries: tries + 1 },
      { key: executionKey(row.id), turnOf: row, delaySeconds },
    );
  });
}

const withoutSourceControl = () =>
  new ApiError('payment_required', 'The organization does not have source control.');
