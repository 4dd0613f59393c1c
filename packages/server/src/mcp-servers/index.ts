export { mcpServersOf, mcpTarget } from './of-project.ts';
export { publicConnector } from './public-connector.ts';
export { deleteMcpServersOf, sealedMcpSecrets } from './store.ts';
