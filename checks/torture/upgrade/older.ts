/** Older versions of this repository, as a folder to start from. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');
const VERSIONED = 'packages/runner/src/protocol.ts';

const git = (...args: string[]) =>
  execFileSync('git', args, {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
    stdio: ['ignore', 'pipe', 'ignore'],
  });

/**
 * The commit before, and the last one with another version of the runner's protocol; fewer where this clone does not
 * have them.
 */
export function olderCommits(): string[] {
  const found = new Set<string>();
  for (const find of [
    () => git('rev-parse', '--verify', 'HEAD~1'),
    () => {
      const change = git(
        'log',
        '--format=%H',
        '-n1',
        '-G^export const PROTOCOL_VERSION',
        '--',
        VERSIONED,
      ).trim();
      return change === '' ? '' : git('rev-parse', '--verify', `${change}~1`);
    },
  ]) {
    try {
      found.add(find().trim());
    } catch {
      // A shallow clone, or no git.
    }
  }
  found.delete('');
  return [...found];
}

/** Unpacks a commit; its packages find each other, and this tree's dependencies. Returns its main file. */
export function unpack(commit: string, folder: string): string {
  mkdirSync(join(folder, 'node_modules/@headrace'), { recursive: true });
  execFileSync('/bin/sh', ['-c', 'git archive "$1" | tar -x -C "$2"', 'sh', commit, folder], { cwd: ROOT });
  for (const name of readdirSync(join(ROOT, 'node_modules')))
    if (name !== '@headrace')
      symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  for (const name of readdirSync(join(folder, 'packages')))
    symlinkSync(join(folder, 'packages', name), join(folder, 'node_modules/@headrace', name));
  return join(folder, 'packages/server/src/main.ts');
}
