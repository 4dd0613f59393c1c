import Type from 'typebox';
import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { claimedWrite } from '../http/operation.ts';
import type { Call } from '../http/operation.ts';
import { Body, IdInput, Ok } from '../http/schemas.ts';
import { requireWorker } from '../processes/index.ts';
import { headNotInitialized, loadProject, scopeOf } from '../projects/index.ts';
import { loadSource } from '../sources/index.ts';
import { openPreview, order, requireRoom } from './open-preview.ts';
import { Preview } from './schemas.ts';
import { previewView } from './view.ts';

/** Locks the app that the path names, which may show one more preview; with the source that it shows first. */
async function lockWithRoom(tx: Tx, call: Call<unknown, { sourceId?: string }>) {
  // Shared: a deletion, which stops all previews there are, waits, and so does a move of the head.
  const project = await loadProject(tx.db, call, 'share');
  const sourceId = call.body.sourceId ?? project.head_source_id;
  if (sourceId === null) throw headNotInitialized();
  await loadSource(tx.db, project.id, sourceId);
  await requireRoom(tx, call.ctx, { project, threadId: null });
  return { project, sourceId };
}

export const createAppPreview = claimedWrite({
  name: 'previews.createAppPreview',
  summary: "Show an app's head, or any source of it, in a browser",
  description:
    'As the preview of a thread, but it needs no thread. Without `sourceId` it follows the head: newer heads are written into it. At most 50 previews of an app can be open at a time (409).',
  access: { permissions: ['thread:update'] },
  body: Body({
    sourceId: Type.Optional(IdInput('src', 'Any source of the app: it shows this one. Default: the head.')),
    ...order,
  }),
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
      const { project, sourceId } = await lockWithRoom(tx, call);
      const preview = await openPreview(tx, call, {
        project,
        threadId: null,
        sourceId,
        followsHead: call.body.sourceId === undefined,
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
