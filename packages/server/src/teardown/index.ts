/** What ends with a thread or a project: their work in all domains, and the contents of what was deleted. */
export { cancelPreparation, cancelThreadWork } from './cancel-work.ts';
export { deleteProjectRow } from './delete-project-row.ts';
export { startCleanup } from './cleanup.ts';
