import { read } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { loadTask } from './policy.ts';
import { Task } from './schemas.ts';
import { taskView } from './view.ts';

export const getTask = read({
  name: 'tasks.getTask',
  summary: 'Get a task',
  access: { permissions: ['thread:read'] },
  responses: { 200: Ok({ task: Task }) },
  handle: async (call) => ({
    status: 200,
    body: { ok: true, task: taskView(await loadTask(call.ctx.db, call)) },
  }),
});
