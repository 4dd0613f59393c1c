/** Debian trixie as an image, made by debootstrap: registries of images may be out of reach. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CACHE, podman, podmanAloud } from './podman.ts';

export const BASE = 'localhost/headrace-base:latest';
const ROOT = join(CACHE, 'trixie');
const MIRROR = 'http://deb.debian.org/debian';
const DEBOOTSTRAP_MS = 10 * 60_000;
const IMPORT_MS = 5 * 60_000;
const TRUSTED = '/usr/local/share/ca-certificates';
/** As Debian's slim images. */
const LEFT_OUT = ['doc', 'man', 'info', 'locale'];

/** Programs that the test needs, by their packages. */
export const PROGRAMS = { debootstrap: 'debootstrap', podman: 'podman', runc: 'runc' };

export function makeBase(): void {
  if (hasImage(BASE)) return;
  if (!existsSync(ROOT)) {
    const part = `${ROOT}.part`;
    rmSync(part, { recursive: true, force: true });
    mkdirSync(CACHE, { recursive: true });
    const { status } = spawnSync('debootstrap', ['--variant=minbase', 'trixie', part, MIRROR], {
      stdio: ['ignore', 'inherit', 'inherit'],
      timeout: DEBOOTSTRAP_MS,
    });
    if (status !== 0) throw new Error('debootstrap failed');
    makeSlim(part);
    renameSync(part, ROOT);
  }
  podmanAloud(['import', archiveOf(ROOT), BASE], IMPORT_MS);
  rmSync(join(CACHE, 'trixie.tar'));
}

const hasImage = (image: string) => podman(['images', '--quiet', image]) !== '';

function makeSlim(root: string): void {
  for (const folder of LEFT_OUT) {
    const path = join(root, 'usr/share', folder);
    for (const name of readdirSync(path)) rmSync(join(path, name), { recursive: true });
  }
  writeFileSync(
    join(root, 'etc/dpkg/dpkg.cfg.d/slim'),
    LEFT_OUT.map((folder) => `path-exclude /usr/share/${folder}/*\n`).join(''),
  );
  // A layer that a crash cuts short is built again.
  writeFileSync(join(root, 'etc/dpkg/dpkg.cfg.d/unsafe-io'), 'force-unsafe-io\n');
  for (const folder of ['var/cache/apt', 'var/lib/apt/lists', 'var/log'])
    for (const name of readdirSync(join(root, folder))) rmSync(join(root, folder, name), { recursive: true });
  // A proxy between this machine and the registries may have an authority of its own.
  const into = join(root, TRUSTED);
  mkdirSync(into, { recursive: true });
  for (const name of existsSync(TRUSTED) ? readdirSync(TRUSTED) : [])
    copyFileSync(join(TRUSTED, name), join(into, name));
}

function archiveOf(root: string): string {
  const archive = join(CACHE, 'trixie.tar');
  const { status } = spawnSync('tar', ['-C', root, '-cf', archive, '.'], { timeout: IMPORT_MS });
  if (status !== 0) throw new Error('tar failed');
  return archive;
}
