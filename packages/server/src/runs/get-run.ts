import { notFound } from '../http/errors.ts';
import { read } from '../http/operation.ts';
import { Ok, WaitQuery } from '../http/schemas.ts';
import { waitFor } from '../http/wait-for.ts';
import { loadThread } from '../threads/index.ts';
import { Run } from './schemas.ts';
import { isEnded } from './state.ts';
import { runView } from './view.ts';

export const getRun = read({
  name: 'runs.getRun',
  summary: 'Get a run; with waitSeconds once it has ended',
  access: { permissions: ['thread:read'] },
  query: WaitQuery,
  responses: { 200: Ok({ run: Run }) },
  async handle(call) {
    const { ctx, params, query, signal } = call;
    const { thread } = await loadThread(ctx.db, call);
    const load = async () => {
      const run = await ctx.db
        .selectFrom('runs')
        .selectAll()
        .where('thread_id', '=', thread.id)
        .where('id', '=', params.runId!)
        .executeTakeFirst();
      if (!run) throw notFound('run');
      return run;
    };
    const run = await waitFor(
      {
        bus: ctx.bus,
        on: { channel: 'resources', id: params.runId! },
        waitSeconds: query.waitSeconds,
        signal,
      },
      load,
      (run) => isEnded(run.status),
    );
    return { status: 200, body: { ok: true, run: runView(run) } };
  },
});
