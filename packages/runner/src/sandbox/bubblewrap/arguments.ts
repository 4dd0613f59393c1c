import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { carriedNode } from '../carried-node.ts';
import { BASE_ENV, MEMORY_FOLDERS, NODE, WORKSPACE, type SandboxSpec } from '../driver.ts';
import { GUEST } from '../guest.ts';
import type { Host } from '../host.ts';
import { OWN_ETC, rootArguments } from './runtime-root.ts';

/** Every namespace is new, every capability dropped; the network namespace has nothing but lo. */
const ISOLATION = [
  ['--unshare-user', '--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts'],
  ['--unshare-cgroup-try'],
  ['--uid', '1000', '--gid', '1000', '--hostname', 'sandbox'],
  ['--disable-userns', '--cap-drop', 'ALL', '--die-with-parent', '--new-session', '--clearenv'],
].flat();

/** Who commits, for git in a runtime: few roots have a file at its usual place that could be mounted on. */
const GIT_CONFIG = '/opt/headrace/gitconfig';

/** Folders of the system that are links into /usr on most machines. */
const SYSTEM_FOLDERS = ['/bin', '/lib', '/lib32', '/lib64', '/libx32', '/sbin'];

/**
 * bwrap's arguments for one sandbox, which it reads NUL-separated from a descriptor so that no command line
 * shows them. What is not mounted here does not exist inside.
 */
export function bubblewrapArguments(
  host: Host,
  { binds, env, root }: Required<Pick<SandboxSpec, 'binds' | 'env'>> & { root: string | undefined },
  descriptors: { seccomp: number; info: number },
): string[] {
  return [
    ISOLATION,
    root === undefined ? ownSystem(host) : runtimeSystem(host, root),
    ['--proc', '/proc', '--dev', '/dev'],
    MEMORY_FOLDERS.flatMap(memoryFolder),
    ['--dir', '/run'],
    readOnly(host.guest.folder, GUEST),
    binds.flatMap((bind) => [bind.readOnly ? '--ro-bind' : '--bind', bind.host, bind.inside]),
    ['/dev', '/proc', '/'].flatMap((path) => ['--remount-ro', path]),
    ['--chdir', WORKSPACE],
    Object.entries({
      ...BASE_ENV,
      ...env,
      ...(root === undefined ? {} : { GIT_CONFIG_SYSTEM: GIT_CONFIG }),
    }).flatMap(([name, value]) => ['--setenv', name, value]),
    ['--seccomp', String(descriptors.seccomp), '--info-fd', String(descriptors.info)],
  ].flat();
}

/** This machine's own system. */
const ownSystem = (host: Host): string[] =>
  [
    readOnly('/usr', '/usr'),
    SYSTEM_FOLDERS.filter((path) => existsSync(path)).flatMap((path) =>
      lstatSync(path).isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : readOnly(path, path),
    ),
    readOnly(host.etc, '/etc'),
    readOnly(host.node, NODE),
  ].flat();

/** A runtime's, with the runner's Node. */
const runtimeSystem = (host: Host, root: string): string[] =>
  [
    rootArguments(root),
    OWN_ETC.flatMap((path) => readOnly(join(host.etc, path.slice('/etc'.length)), path)),
    carriedNode(host).flatMap((bind) => readOnly(bind.host, bind.inside)),
    readOnly(join(host.etc, 'gitconfig'), GIT_CONFIG),
  ].flat();

const readOnly = (outside: string, inside: string): string[] => ['--ro-bind', outside, inside];

const memoryFolder = ({ path, bytes, mode }: (typeof MEMORY_FOLDERS)[number]): string[] =>
  [
    ['--size', String(bytes), '--perms', mode],
    ['--tmpfs', path],
  ].flat();
