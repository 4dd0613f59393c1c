import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Db } from '../db/database.ts';
import type { ThreadRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { effectiveSettings } from '../settings/index.ts';

/** The deadline of a fresh idle interval from now, on the database's clock: the thread's own policy, else the app's, the organization's, the service's. */
export async function freshDeadline(db: Db | Tx['db'], thread: Pick<ThreadRow, 'idle_timeout_minutes' | 'project_id' | 'org_id'>, serviceDefault: number): Promise<RawBuilder<Date>> {
  const minutes = thread.idle_timeout_minutes ?? (await effectiveSettings(db, thread)).idleTimeoutMinutes ?? serviceDefault;
  return sql<Date>`now() + ${minutes} * interval '1 minute'`;
}
