import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { appendEvent, transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { ApiError } from '../http/errors.ts';
import { claimedWrite } from '../http/operation.ts';
import { Body, Ok } from '../http/schemas.ts';
import { base32, newId } from '../ids.ts';
import { enqueue } from '../jobs/enqueue.ts';
import { scopeOf } from '../projects/index.ts';
import { lockThread, requireOpen } from '../threads/index.ts';
import { previewKey } from './reconcile.ts';
import { Command, LIFE_SECONDS, Port, Preview } from './schemas.ts';
import { previewView } from './view.ts';

/** 128 random bits as a DNS label: the address is the secret. */
const newToken = () => base32(randomBytes(16));

export const createPreview = claimedWrite({
  name: 'previews.createPreview',
  summary: 'Show the thread\'s app in a browser',
  description: 'Runs the command, a server, in a sandbox of its own that holds the thread\'s latest source; newer sources are written into it. The answer does not wait for the server: read the preview until it is `ready`. It ends by itself after 8 hours.',
  access: { permissions: ['thread:update'] },
  body: Body({ command: Command, port: Port }),
  responses: { 201: Ok({ preview: Preview }) },
  errors: [503],
  mode: 'staged',
  publishesPending: true,
  async prepare(call) {
    return {
      prepared: null,
      onClaim: async (tx: Tx) => {
        const { thread, project } = await lockThread(tx, call);
        requireOpen(thread, 'allowed');
        const runner = call.ctx.runnerStatus();
        if (runner?.ok === false) throw new ApiError('source_workspace_unavailable', 'No sandbox can be made here: nothing can be previewed until the operator has mended that.', { cause: new Error(runner.missing.join('; ')) });
        return scopeOf(project);
      },
    };
  },
  async handle(call, claim) {
    const { ctx, body: { command, port } } = call;
    return transaction(ctx, async (tx) => {
      const { thread, project } = await lockThread(tx, call);
      requireOpen(thread, 'allowed');
      const preview = await tx.db.insertInto('previews').values({
        org_id: thread.org_id, id: newId('prv'), project_id: project.id, thread_id: thread.id, status: 'starting', token: newToken(), command, port, source_id: null, created_by: call.principal.actorId,
        expires_at: sql<Date>`now() + ${LIFE_SECONDS} * interval '1 second'`,
      }).returningAll().executeTakeFirstOrThrow();
      appendEvent(tx, scopeOf(project), 'preview.updated', { id: preview.id, status: preview.status }, { threadId: thread.id });
      await enqueue(tx, 'preview.work', { previewId: preview.id }, { key: previewKey(preview.id) });
      const result = { status: 201, body: { ok: true, preview: previewView(ctx, preview) }, scope: scopeOf(project) };
      await claim.settle(tx, result);
      return result;
    });
  },
});
