import Type from 'typebox';
import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { Enum, IdInput, ListQuery, Page } from '../http/schemas.ts';
import { loadProject } from '../projects/index.ts';
import { Task, TASK_STATUSES } from './schemas.ts';
import { listTasks as findTasks } from './store.ts';
import { taskView } from './view.ts';

export const listTasks = read({
  name: 'tasks.listTasks',
  summary: 'List tasks, newest first',
  access: { permissions: ['thread:read'] },
  query: ListQuery({
    projectId: Type.Optional(IdInput('prj')),
    status: Type.Optional(Enum(TASK_STATUSES)),
  }),
  responses: { 200: Page('tasks', Task) },
  async handle(call) {
    const { ctx, principal, query } = call;
    const { projectId, status } = query;
    if (projectId !== undefined) await loadProject(ctx.db, call, 'none', projectId);
    const filter = { orgId: principal.orgId, projectIds: principal.projectIds, projectId, status };
    const { rows, ...rest } = await page(
      {
        secretKey: ctx.secretKey,
        query,
        scope: ['tasks', principal.orgId, projectId ?? null, status ?? null],
      },
      (after, limit) => findTasks(ctx.db, filter, after, limit),
      ({ id }) => id,
    );
    return { status: 200, body: { ok: true, tasks: rows.map(taskView), ...rest } };
  },
});
