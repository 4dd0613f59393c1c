import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * Unmounts everything below a folder, so that nothing is deleted through a mount. False when a mount stays:
 * leave the folder alone then.
 */
export function unmountBelow(folder: string): boolean {
  const mounts = mountsBelow(folder);
  if (mounts.length === 0) return true;
  spawnSync('/bin/umount', ['-n', '-l', '--', ...mounts], {
    env: {},
    cwd: '/',
    stdio: 'ignore',
    timeout: 30_000,
  });
  return mountsBelow(folder).length === 0;
}

/** Deepest first. */
function mountsBelow(folder: string): string[] {
  let table: string;
  try {
    table = readFileSync('/proc/self/mountinfo', 'utf8');
  } catch {
    return [];
  }
  const points = table
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .map((point) =>
      point.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8))),
    );
  return points.filter((point) => point.startsWith(`${folder}/`)).toReversed();
}
