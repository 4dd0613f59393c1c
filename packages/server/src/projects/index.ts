export { loadProject, scopeOf } from './policy.ts';
export { moveHead } from './move-head.ts';
export { headNotInitialized } from './get-head.ts';
export { deleteProjectRow } from './delete-project.ts';
export type { ProjectDependents } from './delete-project.ts';
export { projectRoutes } from './routes.ts';
export { Metadata } from './schemas.ts';
export { nextApplySequence, setProjectSettings } from './store.ts';
