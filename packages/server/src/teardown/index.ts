/** What ends with a thread or a project: their work in all domains, and the rows of a deleted project. */
export { cancelPreparation, cancelThreadWork } from './cancel-work.ts';
export { deleteProjectRow } from './delete-project-row.ts';
