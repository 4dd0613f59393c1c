import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { claimedWrite } from '../http/operation.ts';
import type { Call } from '../http/operation.ts';
import { Body, Ok } from '../http/schemas.ts';
import { requireWorker } from '../processes/index.ts';
import { scopeOf } from '../projects/index.ts';
import { lockThread, requireOpen } from '../threads/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import { openPreview, order, requireRoom } from './open-preview.ts';
import { Preview } from './schemas.ts';
import { previewView } from './view.ts';

/** Locks the thread that the path names, which may show one more preview. */
async function lockWithRoom(tx: Tx, call: Call): Promise<LoadedThread> {
  const loaded = await lockThread(tx, call);
  requireOpen(loaded.thread, 'allowed');
  await requireRoom(tx, call.ctx, { project: loaded.project, threadId: loaded.thread.id });
  return loaded;
}

export const createPreview = claimedWrite({
  name: 'previews.createPreview',
  summary: "Show the thread's app in a browser",
  description:
    "Runs the command, a server, in its own sandbox with the thread's latest source; newer sources are written into it. The answer does not wait for the server: read the preview until it is `ready`. It stops automatically after 8 hours. At most 10 of a thread and 50 of an app can be open at a time (409).",
  access: { permissions: ['thread:update'] },
  body: Body(order),
  responses: { 201: Ok({ preview: Preview }) },
  errors: [503],
  mode: 'staged',
  publishesPending: true,
  async prepare(call) {
    return {
      prepared: null,
      onClaim: async (tx: Tx) => {
        const { project } = await lockWithRoom(tx, call);
        await requireWorker(call.ctx, tx.db);
        return scopeOf(project);
      },
    };
  },
  async handle(call, claim) {
    return transaction(call.ctx, async (tx) => {
      const { thread, project } = await lockWithRoom(tx, call);
      const preview = await openPreview(tx, call, {
        project,
        threadId: thread.id,
        sourceId: thread.latest_source_id,
        followsHead: false,
      });
      const result = {
        status: 201,
        body: { ok: true, preview: previewView(call.ctx, preview) },
        scope: scopeOf(project),
      };
      await claim.settle(tx, result);
      return result;
    });
  },
});
