import { read } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { loadThread } from './policy.ts';
import { readThread } from './read-threads.ts';
import { Thread } from './schemas.ts';
import { threadView, viewThread } from './view.ts';

export const getThread = read({
  name: 'threads.getThread',
  summary: 'Get a thread',
  access: { permissions: ['thread:read'] },
  responses: { 200: Ok({ thread: Thread }) },
  async handle(call) {
    const { db } = call.ctx;
    const found = await readThread(db, call);
    // Loading the app and the thread one by one finds out which of the two is missing.
    const thread = found ? threadView(found) : await viewThread(db, (await loadThread(db, call)).thread.id);
    return { status: 200, body: { ok: true, thread } };
  },
});
