import { cpSync, existsSync, lstatSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NODE, type Bind } from '../driver.ts';
import { GUEST } from '../guest.ts';
import type { Host } from '../host.ts';

/** The folders of a system outside /usr: links into /usr, or real folders. */
export const SYSTEM_FOLDERS = ['/bin', '/lib', '/lib32', '/lib64', '/libx32', '/sbin'];
/**
 * Files that an engine would write for each container, with this machine's name servers among them, unless
 * something is mounted there.
 */
const ENGINE_FILES = ['hosts', 'hostname', 'resolv.conf', 'passwd', 'group'];
/** The files of the sandboxes' /etc that an image with a system of its own gets: identity and host name. */
const OWN_FILES = [...ENGINE_FILES, 'gitconfig'];

/** The folder of `containerEtc` below the runner's own. */
export const CONTAINER_ETC = 'etc-containers';

/** The sandboxes' /etc for containers, where the account may have another number: returns its folder. */
export function containerEtc(host: Host, uid: number): string {
  const folder = join(host.base, CONTAINER_ETC);
  rmSync(folder, { recursive: true, force: true });
  cpSync(host.etc, folder, { recursive: true, verbatimSymlinks: true });
  writeFileSync(
    join(folder, 'passwd'),
    `root:x:0:0:root:/root:/usr/sbin/nologin\nagent:x:${uid}:${uid}:agent:/home/agent:/bin/sh\n`,
  );
  writeFileSync(join(folder, 'group'), `root:x:0:\nagent:x:${uid}:\n`);
  writeFileSync(join(folder, 'resolv.conf'), '');
  return folder;
}

/** What every container of this runner sees read-only. `hasSystem`: its image brings its own system. */
export function systemBinds(host: Host, etc: string, hasSystem: boolean): Bind[] {
  const seen = (from: string, inside: string): Bind => ({ host: from, inside, readOnly: true });
  const system = hasSystem
    ? OWN_FILES.map((name) => seen(join(etc, name), `/etc/${name}`))
    : [
        seen('/usr', '/usr'),
        ...SYSTEM_FOLDERS.filter((path) => existsSync(path) && !lstatSync(path).isSymbolicLink()).map(
          (path) => seen(path, path),
        ),
        seen(etc, '/etc'),
        ...ENGINE_FILES.map((name) => seen(join(etc, name), `/etc/${name}`)),
      ];
  return [...system, seen(host.node, NODE), seen(host.guest.folder, GUEST)];
}
