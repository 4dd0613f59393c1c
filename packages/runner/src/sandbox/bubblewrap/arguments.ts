import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { BASE_ENV, MEMORY_FOLDERS, WORKSPACE, type Bind } from '../driver.ts';
import { GUEST } from '../guest.ts';
import type { Host } from '../host.ts';

/**
 * bwrap's arguments for one sandbox, which it reads NUL-separated from a descriptor so that no command line
 * shows them. Everything is unshared; the network namespace has nothing but lo. What is not mounted here
 * does not exist inside.
 */
export function bubblewrapArguments(
  host: Host,
  binds: Bind[],
  env: Record<string, string>,
  descriptors: { seccomp: number; info: number },
): string[] {
  const has = (path: string): boolean => existsSync(path);
  return [
    '--unshare-user',
    '--unshare-pid',
    '--unshare-net',
    '--unshare-ipc',
    '--unshare-uts',
    '--unshare-cgroup-try',
    '--uid',
    '1000',
    '--gid',
    '1000',
    '--hostname',
    'sandbox',
    '--disable-userns',
    '--cap-drop',
    'ALL',
    '--die-with-parent',
    '--new-session',
    '--clearenv',
    '--ro-bind',
    '/usr',
    '/usr',
    ...['/bin', '/lib', '/lib32', '/lib64', '/libx32', '/sbin']
      .filter(has)
      .flatMap((path) =>
        lstatSync(path).isSymbolicLink()
          ? ['--symlink', readlinkSync(path), path]
          : ['--ro-bind', path, path],
      ),
    '--ro-bind',
    host.etc,
    '/etc',
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    ...MEMORY_FOLDERS.flatMap(({ path, bytes, mode }) => [
      '--size',
      String(bytes),
      '--perms',
      mode,
      '--tmpfs',
      path,
    ]),
    '--dir',
    '/run',
    '--ro-bind',
    host.node,
    '/opt/headrace/bin/node',
    '--ro-bind',
    host.guest.folder,
    GUEST,
    ...binds.flatMap((bind) => [bind.readOnly ? '--ro-bind' : '--bind', bind.host, bind.inside]),
    '--remount-ro',
    '/dev',
    '--remount-ro',
    '/proc',
    '--remount-ro',
    '/',
    '--chdir',
    WORKSPACE,
    ...Object.entries({ ...BASE_ENV, ...env }).flatMap(([name, value]) => ['--setenv', name, value]),
    '--seccomp',
    String(descriptors.seccomp),
    '--info-fd',
    String(descriptors.info),
  ];
}
