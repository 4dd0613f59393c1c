export { nextLookAfterMs } from './poll-timing.ts';
export { insertLocalInstallation } from './store.ts';
export { ProviderError } from './provider.ts';
export type { AtRepository, GitTransport, OpenRepository, Provider } from './provider.ts';
