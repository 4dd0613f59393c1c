export { onAccessChanged, recheck } from './access.ts';
export { createAuthenticator } from './authenticate.ts';
export { setPlatformApi } from './entitlements.ts';
export { firstStart } from './first-start.ts';
export { isServiceKey, makeServiceKey } from './keys.ts';
export { accountRoutes } from './routes.ts';
