/** What runners report and nobody needs: they end and delete it. */
import type { Forget } from '@headrace/runner/registration';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { preparedAs } from '../db/prepared.ts';
import type { Report } from '../runner/store.ts';

/**
 * Under way at that runner: a run's turn and its report, a command by its receipt, a build, setup or preview. Rows are
 * found by their ids alone, as the plan is made once.
 */
const TASK_IS_NEEDED = sql`case left(r.id, 4)
  when 'run_' then (select u.status in ('running', 'waiting') and t.runner_id = r.boot_id from runs u join threads t on t.id = u.thread_id where u.id = split_part(r.id, '-', 1))
  when 'bld_' then (select b.status = 'building' and b.runner_id = r.boot_id from builds b where b.id = r.id)
  when 'set_' then (select s.status = 'running' and s.runner_id = r.boot_id from setups s where s.id = r.id)
  when 'prv_' then (select p.status in ('starting', 'ready') and p.runner_id = r.boot_id from previews p where p.id = r.id)
  else exists (select from execs e join threads t on t.id = e.thread_id where e.operation_id = r.id and e.status in ('queued', 'running') and t.runner_id = r.boot_id) end`;

/** A thread's, which says so before the workspace is made. */
const WORKSPACE_IS_NEEDED = sql`(
  select t.deleted_at is null and t.runner_id = r.boot_id and t.workspace_status in ('preparing', 'ready', 'cleanup_pending') from threads t where t.id = r.id)`;

const GROUP_IS_NEEDED = sql`(select p.deleted_at is null from projects p where p.id = r.id)`;

interface Named {
  boot_id: string;
  id: string;
  kind: keyof Forget;
}

/**
 * For each report what its runner may forget. A row names a runner before the runner gets the work, so what was
 * reported earlier and has no row now is not needed.
 */
export async function findForgettable(db: Db, reports: readonly Report[]): Promise<Map<string, Forget>> {
  const named = (kind: keyof Forget) =>
    reports.flatMap((report) => report[kind].map((id) => ({ boot_id: report.bootId, id })));
  const arm = (kind: keyof Forget, isNeeded: typeof TASK_IS_NEEDED) => {
    const all = named(kind);
    return sql`select r.boot_id, r.id, ${kind}::text as kind
      from unnest(${all.map((one) => one.boot_id)}::text[], ${all.map((one) => one.id)}::text[]) as r (boot_id, id) where (${isNeeded}) is not true`;
  };
  const query = sql<Named>`
    ${arm('tasks', TASK_IS_NEEDED)} union all ${arm('workspaces', WORKSPACE_IS_NEEDED)} union all ${arm('groups', GROUP_IS_NEEDED)}`;
  const { rows } = await db.executeQuery(preparedAs('find_forgettable', query.compile(db)));
  const found = new Map(
    reports.map(({ bootId }): [string, Forget] => [bootId, { tasks: [], workspaces: [], groups: [] }]),
  );
  for (const { boot_id: bootId, id, kind } of rows) found.get(bootId)![kind].push(id);
  return found;
}
