import type { ProjectRow, TaskRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { invalid, notFound } from '../http/errors.ts';
import type { Principal } from '../http/principal.ts';
import { newId } from '../ids.ts';
import { enqueue } from '../jobs/enqueue.ts';
import { identifierOf, issueKey } from './issue-address.ts';
import { takeTask, takeTaskOfIssue } from './store.ts';

interface Wanted {
  taskId?: string | undefined;
  trackerIssueUrl?: string | undefined;
}

/**
 * The task of a new thread: the one that is named, or the issue's, which is created if the project has none. Its
 * `last_thread_index` is the thread's index. Null if the caller names neither. The caller keeps the project from being
 * deleted.
 */
export async function giveTask(
  tx: Tx,
  creator: Pick<Principal, 'actorId'>,
  project: ProjectRow,
  { taskId, trackerIssueUrl }: Wanted,
): Promise<TaskRow | null> {
  if (taskId !== undefined) return named(tx, project, { taskId, trackerIssueUrl });
  if (trackerIssueUrl === undefined) return null;
  const id = newId('task');
  const identifier = identifierOf(trackerIssueUrl);
  const task = await takeTaskOfIssue(tx, {
    org_id: project.org_id,
    id,
    project_id: project.id,
    identifier,
    title: identifier,
    title_awaits_issue: true,
    tracker_issue_url: trackerIssueUrl,
    issue_key: issueKey(trackerIssueUrl),
    created_by: creator.actorId,
  });
  if (task.id === id) await enqueue(tx, 'task.title', { taskId: id }, { turnOf: task });
  return task;
}

async function named(
  tx: Tx,
  project: ProjectRow,
  { taskId, trackerIssueUrl }: Wanted & { taskId: string },
): Promise<TaskRow> {
  const task = await takeTask(tx, project.id, taskId);
  if (!task) throw notFound('task');
  if (trackerIssueUrl !== undefined && task.issue_key !== issueKey(trackerIssueUrl))
    throw invalid({ path: '/trackerIssueUrl', message: "must be the address of the task's issue" });
  return task;
}
