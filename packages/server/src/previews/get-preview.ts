import { read } from '../http/operation.ts';
import { Ok, WaitQuery } from '../http/schemas.ts';
import { waitFor } from '../http/wait-for.ts';
import { loadPreview } from './policy.ts';
import { Preview } from './schemas.ts';
import { previewView } from './view.ts';

export const getPreview = read({
  name: 'previews.getPreview',
  summary: 'Get a preview; with waitSeconds once it is no longer starting',
  access: { permissions: ['thread:read'] },
  query: WaitQuery,
  responses: { 200: Ok({ preview: Preview }) },
  async handle(call) {
    const { ctx, params, query, signal } = call;
    const { preview } = await waitFor(
      {
        bus: ctx.bus,
        on: { channel: 'resources', id: params.previewId! },
        waitSeconds: query.waitSeconds,
        signal,
      },
      () => loadPreview(ctx.db, call),
      (found) => found.preview.status !== 'starting',
    );
    return { status: 200, body: { ok: true, preview: previewView(ctx, preview) } };
  },
});
