import { relative } from 'node:path';

/** A path relative to the workspace; models like absolute ones too. `.` is the root itself. */
export function workspacePath(root: string, path: string): string {
  const inside = path === root ? '.' : path.startsWith(`${root}/`) ? relative(root, path) : path;
  return inside.replace(/^(?:\.\/+)+(?=.)/, '').replace(/(?<=.)\/+$/, '') || '.';
}
