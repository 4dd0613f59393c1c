import { notFound } from '../http/errors.ts';
import { read } from '../http/operation.ts';
import { loadThread } from '../threads/index.ts';
import { findAttachment } from './store.ts';

/** A place in a list; of another form nothing is there. */
const INDEX = /^(?:0|[1-9]\d{0,2})$/;

export const getAttachment = read({
  name: 'messages.getAttachment',
  summary: 'Download an attachment of a message',
  description:
    'The bytes as they were sent, with the media type that the sender named. The service does not check them: treat them as an untrusted file.',
  access: { permissions: ['thread:read'] },
  responses: {
    200: {
      content: { '*/*': { schema: { type: 'string', contentMediaType: 'application/octet-stream' } } },
      description: 'The bytes.',
    },
  },
  async handle(call) {
    const { ctx, params } = call;
    const { thread } = await loadThread(ctx.db, call);
    const attachment = INDEX.test(params.index!)
      ? await findAttachment(ctx.db, {
          threadId: thread.id,
          messageId: params.messageId!,
          index: Number(params.index),
        })
      : undefined;
    if (!attachment) throw notFound('attachment');
    return {
      status: 200,
      stream: Buffer.from(attachment.data, 'base64'),
      // It comes from a caller, so a browser saves it, whatever it is.
      headers: { 'content-type': attachment.mediaType, 'content-disposition': 'attachment' },
    };
  },
});
