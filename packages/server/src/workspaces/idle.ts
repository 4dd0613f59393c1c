import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import { databaseNow } from '../clock.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/database.ts';
import type { ThreadRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { effectiveSettings } from '../settings/index.ts';
import type { ThreadChange } from '../threads/index.ts';

type Reading = Pick<Context, 'clock' | 'config'>;

/**
 * The deadline of an idle interval that starts now. Its length is the thread's own policy, else the app's,
 * the organization's, the service's.
 */
export async function freshDeadline(
  ctx: Reading,
  db: Db | Tx['db'],
  thread: Pick<ThreadRow, 'idle_timeout_minutes' | 'project_id' | 'org_id' | 'execution_target'>,
): Promise<RawBuilder<Date> | null> {
  // What is at a host takes no room here.
  if (thread.execution_target) return null;
  return deadlineIn(
    ctx,
    thread.idle_timeout_minutes ??
      (await effectiveSettings(db, thread)).idleTimeoutMinutes ??
      ctx.config.idleTimeoutMinutes,
  );
}

/** The change by which a ready workspace gets its whole idle time again after work in its thread. */
export async function renewedDeadline(
  ctx: Reading,
  db: Db | Tx['db'],
  thread: ThreadRow,
): Promise<ThreadChange> {
  return thread.workspace_status === 'ready' ? { idle_expires_at: await freshDeadline(ctx, db, thread) } : {};
}

export const deadlineIn = (ctx: Reading, minutes: number): RawBuilder<Date> =>
  sql<Date>`${databaseNow(ctx)} + ${minutes} * interval '1 minute'`;
