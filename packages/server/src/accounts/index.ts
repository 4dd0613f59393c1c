export { onAccessChanged, recheck } from './access.ts';
export { createAuthenticator } from './authenticate.ts';
export { firstStart } from './first-start.ts';
export { isServiceKey, makeServiceKey, namesServiceKey } from './keys.ts';
export {
  lockOrganization,
  markOrganizationsPurged,
  setOrganizationSettings,
  setPlatformApi,
} from './store.ts';
