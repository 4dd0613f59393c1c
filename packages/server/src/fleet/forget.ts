/** What runners report and nobody needs: they end and delete it. */
import type { Forget } from '@headrace/runner/registration';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import type { Report } from '../runner/store.ts';

/** Under way at that runner: a run's turn and its report, a command by its receipt, a build, setup or preview. */
const TASK_IS_NEEDED = sql`case left(r.id, 4)
  when 'run_' then exists (select from runs u join threads t on t.id = u.thread_id where u.id = split_part(r.id, '-', 1) and u.status in ('running', 'waiting') and t.runner_id = r.boot_id)
  when 'bld_' then exists (select from builds b where b.id = r.id and b.status = 'building' and b.runner_id = r.boot_id)
  when 'set_' then exists (select from setups s where s.id = r.id and s.status = 'running' and s.runner_id = r.boot_id)
  when 'prv_' then exists (select from previews p where p.id = r.id and p.status in ('starting', 'ready') and p.runner_id = r.boot_id)
  else exists (select from execs e join threads t on t.id = e.thread_id where e.operation_id = r.id and e.status in ('queued', 'running') and t.runner_id = r.boot_id) end`;

/** A thread's, which says so before the workspace is made. */
const WORKSPACE_IS_NEEDED = sql`exists (
  select from threads t where t.id = r.id and t.deleted_at is null and t.runner_id = r.boot_id and t.workspace_status in ('preparing', 'ready', 'cleanup_pending'))`;

const GROUP_IS_NEEDED = sql`exists (select from projects p where p.id = r.id and p.deleted_at is null)`;

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
      from unnest(${all.map((one) => one.boot_id)}::text[], ${all.map((one) => one.id)}::text[]) as r (boot_id, id) where not ${isNeeded}`;
  };
  const { rows } = await sql<Named>`
    ${arm('tasks', TASK_IS_NEEDED)} union all ${arm('workspaces', WORKSPACE_IS_NEEDED)} union all ${arm('groups', GROUP_IS_NEEDED)}`.execute(
    db,
  );
  const found = new Map(
    reports.map(({ bootId }): [string, Forget] => [bootId, { tasks: [], workspaces: [], groups: [] }]),
  );
  for (const { boot_id: bootId, id, kind } of rows) found.get(bootId)![kind].push(id);
  return found;
}
