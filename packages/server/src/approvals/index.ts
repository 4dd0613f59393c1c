export { commandOf, decide, rememberedKey } from './decide.ts';
export type { Rules } from './decide.ts';
export { resolveApprovals } from './resolve.ts';
