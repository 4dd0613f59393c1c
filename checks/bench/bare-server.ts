/**
 * What GET thread is measured against: Fastify and pg alone, with one prepared statement that reads the
 * thread's row by its primary key, and the same answer; no authentication, permissions, rate limit or request
 * id. Started by benchmarks/reads.ts; prints its address.
 */
import Fastify from 'fastify';
import pg from 'pg';
import type { RunRow, ThreadRow } from '../../packages/server/src/db/schema.ts';
import { threadView } from '../../packages/server/src/threads/view.ts';

/** The service's own, see db/database.ts. */
const POOL_SIZE = 24;

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: POOL_SIZE });
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

const READ = { name: 'read', text: 'select * from threads where id = $1' };
/** The thread's run, read once: only the thread's row is read for each request. */
const {
  rows: [run],
} = await pool.query<RunRow>('select * from runs where thread_id = $1', [process.env.BENCH_THREAD_ID]);

const app = Fastify();
app.get<{ Params: { appId: string; threadId: string } }>(
  '/api/platform/v1/apps/:appId/threads/:threadId',
  async (request, reply) => {
    const {
      rows: [thread],
    } = await pool.query<ThreadRow>({ ...READ, values: [request.params.threadId] });
    return reply.header('content-type', 'application/json; charset=utf-8').send(
      JSON.stringify({
        ok: true,
        thread: threadView({
          thread: thread!,
          run: run!,
          queuedRuns: 0,
          isHeld: false,
          awayHost: null,
          pendingApprovals: [],
          pullRequests: [],
          task: null,
        }),
      }),
    );
  },
);
process.stdout.write(`bare server listening on ${await app.listen({ host: '127.0.0.1', port: 0 })}\n`);
