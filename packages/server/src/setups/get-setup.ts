import { read } from '../http/operation.ts';
import { Ok, WaitQuery } from '../http/schemas.ts';
import { waitFor } from '../http/wait-for.ts';
import { loadSetup } from './policy.ts';
import { Setup } from './schemas.ts';
import { isEnded } from './state.ts';
import { setupView } from './view.ts';

export const getSetup = read({
  name: 'setups.getSetup',
  summary: 'Get a setup; with waitSeconds once it has ended',
  access: { permissions: ['thread:read'] },
  query: WaitQuery,
  responses: { 200: Ok({ setup: Setup }) },
  async handle(call) {
    const { ctx, params, query, signal } = call;
    const { setup } = await waitFor(
      {
        bus: ctx.bus,
        on: { channel: 'resources', id: params.setupId! },
        waitSeconds: query.waitSeconds,
        signal,
      },
      () => loadSetup(ctx.db, call),
      (found) => isEnded(found.setup),
    );
    return { status: 200, body: { ok: true, setup: setupView(setup) } };
  },
});
