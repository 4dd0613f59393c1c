import { readFileSync } from 'node:fs';
import type { Host } from '../host.ts';
import { isAtLeast, type EngineFacts } from './facts.ts';

/** As whom sandboxes run. */
export interface User {
  /** Number of the account inside, as the sandbox sees it. */
  user: number;
  usernsMode: string;
  hasUserNamespace: boolean;
}

const INSIDE = 1000;

/**
 * The sandboxes' files belong to the host's unprivileged user, so the account inside has to be that one. Podman maps it to 1000 in a user namespace of
 * the container's own, where this machine has numbers for that; Docker has one map for all containers or none, in which that user is not.
 */
export function userOf(host: Host, { kind, isRootless, version }: EngineFacts): User {
  const outside = host.uid ?? process.getuid!();
  const plain = { user: outside, usernsMode: 'host', hasUserNamespace: false };
  if (kind === 'docker') return plain;
  if (isRootless) return isAtLeast(version, [4, 3]) ? { user: INSIDE, usernsMode: `keep-id:uid=${INSIDE},gid=${INSIDE}`, hasUserNamespace: true } : { user: outside, usernsMode: 'keep-id', hasUserNamespace: true };
  if (!hasRangesOfIds()) return plain;
  return { user: INSIDE, usernsMode: `auto:uidmapping=${INSIDE}:${outside}:1,gidmapping=${INSIDE}:${outside}:1`, hasUserNamespace: true };
}

/** Podman takes the numbers of such namespaces from the lines of the user `containers`. */
function hasRangesOfIds(): boolean {
  return ['/etc/subuid', '/etc/subgid'].every((file) => { try { return /^containers:/m.test(readFileSync(file, 'utf8')); } catch { return false; } });
}
