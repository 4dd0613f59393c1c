/** What pages read of hosts. No event tells of these. */
import { client } from './client.ts';
import { QUIET_EVERY_MS } from './hooks-timing.ts';
import { many, one } from './query.ts';

const KEPT_FRESH = { staleTime: 0, refetchInterval: QUIET_EVERY_MS, refetchOnWindowFocus: true };

export const hostsQuery = () => ({
  ...many(['hosts'], null, (options) => client.hosts.list(options)),
  ...KEPT_FRESH,
});

export const hostQuery = (hostId: string) => ({
  ...one(['host', hostId], null, (options) => client.hosts.get(hostId, options)),
  ...KEPT_FRESH,
});

export const bindingsQuery = (hostId: string) => ({
  ...many(['host', hostId, 'bindings'], null, (options) => client.hosts.bindings(hostId, options)),
  ...KEPT_FRESH,
});
