/**
 * PostgreSQL refuses to run as root. An ordinary user runs it as itself; root drops to a separate uid,
 * with one capability kept: to pass through folders. Thus the data folder and the checkout may lie below
 * /root or another 0700 folder. Rejected: a user namespace that maps root to another uid (cannot pass
 * another user's 0700 home, missing in many containers), and the machine's own postgres user (may not
 * exist, may own another server).
 */
import { lchownSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Nobody's: outside the ranges of people, packages and systemd's dynamic users, and not the sandboxes' uid.
 */
const SERVER_UID = 59_877;
/**
 * initdb, unlike the server, asks for the name of its user: the one unprivileged name that every machine
 * has.
 */
const NOBODY_UID = 65_534;
const DAC_OVERRIDE = 1;
const DAC_READ_SEARCH = 2;

const isRoot = () => process.getuid?.() === 0;

/**
 * The uid that is to own the server's files: an existing cluster keeps its owner, so that the person it
 * belongs to can start it later.
 */
export function serverUid(cluster: string): number | null {
  if (!isRoot()) return null;
  const owner = statSync(cluster, { throwIfNoEntry: false })?.uid;
  return owner === undefined || owner === 0 ? SERVER_UID : owner;
}

/** The command line that runs `argv` as `uid`; null leaves it as it is. */
export function asUser(uid: number | null, argv: string[]): string[] {
  if (uid === null) return argv;
  if (process.platform !== 'linux')
    throw new Error(
      'The embedded PostgreSQL does not run as root here: start the service as an ordinary user.',
    );
  // Containers often have only the mightier of the two.
  const capability = hasCapability(DAC_READ_SEARCH)
    ? 'dac_read_search'
    : hasCapability(DAC_OVERRIDE)
      ? 'dac_override'
      : null;
  const drop = ['/usr/bin/setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--no-new-privs'];
  // Without the secure bit access(2), by which the server finds its own binary, ignores the capability.
  // exec drops all others.
  if (capability)
    drop.push(
      `--inh-caps=-all,+${capability}`,
      `--ambient-caps=-all,+${capability}`,
      '--securebits=+no_setuid_fixup',
    );
  return [...drop, '--', ...argv];
}

export const initdbUid = (): number | null => (isRoot() ? NOBODY_UID : null);

/** Gives a folder and all in it to `uid`; null changes nothing. */
export function giveTo(uid: number | null, folder: string): void {
  if (uid === null) return;
  lchownSync(folder, uid, uid);
  for (const name of readdirSync(folder, { recursive: true }) as string[])
    lchownSync(join(folder, name), uid, uid);
}

function hasCapability(bit: number): boolean {
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
  return ((BigInt(`0x${effective}`) >> BigInt(bit)) & 1n) === 1n;
}
