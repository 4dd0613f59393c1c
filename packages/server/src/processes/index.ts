export { requireWorker } from './require-worker.ts';
export { startSignsOfLife } from './sign-of-life.ts';
