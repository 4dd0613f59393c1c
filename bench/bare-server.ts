/**
 * What GET thread is measured against: Fastify and pg alone, with the service's statements for a thread and the same answer, but no
 * authentication, permissions, rate limit, request id or query builder. Started by benchmarks/reads.ts; prints its address.
 */
import Fastify from 'fastify';
import pg from 'pg';
import { threadView } from '../packages/server/src/threads/view.ts';

/** The service's own, see db/database.ts. */
const POOL_SIZE = 24;

const PROJECT = "select * from projects where org_id = $1 and id = $2 and deleted_at is null and kind = 'platform'";
const THREAD = 'select * from threads where org_id = $1 and id = $2 and deleted_at is null and project_id = $3';
const DETAILS = `
  select t.id, r.id as run_id, q.queued, q.held, a.approvals
  from unnest($1::text[]) as t(id)
  left join lateral (
    select id from runs where thread_id = t.id
    order by case when status in ('running', 'waiting') then 0 when status = 'queued' then 1 else 2 end, case when status = 'queued' then id end, id desc limit 1) r on true
  left join lateral (select count(*) as queued, bool_or(held) as held from runs where thread_id = t.id and status = 'queued') q on true
  left join lateral (select array_agg(id order by id) as approvals from approvals where thread_id = t.id and status = 'pending') a on true`;
const RUNS = 'select * from runs where id in ($1)';

const orgId = process.env.BENCH_ORG_ID;
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: POOL_SIZE });
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

const app = Fastify();
app.get<{ Params: { appId: string; threadId: string } }>('/api/platform/v1/apps/:appId/threads/:threadId', async (request, reply) => {
  const { rows: [project] } = await pool.query(PROJECT, [orgId, request.params.appId]);
  const { rows: [thread] } = await pool.query(THREAD, [orgId, request.params.threadId, project.id]);
  const { rows: [details] } = await pool.query(DETAILS, [[thread.id]]);
  const run = details.run_id === null ? null : (await pool.query(RUNS, [details.run_id])).rows[0];
  return reply.header('content-type', 'application/json; charset=utf-8').send(JSON.stringify({ ok: true, thread: threadView({ thread, run, queuedRuns: details.queued, isHeld: details.held ?? false, pendingApprovals: details.approvals ?? [] }) }));
});
process.stdout.write(`bare server listening on ${await app.listen({ host: '127.0.0.1', port: 0 })}\n`);
