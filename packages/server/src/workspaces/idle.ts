import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import { databaseNow } from '../clock.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/database.ts';
import type { ThreadRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { effectiveSettings } from '../settings/index.ts';

type Reading = Pick<Context, 'clock' | 'config'>;

/**
 * The deadline of a fresh idle interval from now: the thread's own policy, else the app's, the
 * organization's, the service's.
 */
export async function freshDeadline(
  ctx: Reading,
  db: Db | Tx['db'],
  thread: Pick<ThreadRow, 'idle_timeout_minutes' | 'project_id' | 'org_id'>,
): Promise<RawBuilder<Date>> {
  return deadlineIn(
    ctx,
    thread.idle_timeout_minutes ??
      (await effectiveSettings(db, thread)).idleTimeoutMinutes ??
      ctx.config.idleTimeoutMinutes,
  );
}

export const deadlineIn = (ctx: Reading, minutes: number): RawBuilder<Date> =>
  sql<Date>`${databaseNow(ctx)} + ${minutes} * interval '1 minute'`;
