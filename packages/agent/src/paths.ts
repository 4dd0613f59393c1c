import { chmodSync, lstatSync, mkdirSync, rmSync, type Stats } from 'node:fs';
import { dirname, join, posix } from 'node:path';

/** Thrown when a path may not be used; the message names it. */
export class PathError extends Error {
  override readonly name = 'PathError';
}

/**
 * The path below `root`. Throws PathError when it is absolute, empty or leaves `root`. Does not look at
 * links.
 */
export function below(root: string, path: string): string {
  const clean = posix.normalize(path);
  if (
    path === '' ||
    path.includes('\0') ||
    clean.startsWith('/') ||
    clean === '.' ||
    clean === '..' ||
    clean.startsWith('../') ||
    path.endsWith('/')
  ) {
    throw new PathError(`${path}: not a path of a file in the workspace`);
  }
  return join(root, clean);
}

export function statOf(file: string | Buffer): Stats | undefined {
  return lstatSync(file, { throwIfNoEntry: false });
}

/**
 * Makes the folders above a file below `root`; removes anything in their way that is not a folder, links
 * above all.
 */
export function makeWay(root: string, file: string): void {
  const parent = dirname(file);
  if (parent === root || !parent.startsWith(`${root}/`)) return;
  makeWay(root, parent);
  const stat = statOf(parent);
  if (stat?.isDirectory()) {
    if ((stat.mode & 0o700) !== 0o700) chmodSync(parent, stat.mode | 0o700);
    return;
  }
  if (stat) rmSync(parent);
  mkdirSync(parent);
}
