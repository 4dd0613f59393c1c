/** What other domains may use of tasks. */
export { giveTask } from './give-task.ts';
export { issueKey, IssueUrl, issueUrlFaults } from './issue-address.ts';
export { lockTaskById } from './policy.ts';
export { MAX_TITLE, TaskOfThread } from './schemas.ts';
export { purgeTasks, taskOf, writeTask } from './store.ts';
export type { TaskJson } from './store.ts';
