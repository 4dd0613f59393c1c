import Type from 'typebox';
import { write } from '../http/operation.ts';
import { Body, Enum, Nullable, Ok } from '../http/schemas.ts';
import { publishTask } from '../threads/index.ts';
import { loadTask, lockTask } from './policy.ts';
import { NewTitle, Task, TASK_STATUSES } from './schemas.ts';
import { writeTask } from './store.ts';
import { taskView } from './view.ts';

export const updateTask = write({
  name: 'tasks.updateTask',
  summary: 'Change the title or status of a task',
  description:
    "A set status stays until it is changed, or cleared with null. A change publishes `thread.updated` for each of the task's threads.",
  access: { permissions: ['thread:update'] },
  body: Body({ title: Type.Optional(NewTitle), status: Type.Optional(Nullable(Enum(TASK_STATUSES))) }),
  responses: { 200: Ok({ task: Task }) },
  async handle(tx, call) {
    const { task, scope } = await lockTask(tx, call);
    const { title = task.title, status = task.set_status } = call.body;
    const isChanged = title !== task.title || status !== task.set_status;
    // A title that a person sets is not replaced, even if it equals the current one.
    const awaitsIssue = task.title_awaits_issue && call.body.title === undefined;
    if (isChanged || awaitsIssue !== task.title_awaits_issue)
      await writeTask(tx, task.id, { title, set_status: status, title_awaits_issue: awaitsIssue });
    if (isChanged) await publishTask(tx, scope, task.id);
    return { status: 200, scope, body: { ok: true, task: taskView(await loadTask(tx.db, call)) } };
  },
});
