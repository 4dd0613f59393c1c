import Type from 'typebox';
import { exampleOf } from '../http/example.ts';
import { read } from '../http/operation.ts';
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
    const { db } = call.ctx;
    const { thread } = await loadThread(db, call);
    const messages = await db
      .selectFrom('messages')
      .select(MESSAGE_COLUMNS)
      .where('thread_id', '=', thread.id)
      .orderBy('sequence')
      .execute();
    if (call.query.format === 'markdown') {
      const text = [
        `# ${thread.title ?? 'Thread'}`,
        ...messages.map((m) => `## ${m.role} (${m.created_at.toISOString()})\n\n${m.content}`),
      ].join('\n\n');
      return {
        status: 200,
        stream: `${text}\n`,
        headers: { 'content-type': 'text/markdown; charset=utf-8' },
      };
    }
    const [runs, tools, checkpoints] = await Promise.all([
      db.selectFrom('runs').selectAll().where('thread_id', '=', thread.id).orderBy('id').execute(),
      db.selectFrom('tools').selectAll().where('thread_id', '=', thread.id).orderBy('id').execute(),
      db.selectFrom('checkpoints').selectAll().where('thread_id', '=', thread.id).orderBy('id').execute(),
    ]);
    return {
      status: 200,
      body: {
        ok: true,
        export: {
          thread: await viewThread(db, thread.id),
          messages: messages.map(messageView),
          runs: runs.map(runView),
          tools: tools.map(toolView),
          checkpoints: checkpoints.map(checkpointView),
        },
      },
    };
  },
});
