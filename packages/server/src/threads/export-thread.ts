import Type from 'typebox';
import { exampleOf } from '../http/example.ts';
import type { ThreadRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { read } from '../http/operation.ts';
import type { Reply } from '../http/operation.ts';
import { Body, Enum, Ok } from '../http/schemas.ts';
import { Checkpoint, checkpointView } from '../checkpoints/index.ts';
import { Message, MESSAGE_COLUMNS, messageView } from '../messages/index.ts';
import { Run, runView, Tool, toolView } from '../runs/index.ts';
import { loadThread } from './policy.ts';
import { Thread } from './schemas.ts';
import { viewThread } from './view.ts';

const Export = Type.Object({
  thread: Thread,
  messages: Type.Array(Message),
  runs: Type.Array(Run),
  tools: Type.Array(Tool),
  checkpoints: Type.Array(Checkpoint),
});

export const exportThread = read({
  name: 'threads.exportThread',
  summary: "Export a thread's transcript, as JSON or Markdown",
  access: { permissions: ['thread:read'] },
  query: Body({ format: Type.Optional(Enum(['json', 'markdown'])) }),
  responses: {
    200: {
      content: {
        'application/json': { schema: Ok({ export: Export }), example: exampleOf(Ok({ export: Export })) },
        'text/markdown': { schema: { type: 'string' } },
      },
    },
  },
  async handle(call) {
    const { thread } = await loadThread(call.ctx.db, call);
    // One snapshot, so that the parts agree.
    return call.ctx.db
      .transaction()
      .setIsolationLevel('repeatable read')
      .setAccessMode('read only')
      .execute((db) => (call.query.format === 'markdown' ? markdownOf(db, thread) : jsonOf(db, thread.id)));
  },
});

const messagesOf = (db: Tx['db'], threadId: string) =>
  db
    .selectFrom('messages')
    .select(MESSAGE_COLUMNS)
    .where('thread_id', '=', threadId)
    .orderBy('sequence')
    .execute();

async function markdownOf(db: Tx['db'], { id, title }: ThreadRow): Promise<Reply> {
  const text = [
    `# ${title ?? 'Thread'}`,
    ...(await messagesOf(db, id)).map((m) => `## ${m.role} (${m.created_at.toISOString()})\n\n${m.content}`),
  ].join('\n\n');
  return {
    status: 200,
    stream: `${text}\n`,
    headers: { 'content-type': 'text/markdown; charset=utf-8' },
  };
}

async function jsonOf(db: Tx['db'], threadId: string): Promise<Reply> {
  const messages = await messagesOf(db, threadId);
  const runs = await db
    .selectFrom('runs')
    .selectAll()
    .where('thread_id', '=', threadId)
    .orderBy('id')
    .execute();
  const tools = await db
    .selectFrom('tools')
    .selectAll()
    .where('thread_id', '=', threadId)
    .orderBy('id')
    .execute();
  const checkpoints = await db
    .selectFrom('checkpoints')
    .selectAll()
    .where('thread_id', '=', threadId)
    .orderBy('id')
    .execute();
  return {
    status: 200,
    body: {
      ok: true,
      export: {
        thread: await viewThread(db, threadId),
        messages: messages.map(messageView),
        runs: runs.map(runView),
        tools: tools.map(toolView),
        checkpoints: checkpoints.map(checkpointView),
      },
    },
  };
}
