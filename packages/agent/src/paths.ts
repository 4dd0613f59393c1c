import { chmodSync, lstatSync, mkdirSync, rmSync, type Stats } from 'node:fs';
import { dirname, join, posix } from 'node:path';

/** Thrown where a path may not be used; the message names it. */
export class PathError extends Error {
  override readonly name = 'PathError';
}

/**
 * The path below `root`, or PathError when it is absolute, empty or leaves `root`. Links are not looked at.
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

export function statOf(file: string): Stats | undefined {
  return lstatSync(file, { throwIfNoEntry: false });
}

/**
 * Makes the folders above a file below `root`; whatever stands in their way that is no folder (a link above
 * all) is removed.
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
