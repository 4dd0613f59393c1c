import { audit } from '../audit/index.ts';
import { write } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { leaveTask } from '../threads/index.ts';
import { loadTask, lockTask } from './policy.ts';
import { Task } from './schemas.ts';
import { removeTask } from './store.ts';
import { taskView } from './view.ts';

export const deleteTask = write({
  name: 'tasks.deleteTask',
  summary: 'Delete a task and keep its threads',
  access: { permissions: ['thread:delete'] },
  responses: { 200: Ok({ task: Task }) },
  async handle(tx, call) {
    const { task, scope } = await lockTask(tx, call);
    const last = await loadTask(tx.db, call);
    await leaveTask(tx, scope, task.id);
    await removeTask(tx, task.id);
    await audit(tx, call, 'task.deleted', task.id);
    return { status: 200, scope, body: { ok: true, task: taskView(last) } };
  },
});
