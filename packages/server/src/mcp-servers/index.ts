export { PrivateAddressError, publicConnector } from './addresses.ts';
export { mcpServersOf, mcpTarget } from './of-project.ts';
export { routes } from './routes.ts';
