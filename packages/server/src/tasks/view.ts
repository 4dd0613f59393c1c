import type { TaskDetails } from './store.ts';

export const taskView = (task: TaskDetails) => ({
  id: task.id,
  orgId: task.org_id,
  projectId: task.project_id,
  identifier: task.identifier,
  title: task.title,
  status: task.status,
  trackerIssueUrl: task.tracker_issue_url,
  threadIds: task.thread_ids,
  createdByUserId: task.created_by,
  createdAt: task.created_at.toISOString(),
  updatedAt: task.updated_at.toISOString(),
});
