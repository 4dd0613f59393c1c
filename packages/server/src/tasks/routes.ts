import { directRoute } from '../http/operation.ts';
import type { Route } from '../http/operation.ts';
import { createTask } from './create-task.ts';
import { deleteTask } from './delete-task.ts';
import { getTask } from './get-task.ts';
import { listTasks } from './list-tasks.ts';
import { updateTask } from './update-task.ts';

export const routes: Route[] = [
  directRoute('POST', '/tasks', createTask),
  directRoute('GET', '/tasks', listTasks),
  directRoute('GET', '/tasks/:taskId', getTask),
  directRoute('PATCH', '/tasks/:taskId', updateTask),
  directRoute('DELETE', '/tasks/:taskId', deleteTask),
];
