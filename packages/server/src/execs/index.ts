export { hasExecs, purgeExecs, purgeProjectExecs } from './store.ts';
