import { lstatSync, type BigIntStats } from 'node:fs';
import { join } from 'node:path';
import { collect } from '../sandbox/collect.ts';
import { DEFAULT_LIMITS } from '../sandbox/driver.ts';
import { startSandbox, type Host } from '../sandbox/host.ts';
import { DEPENDENCIES } from '../workspaces/dependency-cache.ts';
import type { Overlay } from '../workspaces/overlay.ts';
import type { Tree } from '../workspaces/tree.ts';
import { COMPARE_NPM } from './compare-npm.ts';

/**
 * The file that an installer writes last, the lock file that it installs from, and the shell test that the
 * folder matches the lock.
 */
interface Installer {
  lock: string;
  marker: string;
  isWhole: string;
}

const NOT_OLDER = '[ ! "$2" -nt "$3" ]';
const INSTALLERS: Installer[] = [
  { lock: 'package-lock.json', marker: '.package-lock.json', isWhole: 'node -e "$4"' },
  { lock: 'pnpm-lock.yaml', marker: '.modules.yaml', isWhole: `cmp -s "$2" ${DEPENDENCIES}/.pnpm/lock.yaml` },
  { lock: 'yarn.lock', marker: '.yarn-integrity', isWhole: NOT_OLDER },
  { lock: 'yarn.lock', marker: '.yarn-state.yml', isWhole: NOT_OLDER },
];

/** An installer's end marker in a workspace, and when it was written. */
interface Marker {
  installer: Installer;
  writtenAt: string;
}

export interface Installed {
  lock: string;
  byteSize: number;
}

const TIMEOUT_MS = 3_000;
const UPPER = '/run/headrace-upper';

/** A hash over the inode and the path of every entry. */
const numbersOf = (folder: string): string =>
  `$(cd ${folder} && find . -printf '%i %p\\0' | LC_ALL=C sort -z | sha256sum)`;

/**
 * $1: the layer's own folder, $2: the lock file, $3: the marker. A file with a second name could still be
 * written through that name. A folder that was moved in from the source has its inode from there, and in
 * another workspace it would show that workspace's source at its place. Prints the lock's hash and the size
 * in KiB.
 */
const script = (isWhole: string): string => `set -e
[ -f "$2" ] && [ ! -L "$2" ] && [ -f "$3" ] && [ ! -L "$3" ] || { echo "no lock file" >&2; exit 1; }
odd=$(find "$1" \\( -type f -links +1 -o ! -type f ! -type d ! -type l -o -type d ! -perm -u=rwx \\) -print -quit)
[ -z "$odd" ] || { echo "odd: $odd" >&2; exit 1; }
[ "${numbersOf('"$1"')}" = "${numbersOf(DEPENDENCIES)}" ] || { echo "not of its own" >&2; exit 1; }
{ ${isWhole}; } || { echo "not what the lock file says" >&2; exit 1; }
set -- "$(sha256sum <"$2")" "$(du -sk "$1")"
echo "\${1%% *} \${2%%[!0-9]*}"`;

/**
 * The end marker of an installer among the files written to a workspace. The host looks at two names below
 * folders in which nothing is live: neither look follows a link, and a workspace without dependencies costs
 * nothing more.
 */
export function markerIn({ upper }: Overlay): Marker | undefined {
  if (!look(join(upper, DEPENDENCIES))?.isDirectory()) return undefined;
  for (const installer of INSTALLERS) {
    const found = look(join(upper, DEPENDENCIES, installer.marker));
    if (found?.isFile()) return { installer, writtenAt: `${found.mtimeNs} ${found.ctimeNs}` };
  }
  return undefined;
}

/**
 * Checks inside a sandbox that the dependency folder is complete, matches its lock file, and lies entirely in
 * the workspace's own layer; undefined if not.
 */
export async function inspect(
  host: Host,
  tree: Tree,
  { upper }: Overlay,
  { installer: { lock, marker, isWhole } }: Marker,
): Promise<Installed | undefined> {
  const sandbox = startSandbox(host, {
    command: [
      '/bin/sh',
      '-c',
      script(isWhole),
      'sh',
      `${UPPER}/${DEPENDENCIES}`,
      lock,
      `${DEPENDENCIES}/${marker}`,
      COMPARE_NPM,
    ],
    binds: [tree.bind({ readOnly: true }), { host: upper, inside: UPPER, readOnly: true }],
    limits: DEFAULT_LIMITS,
  });
  sandbox.stdin.end();
  const { code, stdout } = await collect(sandbox, { maxBytes: 4096, timeoutMs: TIMEOUT_MS });
  const said = /^([0-9a-f]{64}) (\d{1,12})\n$/.exec(stdout.toString('latin1'));
  return code === 0 && said ? { lock: said[1]!, byteSize: Number(said[2]) * 1024 } : undefined;
}

function look(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
