export { cleanUpLocalFolders } from './local/clean-up-folders.ts';
export { copyRepository } from './local/copy-repository.ts';
export { lookAtRepository, maintainLocalRepository } from './local/look-repository.job.ts';
export { accessDenied, scmFault, unsupported } from './faults.ts';
export { localPullEffects } from './local-effects.ts';
export { openInstallations } from './open-installations.ts';
export { openRepository } from './open-repository.ts';
export { followConfiguredInstallations } from './follow-config.ts';
export { loadInstallation, loadRepository } from './policy.ts';
export { serveGit } from './git-http/serve.ts';
export { nextLookAfterMs } from './poll-timing.ts';
export {
  deleteSourceControlOf,
  insertLocalInstallation,
  purgeHosted,
  sealedCredentials,
  sealedWebhookSecrets,
} from './store.ts';
export { maintainInstallations, syncRepositories } from './sync.job.ts';
export { ProviderError } from './provider.ts';
export type {
  AtRepository,
  GitTransport,
  OpenRepository,
  Provider,
  ProviderCheck,
  ProviderPullRequest,
  ReviewThread,
} from './provider.ts';
