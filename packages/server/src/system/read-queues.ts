import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Db } from '../db/database.ts';
import type { JobKind } from '../jobs/enqueue.ts';

interface Queue {
  name: string;
  waiting: number;
  running: number;
  /** Since when the oldest waits; null where none does. */
  oldestSeconds: number | null;
  failing: number;
}

/** By rows of their own: what a limit holds back waits, whatever its job is put off to. */
const OWN: Partial<
  Record<JobKind, { table: string; waiting: RawBuilder<unknown>; running: RawBuilder<unknown> }>
> = {
  'run.work': {
    table: 'runs',
    waiting: sql`status = 'queued'`,
    running: sql`status in ('running', 'waiting')`,
  },
  'build.work': { table: 'builds', waiting: sql`status = 'queued'`, running: sql`status = 'building'` },
  'setup.work': { table: 'setups', waiting: sql`status = 'queued'`, running: sql`status = 'running'` },
  // An execution that waits for its turn, or for its run, has no job.
  'automation.execute': {
    table: 'executions',
    waiting: sql`status = 'queued'`,
    running: sql`status = 'running'`,
  },
};

const NAMES: Record<JobKind, string> = {
  'thread.initialize': 'initializations',
  'run.work': 'runs',
  'exec.work': 'commands',
  'apply.merge': 'applies',
  'build.work': 'builds',
  'setup.work': 'setups',
  'preview.work': 'previews',
  'workspace.archive': 'archives',
  'source.repack': 'repacks',
  'pull-request.sync': 'pullRequestSyncs',
  'pull-request.follow-base': 'mergedPullRequests',
  'pull-request.comment': 'pullRequestComments',
  'task.title': 'taskTitles',
  'pull-request.reply': 'pullRequestReplies',
  'automation.execute': 'executions',
  'scm.sync': 'repositoryLists',
  'scm.look-repository': 'repositoryLooks',
  'scm.maintain-repository': 'repositoryMaintenances',
};

/** What is open of each kind of work, by the indexes of open rows. */
export async function readQueues(db: Db): Promise<Queue[]> {
  const { rows } = await sql<Queue>`${queuesQuery()}`.execute(db);
  return rows;
}

export const queuesQuery = (): RawBuilder<unknown> =>
  sql.join([...(Object.keys(NAMES) as JobKind[]).map(queueOf), deliveries()], sql` union all `);

/** The count of webhook deliveries stops here: each dead receiver may leave 100,000. */
const MOST_COUNTED = 10_000;

function deliveries(): RawBuilder<unknown> {
  const pending = sql`webhook_deliveries where status = 'pending'`;
  return sql`select 'deliveries' as name, (select count(*)::float8 from (select from ${pending} limit ${MOST_COUNTED}) d) as waiting, 0::float8 as running,
    (select greatest(0, extract(epoch from now() - created_at))::float8 from ${pending} order by created_at limit 1) as "oldestSeconds",
    (select count(*)::float8 from (select from ${pending} and attempt_count > 0 limit ${MOST_COUNTED}) d) as failing`;
}

function queueOf(kind: JobKind): RawBuilder<unknown> {
  const jobs = sql`jobs where kind = ${kind}`;
  const own = OWN[kind];
  const table = own && sql.table(own.table);
  const waiting = own ? sql`${table} where ${own.waiting}` : sql`${jobs} and status = 'queued'`;
  const running = own ? sql`${table} where ${own.running}` : sql`${jobs} and status = 'active'`;
  return sql`select ${NAMES[kind]} as name, (select count(*)::float8 from ${waiting}) as waiting, (select count(*)::float8 from ${running}) as running,
    (select greatest(0, extract(epoch from now() - min(created_at)))::float8 from ${waiting} having count(*) > 0) as "oldestSeconds",
    (select count(*)::float8 from ${jobs} and status in ('queued', 'active') and failures > 0) as failing`;
}
