/**
 * deploy/compose.yaml, started by Debian's Docker Compose through Podman's socket: one container, and a role each. The
 * containers are in namespaces of network, mounts and processes that end with the check.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { BASE } from './base.ts';
import { buildImage, RUNNER, SERVICE } from './build.ts';
import { CACHE, podman, runOnce } from './podman.ts';

const COMPOSE = join(CACHE, 'compose');
export const COMPOSE_PROGRAM = join(COMPOSE, 'usr/libexec/docker/cli-plugins/docker-compose');
const STAND_INS = join(import.meta.dirname, 'stand-ins.Dockerfile');
const RUN_MS = 30 * 60_000;

/** Networks between containers, and their names in it. */
export const COMPOSE_PROGRAMS = {
  '/usr/lib/podman/netavark': 'netavark',
  '/usr/lib/podman/aardvark-dns': 'aardvark-dns',
  iptables: 'iptables',
  ip: 'iproute2',
};

export function makeCompose(): string {
  for (const [target, image] of [
    ['postgres', 'postgres:18'],
    ['haproxy', 'haproxy:3.2'],
  ] as const)
    buildImage({ file: STAND_INS, target, image: `docker.io/library/${image}` });
  podman(['tag', SERVICE, 'docker.io/library/headrace:0.1.0']);
  podman(['tag', RUNNER, 'docker.io/library/headrace-runner:0.1.0']);
  fetchProgram();
  return execFileSync(COMPOSE_PROGRAM, ['version'], { encoding: 'utf8' }).trim();
}

/** Of trixie: the one of older releases does not know the file's form. */
function fetchProgram(): void {
  if (existsSync(COMPOSE_PROGRAM)) return;
  const part = `${COMPOSE}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part);
  runOnce(
    [`--volume=${part}:/into`],
    BASE,
    'sh',
    '-euc',
    'cd /tmp && apt-get -q update && apt-get -q download docker-compose && dpkg-deb -x *.deb /into',
  );
  renameSync(part, COMPOSE);
}

/** Prints a line per check, as the others do. */
export function startCompose(): void {
  const apart = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const { status, error } = spawnSync(
    'unshare',
    [...apart, process.execPath, join(import.meta.dirname, 'compose.main.ts')],
    { stdio: 'inherit', timeout: RUN_MS },
  );
  if (error) console.error(error.message);
  if (status !== 0) process.exitCode = 1;
}
