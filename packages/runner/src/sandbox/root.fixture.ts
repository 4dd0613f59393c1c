import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const TOOLS = ['sh', 'cat', 'ls', 'id', 'env', 'grep', 'mkdir', 'ln'];

/**
 * A root file system with a shell, a few tools and the libraries of these alone, of which Node needs more: as
 * little as an image of Alpine it has what the runner's Node is linked with. /etc/mark holds `mark`. It has no
 * /home, /opt or /var, and no /etc/passwd.
 */
export function makeRoot(folder: string, mark: string): string {
  for (const name of ['bin', 'etc', 'srv']) mkdirSync(join(folder, name), { recursive: true });
  chmodSync(folder, 0o755);
  writeFileSync(join(folder, 'etc/mark'), `${mark}\n`);
  for (const tool of TOOLS) {
    const path = spawnSync('/bin/sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' }).stdout.trim();
    copyFileSync(realpathSync(path), join(folder, 'bin', tool));
    const { stdout } = spawnSync('ldd', [path], { encoding: 'utf8' });
    for (const [, library] of stdout.matchAll(/(\/\S+\.so\S*)/g)) {
      mkdirSync(dirname(join(folder, library!)), { recursive: true });
      copyFileSync(realpathSync(library!), join(folder, library!));
    }
  }
  return folder;
}
