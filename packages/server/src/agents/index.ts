export { agentOf, modelOf, turnAgent } from './registry.ts';
export type { Registry } from './registry.ts';
