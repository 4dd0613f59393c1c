export { mcpServersOf, mcpTarget } from './of-project.ts';
export { deleteMcpServersOf, sealedMcpSecrets } from './store.ts';
