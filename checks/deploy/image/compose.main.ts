/** In namespaces of its own: starts compose.yaml in both of its forms, and has a command run in a sandbox of each. */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { check } from '../report.ts';
import { COMPOSE_PROGRAM } from './compose.ts';
import { STORE } from './podman.ts';
import { runInSandbox, statusOf, withCaller } from './service.ts';

const BASE = 'http://127.0.0.1:4400';
const FILE = join(import.meta.dirname, '../../../deploy/compose.yaml');
/** Seen: 80 s at a load of twenty, and more than three minutes at fifty. */
const START_MS = 6 * 60_000;
const STOP_MS = 2 * 60_000;

const scratch = mkdtempSync(join(tmpdir(), 'headrace-compose-'));
const socket = join(scratch, 'podman.sock');
const env = { PATH: process.env['PATH'], HOME: scratch, DOCKER_HOST: `unix://${socket}` };

const compose = (args: string[], limitMs: number): string =>
  execFileSync(COMPOSE_PROGRAM, ['--progress=plain', '--file', FILE, '--profile', 'scale', ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: limitMs,
    maxBuffer: 64 * 2 ** 20,
    env,
  });

try {
  execFileSync('ip', ['link', 'set', 'lo', 'up']);
  // The names of network namespaces, which Podman mounts there.
  if (existsSync('/run/netns')) execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', '/run/netns']);
  await startPodman();
  await check('compose', () => inForm(['headrace']));
  await check('compose scale', () => inForm(['proxy']));
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
// Podman's service ends with the namespace.
process.exit();

async function startPodman(): Promise<void> {
  const config = join(scratch, 'containers.conf');
  writeFileSync(
    config,
    `[containers]
default_ulimits = ["nofile=20000:20000", "nproc=20000:20000"]
[network]
network_backend = "netavark"
network_config_dir = "${join(scratch, 'networks')}"
`,
  );
  const options = { env: { ...process.env, CONTAINERS_CONF: config } };
  spawn('podman', [...STORE, 'system', 'service', '--time=0', `unix://${socket}`], {
    ...options,
    stdio: 'ignore',
  });
  // Podman leaves checks of health to timers of systemd.
  const checkHealth = `while sleep 2; do
    for id in $("$@" ps --quiet --filter=label=com.docker.compose.service=postgres); do "$@" healthcheck run "$id"; done
  done`;
  spawn('sh', ['-c', checkHealth, 'sh', 'podman', ...STORE], { ...options, stdio: 'ignore' });
  for (const from = Date.now(); !existsSync(socket); await sleep(50))
    if (Date.now() - from > 30_000) throw new Error('Podman has no socket');
}

async function inForm(services: string[]): Promise<string> {
  // What a check that was ended before has left.
  compose(['down', '--volumes'], STOP_MS);
  try {
    const from = performance.now();
    compose(['up', '--detach', ...services], START_MS);
    while ((await statusOf(`${BASE}/health/ready`)) !== 200) {
      if (performance.now() - from > START_MS) throw new Error('not ready in time');
      await sleep(200);
    }
    const readyMs = performance.now() - from;
    const key = /Service key \(shown once\): (\S+)/.exec(compose(['logs', '--no-color'], STOP_MS))?.[1];
    if (key === undefined) throw new Error('no service key in the logs');
    await withCaller(BASE, key, runInSandbox);
    const states = compose(['ps', '--all', '--format', '{{.Service}} {{.State}}'], STOP_MS)
      .trim()
      .split('\n');
    return `ready after ${Math.round(readyMs / 1000)} s; ${states.length} containers`;
  } catch (error) {
    for (const args of [
      ['ps', '--all'],
      ['logs', '--no-color', '--tail=40'],
    ])
      console.log(compose(args, STOP_MS));
    throw error;
  } finally {
    compose(['down', '--volumes', '--timeout', '20'], STOP_MS);
  }
}
