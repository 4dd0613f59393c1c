import { readFileSync } from 'node:fs';
import type { Host } from '../host.ts';
import { isAtLeast, type EngineFacts } from './facts.ts';

/** The identity that sandboxes run under. */
export interface User {
  /** The number of the account inside, as the sandbox sees it. */
  user: number;
  usernsMode: string;
  /**
   * Why the container has no user namespace of its own, in words that follow the engine's name; null when it
   * has one.
   */
  shares: string | null;
}

const INSIDE = 1000;
const RANGES = '/etc/subuid and /etc/subgid';

/**
 * The users to try, the best first. The sandboxes' files belong to the host's unprivileged user, so the
 * account inside has to be that user. Podman maps it to 1000 in a user namespace per container, where this
 * machine has id ranges for that and its storage can do it; Docker has one map for all containers or none,
 * and that user is not in it.
 */
export function usersFor(host: Host, { kind, isRootless, version }: EngineFacts): User[] {
  const outside = host.uid ?? process.getuid!();
  const plain = (shares: string): User => ({ user: outside, usernsMode: 'host', shares });
  if (kind === 'docker') return [plain('has one map of users for all containers')];
  if (isRootless)
    return [
      isAtLeast(version, [4, 3])
        ? { user: INSIDE, usernsMode: `keep-id:uid=${INSIDE},gid=${INSIDE}`, shares: null }
        : { user: outside, usernsMode: 'keep-id', shares: null },
    ];
  if (!hasRangesOfIds())
    return [plain(`finds no numbers for others: add a line containers:2147483647:2147483648 to ${RANGES}`)];
  return [
    {
      user: INSIDE,
      usernsMode: `auto:uidmapping=${INSIDE}:${outside}:1,gidmapping=${INSIDE}:${outside}:1`,
      shares: null,
    },
    plain('cannot map users with its storage as it is (with the driver vfs it can)'),
  ];
}

/** Podman takes the id ranges of such namespaces from the lines of the user `containers`. */
function hasRangesOfIds(): boolean {
  return ['/etc/subuid', '/etc/subgid'].every((file) => {
    try {
      return /^containers:/m.test(readFileSync(file, 'utf8'));
    } catch {
      return false;
    }
  });
}
