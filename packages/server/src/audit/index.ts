export { audit, serviceOf } from './record.ts';
export type { Actor } from './record.ts';
