import { requireHostFor } from '../hosts/index.ts';
import { ApiError } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import { Body, Ok } from '../http/schemas.ts';
import { scopeOf } from '../projects/index.ts';
import { requireWorker } from '../processes/index.ts';
import { effectiveSettings } from '../settings/index.ts';
import { changeThread, lockThread, reinitialize, requireOpen, requireUnoccupied } from '../threads/index.ts';
import { queueRun } from './queue-run.ts';
import { Run } from './schemas.ts';
import { runView } from './view.ts';

export const retryRun = write({
  name: 'runs.retryRun',
  summary: 'Repeat the last user message from the latest source',
  access: { permissions: ['thread:retry'] },
  body: Body({}),
  responses: { 202: Ok({ run: Run }) },
  async handle(tx, call) {
    const loaded = await lockThread(tx, call);
    await requireHostFor(tx, call.principal, loaded.thread);
    requireOpen(loaded.thread);
    requireUnoccupied(loaded.thread);
    await requireWorker(call.ctx, tx.db);
    const message = await tx.db
      .selectFrom('messages')
      .select('id')
      .where('thread_id', '=', loaded.thread.id)
      .where('role', '=', 'user')
      .orderBy('sequence', 'desc')
      .limit(1)
      .executeTakeFirst();
    if (!message) throw new ApiError('conflict', 'The thread has no message to repeat. Send one.');
    const again = await reinitialize(tx, loaded);
    const modelId = loaded.thread.model_id ?? (await effectiveSettings(tx.db, loaded.project)).modelId;
    const run = await queueRun(tx, call.ctx.config, loaded, {
      kind: 'retry',
      messageId: message.id,
      modelId,
      createdBy: call.principal.actorId,
    });
    await changeThread(tx, loaded, again, 'always');
    return { status: 202, body: { ok: true, run: runView(run) }, scope: scopeOf(loaded.project) };
  },
});
