import Type from 'typebox';
import { ApiError, invalid } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import { Body, IdInput, Ok } from '../http/schemas.ts';
import { newId } from '../ids.ts';
import { loadProject, nextTaskNumber, scopeOf } from '../projects/index.ts';
import { identifierOf, issueKey, IssueUrl, issueUrlFaults } from './issue-address.ts';
import { NewTitle, Task } from './schemas.ts';
import { insertTask, readTask } from './store.ts';
import { taskView } from './view.ts';

export const createTask = write({
  name: 'tasks.createTask',
  summary: 'Create a task',
  description:
    'With `trackerIssueUrl`, the task is about that issue. A project has one task per issue; a second one is 409 `conflict`. Threads that are created with the same address join the task.',
  access: { permissions: ['thread:create'] },
  body: Body({
    projectId: IdInput('prj'),
    title: NewTitle,
    trackerIssueUrl: Type.Optional(IssueUrl),
  }),
  responses: { 201: Ok({ task: Task }) },
  async handle(tx, call) {
    const { projectId, title, trackerIssueUrl: url } = call.body;
    const faults = issueUrlFaults('/trackerIssueUrl', url);
    if (faults.length) throw invalid(...faults);
    // A number is counted in the project's row.
    const project = await loadProject(tx.db, call, url === undefined ? 'update' : 'share', projectId);
    const task = await insertTask(tx, {
      org_id: project.org_id,
      id: newId('task'),
      project_id: project.id,
      identifier: url === undefined ? `T-${await nextTaskNumber(tx, project.id)}` : identifierOf(url),
      title,
      tracker_issue_url: url ?? null,
      issue_key: url === undefined ? null : issueKey(url),
      created_by: call.principal.actorId,
    });
    if (!task)
      throw new ApiError('conflict', 'The project already has a task for this issue. Use that task.');
    return {
      status: 201,
      scope: scopeOf(project),
      body: { ok: true, task: taskView((await readTask(tx.db, task.id))!) },
    };
  },
});
