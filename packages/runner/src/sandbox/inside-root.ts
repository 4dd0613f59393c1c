import { lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** As many links as Linux follows. */
const LINKS = 40;

/**
 * The real path of a file of a root file system, with links followed as its own programs follow them: an
 * absolute one begins at the root, and none leads above it: `onLeave` is called where one tries. Undefined
 * where nothing is there.
 */
export function insideRoot(root: string, path: string, onLeave: () => void = () => {}): string | undefined {
  let left = path.split('/');
  const found: string[] = [];
  for (let links = 0; left.length > 0;) {
    const [name, ...rest] = left as [string, ...string[]];
    left = rest;
    if (name === '' || name === '.') continue;
    if (name === '..') {
      if (found.pop() === undefined) onLeave();
      continue;
    }
    const here = join(root, ...found, name);
    const stat = lstatSync(here, { throwIfNoEntry: false });
    if (!stat) return undefined;
    if (!stat.isSymbolicLink()) {
      found.push(name);
      continue;
    }
    if (++links > LINKS) return undefined;
    const target = readlinkSync(here);
    if (target.startsWith('/')) found.length = 0;
    left = [...target.split('/'), ...left];
  }
  return join(root, ...found);
}

/** Whether the folder holds a root file system with a POSIX sh. */
export function isRoot(root: string): boolean {
  try {
    const shell = insideRoot(realpathSync(root), '/bin/sh');
    return shell !== undefined && statSync(shell).isFile();
  } catch {
    return false;
  }
}
