/**
 * What GET thread is measured against: Fastify and pg alone, with the service's statements for a thread and
 * the same answer, but no authentication, permissions, rate limit, request id or query builder. Started by
 * benchmarks/reads.ts; prints its address.
 */
import Fastify from 'fastify';
import pg from 'pg';
import { threadView } from '../../packages/server/src/threads/view.ts';

/** The service's own, see db/database.ts. */
const POOL_SIZE = 24;

const THREAD =
  "select t.* from threads t inner join projects p on p.id = t.project_id where t.org_id = $1 and t.id = $2 and t.deleted_at is null and p.deleted_at is null and p.id = $3 and p.kind = 'platform'";
const DETAILS = `
  select t.id as of_thread, q.queued_runs, q.is_held, a.pending_approvals, r.*
  from unnest($1::text[]) as t(id)
  left join lateral (
    select * from runs where thread_id = t.id
    order by case when status in ('running', 'waiting') then 0 when status = 'queued' then 1 else 2 end, case when status = 'queued' then id end, finished_at desc, id desc limit 1) r on true
  left join lateral (select count(*) as queued_runs, bool_or(held) as is_held from runs where thread_id = t.id and status = 'queued') q on true
  left join lateral (select array_agg(id order by id) as pending_approvals from approvals where thread_id = t.id and status = 'pending') a on true`;

const orgId = process.env.BENCH_ORG_ID;
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: POOL_SIZE });
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

const app = Fastify();
app.get<{ Params: { appId: string; threadId: string } }>(
  '/api/platform/v1/apps/:appId/threads/:threadId',
  async (request, reply) => {
    const {
      rows: [thread],
    } = await pool.query(THREAD, [orgId, request.params.threadId, request.params.appId]);
    const {
      rows: [details],
    } = await pool.query(DETAILS, [[thread.id]]);
    const run = details.id === null ? null : details;
    return reply.header('content-type', 'application/json; charset=utf-8').send(
      JSON.stringify({
        ok: true,
        thread: threadView({
          thread,
          run,
          queuedRuns: details.queued_runs,
          isHeld: details.is_held ?? false,
          pendingApprovals: details.pending_approvals ?? [],
        }),
      }),
    );
  },
);
process.stdout.write(`bare server listening on ${await app.listen({ host: '127.0.0.1', port: 0 })}\n`);
