/** Programs of Debian that a check needs. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { aptInstall } from '../../scripts/apt.mjs';

const INSTALL_MS = 5 * 60_000;

/** A program by its name or its path, and the package that has it. */
export function installPrograms(programs: Readonly<Record<string, string>>): void {
  for (const [program, name] of Object.entries(programs)) {
    const isThere = () =>
      program.startsWith('/')
        ? existsSync(program)
        : spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
    if (!isThere()) aptInstall(name, INSTALL_MS);
    if (!isThere()) throw new Error(`${program} is missing: apt-get install ${name}`);
  }
}
