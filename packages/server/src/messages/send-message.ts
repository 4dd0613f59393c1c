import Type from 'typebox';
import { requireHostFor } from '../hosts/index.ts';
import { write } from '../http/operation.ts';
import { Body, Ok } from '../http/schemas.ts';
import { scopeOf } from '../projects/index.ts';
import { requireWorker } from '../processes/index.ts';
import { queueRun, Run, runToJoin, runView } from '../runs/index.ts';
import { effectiveSettings } from '../settings/index.ts';
import {
  changeThread,
  lockThread,
  reinitialize,
  requireOpen,
  requireUnoccupied,
  withParticipant,
} from '../threads/index.ts';
import { acceptMessage } from './accept-message.ts';
import { Attachment, ClientMessageId, Content, Message, messageView, ModelId } from './schemas.ts';

export const sendMessage = write({
  name: 'messages.sendMessage',
  summary:
    'Send a message: it starts a run, joins the active run if its agent accepts messages, or queues a run behind it',
  access: { permissions: ['thread:update'] },
  body: Body({
    content: Content,
    clientMessageId: Type.Optional(ClientMessageId),
    modelId: Type.Optional(ModelId),
    attachments: Type.Optional(Type.Array(Attachment, { maxItems: 10 })),
  }),
  legacyKeys: ['/clientMessageId'],
  responses: { 201: Ok({ message: Message, run: Run }) },
  async handle(tx, call) {
    const loaded = await lockThread(tx, call);
    await requireHostFor(tx, call.principal, loaded.thread);
    requireOpen(loaded.thread);
    requireUnoccupied(loaded.thread);
    await requireWorker(call.ctx, tx.db, { mayWait: true });
    const modelId =
      call.body.modelId ?? loaded.thread.model_id ?? (await effectiveSettings(tx.db, loaded.project)).modelId;
    const joins = await runToJoin(tx, loaded.thread.id, modelId);
    const again = joins ? {} : await reinitialize(tx, loaded);
    const { message, run, thread } = await acceptMessage(tx, loaded, {
      ...call.body,
      joins,
      startRun: (messageId) =>
        queueRun(tx, call.ctx.config, loaded, {
          kind: 'message',
          messageId,
          modelId,
          createdBy: call.principal.actorId,
        }),
    });
    await changeThread(tx, loaded, {
      ...again,
      ...thread,
      ...withParticipant(loaded.thread, call.principal),
    });
    return {
      status: 201,
      body: { ok: true, message: messageView(message), run: runView(run) },
      scope: scopeOf(loaded.project),
    };
  },
});
