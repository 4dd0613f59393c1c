import { notFound } from '../http/errors.ts';
import { read } from '../http/operation.ts';
import { Ok, WaitQuery } from '../http/schemas.ts';
import { waitFor } from '../http/wait-for.ts';
import { loadProject } from '../projects/index.ts';
import { Apply } from './schemas.ts';
import { isEnded } from './state.ts';
import { applyView } from './view.ts';

export const getApply = read({
  name: 'applies.getApply',
  summary: 'Get an apply; with waitSeconds once it has ended',
  access: { permissions: ['thread:read'] },
  query: WaitQuery,
  responses: { 200: Ok({ apply: Apply }) },
  async handle(call) {
    const { ctx, params, query, signal } = call;
    const project = await loadProject(ctx.db, call);
    const load = async () => {
      const apply = await ctx.db
        .selectFrom('applies')
        .selectAll()
        .where('project_id', '=', project.id)
        .where('id', '=', params.applyId!)
        .executeTakeFirst();
      if (!apply) throw notFound('apply');
      return apply;
    };
    const apply = await waitFor(
      {
        bus: ctx.bus,
        on: { channel: 'resources', id: params.applyId! },
        waitSeconds: query.waitSeconds,
        signal,
      },
      load,
      (apply) => isEnded(apply.status),
    );
    return { status: 200, body: { ok: true, apply: applyView(apply) } };
  },
});
