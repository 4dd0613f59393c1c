import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { BASE } from './base.ts';
import { CACHE, podman, podmanAloud } from './podman.ts';

const ROOT = join(import.meta.dirname, '../../..');
const BUILD_MS = 30 * 60_000;
const MOST_BYTES = 400e6;
export const SERVICE = 'localhost/headrace:test';
export const RUNNER = 'localhost/headrace-runner:test';

export function buildImages(): void {
  const file = join(ROOT, 'deploy/Dockerfile');
  buildImage({ file, target: 'service', image: SERVICE });
  buildImage({ file, target: 'runner', image: RUNNER });
}

/** npm's cache is kept, as a builder's own cache is. */
export function buildImage({ file, target, image }: { file: string; target: string; image: string }): void {
  const npm = join(CACHE, 'npm');
  mkdirSync(npm, { recursive: true });
  podmanAloud(
    [
      'build',
      '--isolation=chroot',
      '--network=host',
      '--layers',
      `--volume=${npm}:/root/.npm`,
      `--build-arg=BASE=${BASE}`,
      `--file=${file}`,
      `--target=${target}`,
      `--tag=${image}`,
      ROOT,
    ],
    BUILD_MS,
  );
}

/** Unpacked, as `docker images` shows it. What a runner has for sandboxes is not part of the budget. */
export function sizeOf(): string {
  const [service, runner] = [SERVICE, RUNNER].map((image) =>
    Number(podman(['image', 'inspect', '--format', '{{.Size}}', image])),
  ) as [number, number];
  const text = `service ${(service / 1e6).toFixed(0)} MB, runner ${(runner / 1e6).toFixed(0)} MB`;
  if (service > MOST_BYTES) throw new Error(`${text}; a service has at most ${MOST_BYTES / 1e6} MB`);
  return text;
}
