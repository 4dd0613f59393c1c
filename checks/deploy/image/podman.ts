/** Podman with an own store: without bridges and systemd, and where crun refuses a mix of both control groups. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Kept between runs, outside of the checkout: 400 MB of Debian's packages, and the layers of the images. */
export const CACHE = process.env['HEADRACE_IMAGE_CACHE'] ?? '/var/cache/headrace-image';

/** Without overlays each container and each layer is a copy of all files. */
const driver = mountsOverlays() ? 'overlay' : 'vfs';
export const STORE = [
  `--storage-driver=${driver}`,
  `--root=${join(CACHE, driver)}`,
  '--runroot=/run/headrace-image',
  '--runtime=runc',
  '--cgroup-manager=cgroupfs',
];
const QUICK_MS = 60_000;

function mountsOverlays(): boolean {
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, 'overlay-'));
  for (const name of ['lower', 'upper', 'work']) mkdirSync(join(folder, name));
  const mount = 'mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work lower';
  const { status } = spawnSync('unshare', ['--mount', 'sh', '-c', mount], { cwd: folder, timeout: 10_000 });
  rmSync(folder, { recursive: true });
  return status === 0;
}

export function podman(args: string[], limitMs = QUICK_MS): string {
  return execFileSync('podman', [...STORE, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: limitMs,
    maxBuffer: 64 * 2 ** 20,
  }).trim();
}

/** As `podman`, with its output where this process's is. Throws if it fails. */
export function podmanAloud(args: string[], limitMs: number): void {
  const { status, error } = spawnSync('podman', [...STORE, ...args], {
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: limitMs,
  });
  if (status !== 0) throw new Error(`podman ${args[0]} failed (${error?.message ?? `exit ${status}`})`);
}

export interface Container {
  id: string;
  start(): void;
  logs(): string;
  exec(...argv: string[]): string;
  /** Of all its processes that live, and of what they have waited for. */
  cpuSeconds(): number;
  /** SIGTERM, and 20 s. The exit code. */
  stop(): number;
}

// Podman's own limits may be above what this process may set.
const COMMON = ['--network=host', '--ulimit=nofile=20000:20000', '--ulimit=nproc=20000:20000'];
const CREATE_MS = 3 * 60_000;

/** A container's files are copied: seconds, which are not its start. */
export function create(options: string[], image: string, ...command: string[]): Container {
  const id = podman(['create', ...COMMON, ...options, image, ...command], CREATE_MS);
  return {
    id,
    start: () => void podman(['start', id]),
    logs: () => {
      // A container writes to both streams.
      const { stdout, stderr } = spawnSync('podman', [...STORE, 'logs', id], {
        encoding: 'utf8',
        timeout: QUICK_MS,
      });
      return stdout + stderr;
    },
    exec: (...argv) => podman(['exec', id, ...argv]),
    cpuSeconds: () => cpuSecondsOf(podman(['exec', id, 'sh', '-c', 'cat /proc/[0-9]*/stat'])),
    stop: () => {
      podman(['stop', '--time', '20', id]);
      return Number(podman(['inspect', '--format', '{{.State.ExitCode}}', id]));
    },
  };
}

/** Linux counts in hundredths of a second: in user and kernel mode, and the same of ended children. */
function cpuSecondsOf(stats: string): number {
  const ticks = stats
    .split('\n')
    .flatMap((line) =>
      line
        .slice(line.lastIndexOf(')') + 2)
        .split(' ')
        .slice(11, 15),
    )
    .reduce((sum, field) => sum + Number(field), 0);
  return ticks / 100;
}

/** Runs a command in a container of its own. What it said. */
export const runOnce = (options: string[], image: string, ...command: string[]): string =>
  podman(['run', '--rm', ...COMMON, ...options, image, ...command], CREATE_MS);

export const remove = (id: string): void => void podman(['rm', '--force', '--volumes', id]);
