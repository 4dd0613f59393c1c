export { cancelApply, endApply } from './end-apply.ts';
