export { insertLocalInstallation } from './store.ts';
