/** Podman with an own store: without bridges, overlays and systemd, and where crun refuses a mix of both control groups. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** Kept between runs, outside of the checkout: 400 MB of Debian's packages, and the layers of the images. */
export const CACHE = process.env['HEADRACE_IMAGE_CACHE'] ?? '/var/cache/headrace-image';

const STORE = [
  '--storage-driver=vfs',
  `--root=${join(CACHE, 'storage')}`,
  '--runroot=/run/headrace-image',
  '--runtime=runc',
  '--cgroup-manager=cgroupfs',
];
const QUICK_MS = 60_000;

export function podman(args: string[], limitMs = QUICK_MS): string {
  mkdirSync(CACHE, { recursive: true });
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
    stop: () => {
      podman(['stop', '--time', '20', id]);
      return Number(podman(['inspect', '--format', '{{.State.ExitCode}}', id]));
    },
  };
}

/** Runs a command in a container of its own. What it said. */
export const runOnce = (options: string[], image: string, ...command: string[]): string =>
  podman(['run', '--rm', ...COMMON, ...options, image, ...command], CREATE_MS);

export const remove = (id: string): void => void podman(['rm', '--force', '--volumes', id]);
