import { spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RunnerError } from '../errors.ts';
import { collect } from '../sandbox/collect.ts';
import { DEFAULT_LIMITS, WORKSPACE } from '../sandbox/driver.ts';
import { makeSandboxFolder, startSandbox, type Host } from '../sandbox/host.ts';

/** A mounted tree: what is written in `merged` lies in `upper` alone. */
export interface Overlay {
  folder: string;
  upper: string;
  merged: string;
}

const TIMEOUT_MS = 10_000;

/**
 * Mounts trees over one another at `<folder>/merged`, the topmost first, with a new layer for writes. All lie
 * on one file system: then files that nobody wrote have the inode numbers of their layer, which capture
 * relies on. A further layer (of a setup, a prepared .git) is one more path in `lowers`; it
 * must not be written while it is mounted. Throws where the kernel refuses.
 *
 * redirect_dir: folders of a layer can be renamed (EXDEV without). metacopy off: a file in `upper` has its
 * own contents. volatile: no fsync, since the workspace does not outlive its runner. The kernel's notes on a
 * layer are in trusted.*, which no sandbox can write.
 */
export async function mountOverlay(host: Host, name: string, lowers: string[]): Promise<Overlay> {
  const folder = join(host.base, 'w', name);
  mkdirSync(folder, { mode: 0o711 });
  const overlay = { folder, upper: join(folder, 'upper'), merged: join(folder, 'merged') };
  for (const path of [overlay.upper, overlay.merged]) mkdirSync(path, { mode: 0o700 });
  if (host.uid !== null) chownSync(overlay.upper, host.uid, host.uid);
  try {
    await mountLayers(overlay, lowers);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  return overlay;
}

/** Mounts an overlay's own layer over these. */
export async function mountLayers(overlay: Overlay, lowers: string[]): Promise<void> {
  await run('/bin/mount', mountArguments(overlay, lowers));
}

/**
 * Mounts a tree again that lost its mount point, for example for want of memory: everything written in it is
 * still there. Throws `not_mounted` 503, and leaves it as it was. It blocks the runner; it is rare enough for
 * that.
 */
export function mountAgain(overlay: Overlay, lowers: string[]): void {
  if (existsSync(overlay.merged)) return;
  try {
    mkdirSync(overlay.merged, { mode: 0o700 });
    const { status, stderr } = spawnSync('/bin/mount', mountArguments(overlay, lowers), {
      env: {},
      cwd: '/',
      timeout: TIMEOUT_MS,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(stderr.trim());
  } catch (error) {
    if (existsSync(overlay.merged)) rmdirSync(overlay.merged);
    throw new RunnerError(
      503,
      'not_mounted',
      `The workspace could not be mounted again: ${(error as Error).message}`,
    );
  }
}

/** Makes a new work folder: the kernel refuses one that a volatile mount has left. */
function mountArguments({ folder, upper, merged }: Overlay, lowers: string[]): string[] {
  const work = join(folder, 'work');
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { mode: 0o700 });
  const options = [
    'nosuid',
    'nodev',
    `lowerdir=${lowers.join(':')}`,
    `upperdir=${upper}`,
    `workdir=${work}`,
    'redirect_dir=on',
    'index=off',
    'metacopy=off',
    'volatile',
  ];
  return ['-n', '-t', 'overlay', '-o', options.join(','), 'headrace', merged];
}

/** Unmounts it; its folder is then safe to delete. Throws when that fails. */
export async function unmountOverlay({ merged }: Pick<Overlay, 'merged'>): Promise<void> {
  await run('/bin/umount', ['-n', '-l', '--', merged]);
}

/** Whether trees can be mounted over one another here: tries it with a sandbox at work in one. */
export async function probeOverlay(host: Host): Promise<boolean> {
  if (host.uid === null || !host.driver?.seesMounts) return false;
  const lower = makeSandboxFolder(host, 'probe.lower');
  let overlay: Overlay | undefined;
  try {
    mkdirSync(join(lower, 'd'));
    for (const path of ['d/x', 'f', 'same']) writeFileSync(join(lower, path), 'x');
    for (const path of ['d', 'd/x', 'f', 'same']) chownSync(join(lower, path), host.uid, host.uid);
    overlay = await mountOverlay(host, 'probe.overlay', [lower]);
    const script =
      'mv d e && printf more >> f && [ "$(cat e/x f)" = xxmore ] && find same e/x -printf "%i %C@\\n"';
    const sandbox = startSandbox(host, {
      command: ['/bin/sh', '-c', script],
      binds: [{ host: overlay.merged, inside: WORKSPACE, readOnly: false }],
      limits: DEFAULT_LIMITS,
    });
    sandbox.stdin.end();
    const { code, stdout } = await collect(sandbox, { maxBytes: 4096, timeoutMs: TIMEOUT_MS });
    const expected = ['same', 'd/x'].map((path) => identity(join(lower, path)));
    return code === 0 && stdout.toString() === expected.join('') && statSync(join(lower, 'f')).size === 1;
  } catch {
    return false;
  } finally {
    const isGone =
      overlay === undefined ||
      (await unmountOverlay(overlay).then(
        () => true,
        () => false,
      ));
    for (const path of isGone ? [lower, overlay?.folder] : [])
      if (path !== undefined) rmSync(path, { recursive: true, force: true });
  }
}

/** As find prints `%i %C@`. */
function identity(path: string): string {
  const { ino, ctimeNs } = statSync(path, { bigint: true });
  return `${ino} ${ctimeNs / 1_000_000_000n}.${String(ctimeNs % 1_000_000_000n).padStart(9, '0')}0\n`;
}

function run(program: string, args: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      env: {},
      cwd: '/',
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: TIMEOUT_MS,
    });
    let said = '';
    child.stderr?.setEncoding('utf8').on('data', (part: string) => {
      if (said.length < 2000) said += part;
    });
    child.once('error', reject).once('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`${program} ended with ${code}: ${said.trim()}`));
    });
  });
}
