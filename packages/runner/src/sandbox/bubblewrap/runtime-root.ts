import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmdirSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { RunnerError } from '../../errors.ts';
import { HOME, WORKSPACE } from '../driver.ts';
import type { Host } from '../host.ts';

/** Identity and names, which every sandbox gets from the runner. */
export const OWN_ETC = ['passwd', 'group', 'hosts', 'hostname'].map((name) => `/etc/${name}`);
const OWN_FOLDERS = ['/opt/headrace', HOME, '/var/tmp'];
/** What the sandbox makes itself; what a root has there is not shown. */
const OWN = new Set(['/dev', '/proc', '/sys', '/run', '/tmp', WORKSPACE, ...OWN_FOLDERS, ...OWN_ETC]);

/**
 * bwrap's arguments that show a root file system read-only. A folder in which the sandbox needs a place that
 * the root does not have is shown entry by entry, because nothing can be made in a read-only one.
 */
export function rootArguments(root: string): string[] {
  return place(root, '');
}

function place(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (OWN.has(path)) return [];
    if (entry.isSymbolicLink()) return ['--symlink', readlinkSync(join(root, path)), path];
    if (entry.isFile() || (entry.isDirectory() && !lacksPlaces(root, path)))
      return ['--ro-bind', join(root, path), path];
    return entry.isDirectory() ? ['--dir', path, ...place(root, path)] : [];
  });
}

function lacksPlaces(root: string, folder: string): boolean {
  const isWithin = (path: string): boolean => path.startsWith(`${folder}/`);
  return (
    OWN_FOLDERS.some((path) => isWithin(path) && !statOf(root, path)?.isDirectory()) ||
    OWN_ETC.some((path) => isWithin(path) && !statOf(root, path)?.isFile())
  );
}

const statOf = (root: string, path: string) => lstatSync(join(root, path), { throwIfNoEntry: false });

/**
 * A path of the root that the sandboxes' user can reach. Where only root enters a folder above it (the data
 * folder), the runner mounts it below its own.
 */
export function reachableRoot({ base, uid }: Host, root: string): string {
  const real = realpathSync(root);
  if (uid === null) return real;
  const asSandbox = { uid, gid: uid, env: {}, cwd: '/' };
  if (spawnSync('/usr/bin/test', ['-x', join(real, '.')], asSandbox).status === 0) return real;
  const { dev, ino } = statSync(real);
  const folder = join(base, `root-${createHash('sha256').update(`${real} ${dev} ${ino}`).digest('hex')}`);
  if (existsSync(folder)) return folder;
  mkdirSync(folder, { mode: 0o755 });
  if (spawnSync('/bin/mount', ['-n', '--bind', '--', real, folder], { env: {}, cwd: '/' }).status === 0)
    return folder;
  rmdirSync(folder);
  throw new RunnerError(
    503,
    'no_sandbox',
    `The sandboxes' user (${uid}) may not read ${root}. Open it and the folders above it: chmod o+rx.`,
  );
}
