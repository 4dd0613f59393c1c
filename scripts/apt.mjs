// Debian packages, for setup.mjs and for checks that need a program of the machine. Without dependencies.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';

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
        timeout: limitMs,
        env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      },
    ).status === 0;
  const add = () => apt('install', '--no-install-recommends', name);
  const hasLists = readdirSync('/var/lib/apt/lists').some((file) => file.includes('_Packages'));
  if (hasLists && add()) return;
  if (apt('update')) add();
}
