export { audit } from './record.ts';
export type { Actor } from './record.ts';
