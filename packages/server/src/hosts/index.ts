/** What other domains may use of hosts. */
export { atHost, hostStanding } from './at-host.ts';
export { forgetEnded } from './forget-ended.ts';
export { HostHub } from './hub.ts';
export { deleteHostsOf, folderWait, hostDelaySeconds, hostWait } from './store.ts';
export { requireHostFor, requireNoHost, requireTarget } from './target.ts';
