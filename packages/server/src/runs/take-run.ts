/** Which run of a thread is next, and whether it may start: limits of concurrency hold some back. */
import { hasPlace, passPlaceOn, PUT_OFF_SECONDS, takePlace } from '../capacity/index.ts';
import type { Db } from '../db/database.ts';
import type { RunRow } from '../db/schema.ts';
import { appendEvent, transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { folderWait } from '../hosts/index.ts';
import { enqueue } from '../jobs/enqueue.ts';
import { scopeOf } from '../projects/index.ts';
import { changeThread, lockThreadById } from '../threads/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import { isFolderTaken, lockFolder } from './at-host.ts';
import type { ClaimedRun } from './claimed-run.ts';
import { threadKey } from './queue-run.ts';
import { activeFirst, holdRun, openRuns, startRun } from './store.ts';

/** The thread's active run, else its oldest queued one. */
export async function nextRun(db: Db, threadId: string): Promise<RunRow | undefined> {
  return db
    .selectFrom('runs')
    .selectAll()
    .where('thread_id', '=', threadId)
    .where(openRuns)
    .orderBy(activeFirst)
    .orderBy('position')
    .limit(1)
    .executeTakeFirst();
}

const projectOf = (run: RunRow) => ({ id: run.project_id, org_id: run.org_id });
const askingOf = (run: RunRow) => ({ id: run.id, project: projectOf(run) });

/** Spares preparing a workspace for a run that has no place; `takeRun` decides. */
export async function isHeldBack({ ctx, job, run }: ClaimedRun): Promise<boolean> {
  if (await hasPlace(ctx, 'runs', askingOf(run))) return false;
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    await holdBack(tx, run);
  });
  return true;
}

/** A run that has started, with its thread as it was then. */
interface TakenRun {
  run: RunRow;
  loaded: LoadedThread;
}

/**
 * queued → running: one active run per thread, recorded before the agent starts. Undefined when the run was
 * ended meanwhile, `held` when another one took the last place.
 */
export async function takeRun({ ctx, job, run }: ClaimedRun): Promise<TakenRun | 'held' | undefined> {
  return transaction(ctx, async (tx) => {
    await job.fence(tx);
    const now = await lockThreadById(tx, run.thread_id);
    if (!now || now.thread.archived_at) return undefined;
    await lockFolder(tx, ctx);
    if (await isFolderTaken(tx.db, ctx, run)) {
      await holdRun(tx, run.id);
      await job.putOff(tx, folderWait(ctx.host!.target.bindingId), PUT_OFF_SECONDS);
      return 'held';
    }
    if (!(await takePlace(tx, 'runs', askingOf(run), ctx))) {
      await holdBack(tx, run);
      return 'held';
    }
    const started = await startRun(tx, run, now.thread.latest_source_id);
    if (!started) return undefined;
    const waited = (started.started_at!.getTime() - started.created_at.getTime()) / 1000;
    tx.afterCommit.push(() => ctx.metrics.observe('headrace_run_phase_seconds', { phase: 'start' }, waited));
    appendEvent(tx, { ...scopeOf(now.project), threadId: run.thread_id, runId: run.id }, 'run.running', {
      id: run.id,
      status: 'running',
    });
    const thread = await changeThread(
      tx,
      now,
      { stop_requested_at: null, ...(goesOn(run) || ctx.host ? {} : { lost_work_source_id: null }) },
      'always',
    );
    return { run: started, loaded: { ...now, thread } };
  });
}

/** Whether a run goes on from the work of a lost one before it; a retry begins again from the latest source. */
export const goesOn = ({ kind }: Pick<RunRow, 'kind'>): boolean => kind === 'message';

/** Marks a run that is beyond a limit, and looks at it again when another run has ended. */
async function holdBack(tx: Tx, run: RunRow): Promise<void> {
  await holdRun(tx, run.id);
  await enqueue(
    tx,
    'run.work',
    { threadId: run.thread_id },
    { key: threadKey(run.thread_id), turnOf: run, delaySeconds: PUT_OFF_SECONDS },
  );
  await passPlaceOn(tx, 'runs', projectOf(run));
}
