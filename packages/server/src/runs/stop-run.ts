import { sql } from 'kysely';
import { hostWait } from '../hosts/index.ts';
import { ApiError } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import { Body, Ok } from '../http/schemas.ts';
import { wakeWaiting } from '../jobs/store.ts';
import { scopeOf } from '../projects/index.ts';
import { changeThread, lockThread } from '../threads/index.ts';
import { cancelRuns } from './cancel-runs.ts';
import { Run } from './schemas.ts';
import { activeFirst, openRuns, requestStop } from './store.ts';
import { runView } from './view.ts';

export const stopRun = write({
  name: 'runs.stopRun',
  summary: 'Stop the active run and cancel the queued ones',
  access: { permissions: ['thread:stop'] },
  body: Body({}),
  responses: { 202: Ok({ run: Run }) },
  async handle(tx, call, receipt) {
    const loaded = await lockThread(tx, call);
    const open = await tx.db
      .selectFrom('runs')
      .selectAll()
      .where('thread_id', '=', loaded.thread.id)
      .where(openRuns)
      .orderBy(activeFirst)
      .orderBy('id')
      .execute();
    const [first] = open;
    if (!first) throw new ApiError('run_not_active', 'No run is queued or active in this thread.');
    receipt.publish(tx, scopeOf(loaded.project));
    const isActive = first.status !== 'queued';
    if (isActive) {
      await requestStop(tx, first.id);
      // Its host may be away: then the job is put off.
      const target = loaded.thread.execution_target;
      if (target) await wakeWaiting(tx, hostWait(target.hostId));
    }
    const cancelled = await cancelRuns(tx, loaded, 'queued');
    await changeThread(
      tx,
      loaded,
      {
        stop_requested_at: isActive
          ? (loaded.thread.stop_requested_at ?? sql<Date>`now()`)
          : sql<Date>`now()`,
        ...(isActive ? {} : { last_run_failed: false }),
      },
      cancelled.length ? 'always' : 'ifChanged',
    );
    tx.wake('control', loaded.thread.id);
    const run = await tx.db
      .selectFrom('runs')
      .selectAll()
      .where('id', '=', first.id)
      .executeTakeFirstOrThrow();
    return { status: 202, body: { ok: true, run: runView(run) }, scope: scopeOf(loaded.project) };
  },
});
