/**
 * What a review loop does after a look: it reads what its next status depends on, and changes it in one
 * transaction. It reconciles from state, so that a look may come late, twice, or after a restart.
 */
import { sql } from 'kysely';
import { transaction } from '../db/transaction.ts';
import { changePullRequest, enqueueSync, loopAfterLook } from '../pull-requests/index.ts';
import type { LoopChange } from '../pull-requests/index.ts';
import { effectiveSettings } from '../settings/index.ts';
import { lockBoth } from '../sync/index.ts';
import type { LoopDriver } from '../sync/index.ts';
import { readFacts } from './facts.ts';

export const driveLoop: LoopDriver = async (looked) => {
  const { ctx, job, loaded: before } = looked;
  const { reviewLoop: settings } = await effectiveSettings(ctx.db, before.row);
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    const { thread, loaded } = await lockBoth(tx, { threadId: before.row.thread_id, id: before.row.id });
    if (!thread || !loaded.loop?.enabled) return;
    if (loaded.row.version !== before.row.version) return enqueueSync(tx, loaded.row);
    const facts = await readFacts(tx, looked, { thread: thread.thread, loaded, settings });
    const { change } = loopAfterLook(loaded.loop, facts);
    await changePullRequest(tx, loaded, soon(change), change);
  });
};

/** A loop that waits for a time is looked at then. */
const soon = ({ wait_until: until }: LoopChange) =>
  until ? { next_look_at: sql<Date>`least(next_look_at, ${until})` } : {};
