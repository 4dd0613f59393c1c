import { read } from '../http/operation.ts';
import { Ok, WaitQuery } from '../http/schemas.ts';
import { waitFor } from '../http/wait-for.ts';
import { loadBuild } from './policy.ts';
import { Build } from './schemas.ts';
import { isEnded } from './state.ts';
import { buildView } from './view.ts';

export const getBuild = read({
  name: 'builds.getBuild',
  summary: 'Get a build; with waitSeconds once it has ended',
  access: { permissions: ['thread:read'] },
  query: WaitQuery,
  responses: { 200: Ok({ build: Build }) },
  async handle(call) {
    const { ctx, params, query, signal } = call;
    const { build } = await waitFor(
      {
        bus: ctx.bus,
        on: { channel: 'resources', id: params.buildId! },
        waitSeconds: query.waitSeconds,
        signal,
      },
      () => loadBuild(ctx.db, call),
      (found) => isEnded(found.build),
    );
    return { status: 200, body: { ok: true, build: buildView(build) } };
  },
});
