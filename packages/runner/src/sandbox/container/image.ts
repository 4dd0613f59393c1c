import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { pack } from 'tar-stream';
import { HOME, WORKSPACE } from '../driver.ts';
import { GUEST } from '../guest.ts';
import { SYSTEM_FOLDERS } from './mounts.ts';
import type { Engine } from './engine.ts';

const REPOSITORY = 'localhost/headrace-sandbox';
const FOLDERS = [
  'dev',
  'etc',
  'home',
  HOME.slice(1),
  'opt',
  'opt/headrace',
  'opt/headrace/bin',
  GUEST.slice(1),
  'proc',
  'run',
  'sys',
  'tmp',
  'usr',
  'var',
  'var/tmp',
  WORKSPACE.slice(1),
];
const IMPORT_MS = 60_000;

/**
 * The engine's name for an image that holds nothing but folders to mount on, and links where this machine has
 * links (/bin → usr/bin). It is built here and sent to the engine when missing there, so that no registry is
 * needed. Throws EngineError.
 */
export async function emptyImage(engine: Engine): Promise<string> {
  const archive = await emptyRoot();
  // Podman accepts no tag with it.
  const name = `${REPOSITORY}-${createHash('sha256').update(archive).digest('hex').slice(0, 16)}`;
  const { status } = await engine.ask('GET', `/images/${name}:latest/json`, { also: [404] });
  if (status === 404)
    await engine.ask(
      'POST',
      `/images/create?${new URLSearchParams({ fromSrc: '-', repo: name, tag: 'latest' }).toString()}`,
      { body: archive, type: 'application/x-tar', timeoutMs: IMPORT_MS },
    );
  return `${name}:latest`;
}

async function emptyRoot(): Promise<Buffer> {
  const archive = pack(),
    mtime = new Date(0);
  // runc gives a folder in memory the mode of the folder that it hides.
  for (const name of FOLDERS)
    archive.entry({
      name: `${name}/`,
      type: 'directory',
      mode: name.endsWith('tmp') ? 0o1777 : 0o755,
      mtime,
    });
  for (const path of SYSTEM_FOLDERS.filter((folder) => existsSync(folder))) {
    const name = path.slice(1);
    if (lstatSync(path).isSymbolicLink())
      archive.entry({ name, type: 'symlink', linkname: readlinkSync(path), mtime });
    else archive.entry({ name: `${name}/`, type: 'directory', mode: 0o755, mtime });
  }
  archive.finalize();
  return buffer(archive);
}
