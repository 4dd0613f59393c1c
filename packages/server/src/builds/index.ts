export { cancelThreadBuild } from './cancel-build.ts';
