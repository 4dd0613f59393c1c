/** What the operations that begin a thread have in common: its first message, and their answer. */
import Type from 'typebox';
import type { ProjectRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { Body, Ok } from '../http/schemas.ts';
import { ClientMessageId, Content, Message, messageView } from '../messages/index.ts';
import { scopeOf } from '../projects/index.ts';
import { Thread, viewThread } from '../threads/index.ts';
import type { BegunThread } from './begin-thread.ts';
import { Run } from './schemas.ts';
import { runView } from './view.ts';

export const FirstMessage = Body({ content: Content, clientMessageId: Type.Optional(ClientMessageId) });

export const BEGUN = {
  201: Ok({ thread: Thread, message: Type.Optional(Message), run: Type.Optional(Run) }),
};

export async function answerBegun(tx: Tx, project: ProjectRow, { thread, first }: BegunThread) {
  return {
    status: 201,
    scope: scopeOf(project),
    body: {
      ok: true,
      thread: await viewThread(tx.db, thread.id),
      ...(first && { message: messageView(first.message), run: runView(first.run) }),
    },
  };
}
