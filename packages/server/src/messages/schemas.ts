import Type from 'typebox';
import { Body, Counter, Enum, Id, Nullable, Text, Time } from '../http/schemas.ts';
import type { MessageRow } from '../db/schema.ts';

export const Content = Text('```sh\nnpm test\n```', { minLength: 1, maxLength: 100_000 });
export const ClientMessageId = Text('7d1f5a52-0b0e-4c11-8c67-0f6d5f0a3c11', { minLength: 1, maxLength: 128 });
export const ModelId = Text('scripted', {
  minLength: 1,
  maxLength: 128,
  description: '`<provider>/<model>`, or `scripted`.',
});

const MediaType = Type.String({
  minLength: 3,
  maxLength: 255,
  pattern: '^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+$',
  examples: ['image/png'],
});

export const Attachment = Body({
  mediaType: MediaType,
  data: Type.String({
    contentEncoding: 'base64',
    examples: ['iVBORw0KGgo='],
    description: 'Canonical padded base64.',
  }),
});

export const Message = Type.Object({
  id: Id('msg'),
  threadId: Id('thr'),
  role: Enum(['user', 'assistant', 'system']),
  // An agent's reply has no limit of ours.
  content: Text('Done.', { minLength: 1 }),
  runId: Nullable(Id('run')),
  sequence: Counter,
  clientMessageId: Nullable(ClientMessageId),
  attachments: Type.Array(
    Type.Object({
      index: Type.Integer({ minimum: 0, examples: [0] }),
      mediaType: MediaType,
      byteSize: Type.Integer({ minimum: 0, examples: [1420] }),
    }),
    { description: 'What was sent with the message; the bytes of each are at `attachments/{index}`.' },
  ),
  createdAt: Time,
});

/** All but the attachments, which may be 64 MiB. */
export const MESSAGE_COLUMNS = [
  'org_id',
  'id',
  'thread_id',
  'run_id',
  'role',
  'content',
  'sequence',
  'client_message_id',
  'attachment_sizes',
  'created_at',
] as const;

export type MessageColumns = Pick<MessageRow, (typeof MESSAGE_COLUMNS)[number]>;

export const messageView = (m: MessageColumns) => ({
  id: m.id,
  threadId: m.thread_id,
  role: m.role,
  content: m.content,
  runId: m.run_id,
  sequence: m.sequence,
  clientMessageId: m.client_message_id,
  attachments: (m.attachment_sizes ?? []).map((attachment, index) => ({ index, ...attachment })),
  createdAt: m.created_at.toISOString(),
});
