import { read } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { readThread } from './policy.ts';
import { Thread } from './schemas.ts';
import { viewThread } from './view.ts';

export const getThread = read({
  name: 'threads.getThread',
  summary: 'Get a thread',
  access: { permissions: ['thread:read'] },
  responses: { 200: Ok({ thread: Thread }) },
  async handle(call) {
    const thread = await readThread(call.ctx.db, call);
    return { status: 200, body: { ok: true, thread: await viewThread(call.ctx.db, thread) } };
  },
});
