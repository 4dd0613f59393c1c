// Debian packages, for setup.mjs and for checks that need a program of the machine. Without dependencies.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Whether this process may install Debian packages. */
export function mayInstall() {
  return (
    process.platform === 'linux' &&
    process.getuid() === 0 &&
    spawnSync('apt-get', ['--version'], { stdio: 'ignore', timeout: 10_000 }).status === 0
  );
}

/** Installs a package with apt-get within the limit. A failure shows in its program still missing afterwards. */
export function aptInstall(name, limitMs = 180_000) {
  withLists((apt) => apt('install', '--no-install-recommends', name), limitMs);
}

/** Puts a package's files into a folder, whole or not at all, and installs nothing. */
export function aptUnpack(name, folder, limitMs = 180_000) {
  mkdirSync(dirname(folder), { recursive: true });
  const scratch = mkdtempSync(`${folder}-`);
  try {
    withLists((apt) => apt('download', name), limitMs, scratch);
    const file = readdirSync(scratch).find((one) => one.endsWith('.deb'));
    if (file === undefined) return;
    const to = join(scratch, 'files');
    const unpacked = spawnSync('dpkg-deb', ['-x', join(scratch, file), to], { timeout: limitMs });
    if (unpacked.status === 0) renameSync(to, folder);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Calls apt-get, and once more with new lists of packages where that fails. */
function withLists(act, limitMs, cwd = '/') {
  const apt = (...args) =>
    spawnSync(
      'apt-get',
      [
        '-q',
        '-y',
        '-o',
        'DPkg::Lock::Timeout=60',
        '-o',
        'Acquire::Retries=1',
        '-o',
        'Acquire::http::Timeout=20',
        ...args,
      ],
      {
        stdio: 'ignore',
        cwd,
        timeout: limitMs,
        env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      },
    ).status === 0;
  const hasLists = readdirSync('/var/lib/apt/lists').some((file) => file.includes('_Packages'));
  if (hasLists && act(apt)) return;
  if (apt('update')) act(apt);
}
