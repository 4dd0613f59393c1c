import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Engine } from '../../packages/runner/src/sandbox/container/engine.ts';
import { kill, processTree } from '../../packages/runner/src/sandbox/processes.ts';

/** A way to make sandboxes that can be tried on this machine. */
export interface Candidate {
  name: string;
  /** The Debian packages that it needs, by one program of each. */
  needs: Record<string, string>;
  /**
   * Starts its engine with all its files in this folder; absent: it has no engine. Returns the process; its
   * API is on `<folder>/api.sock`.
   */
  engine?: (folder: string) => ChildProcess;
  runtime?: string;
  /**
   * Set where old versions are known to fail the probe: then nothing runs in them, which is not a fault of
   * the driver.
   */
  mayNotIsolate?: boolean;
  /** The user that the tests run as; absent: this one. */
  uid?: number;
  /** Why this user cannot use it; null: it can. */
  refuses?: () => string | null;
}

export interface Started {
  socket: string | null;
  end(): Promise<void>;
}

const START_MS = 30_000,
  END_MS = 20_000;
const NOBODY = 65_534;
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const isRoot = process.getuid?.() === 0;
const onlyRoot = (): string | null => (isRoot ? null : 'it needs root');

export const CANDIDATES: Candidate[] = [
  { name: 'bubblewrap', needs: { bwrap: 'bubblewrap' } },
  {
    name: 'bubblewrap-user',
    needs: { bwrap: 'bubblewrap' },
    uid: NOBODY,
    refuses: () => (isRoot ? null : 'this user is an ordinary one: bubblewrap was tested as that'),
  },
  {
    name: 'podman-crun',
    needs: { podman: 'podman', crun: 'crun', conmon: 'conmon' },
    engine: podman('crun'),
  },
  {
    name: 'podman-runc',
    needs: { podman: 'podman', runc: 'runc', conmon: 'conmon' },
    engine: podman('runc'),
  },
  { name: 'docker-runc', needs: { dockerd: 'docker.io', runc: 'runc' }, engine: docker, refuses: onlyRoot },
  {
    name: 'docker-runsc',
    needs: { dockerd: 'docker.io', runsc: 'runsc' },
    engine: docker,
    runtime: 'runsc',
    mayNotIsolate: true,
    refuses: onlyRoot,
  },
];

/** The packages of a candidate whose programs are not installed. */
export function packagesOf({ needs }: Candidate): string[] {
  return Object.entries(needs).flatMap(([program, name]) =>
    PATH.split(':').some((folder) => existsSync(join(folder, program))) ? [] : [name],
  );
}

/**
 * Starts the candidate's engine. Throws with its output when it does not answer in time, or when `signal`
 * fires.
 */
export async function startEngine({ engine }: Candidate, signal?: AbortSignal): Promise<Started> {
  if (!engine) return { socket: null, end: () => Promise.resolve() };
  const folder = mkdtempSync(join(tmpdir(), 'headrace-engine-'));
  const child = engine(folder),
    socket = join(folder, 'api.sock');
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (part: string) => {
    said = (said + part).slice(-4000);
  });
  const end = async (): Promise<void> => {
    await emptied(new Engine(socket)).catch(() => {
      /* it does not answer: it may not have started */
    });
    if (!(await ended(child, 'SIGTERM'))) await ended(child, 'SIGKILL');
    killAllOf(folder);
    unmountBelow(folder);
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
  };
  for (const deadline = Date.now() + START_MS; !(await answers(socket)); await sleep(50)) {
    if (child.exitCode === null && child.signalCode === null && Date.now() < deadline && !signal?.aborted)
      continue;
    await end();
    throw new Error(`its engine does not start: ${said.trim().split('\n').at(-1) ?? ''}`);
  }
  return { socket, end };
}

/**
 * crun refuses controllers of version 2 next to those of version 1: the service gets a mount namespace
 * without them.
 */
function podman(runtime: string): (folder: string) => ChildProcess {
  return (folder) => {
    const args = [
      '--root',
      join(folder, 'root'),
      '--runroot',
      join(folder, 'run'),
      '--cgroup-manager',
      'cgroupfs',
      '--events-backend',
      'none',
      '--runtime',
      runtime,
      'system',
      'service',
      '--time=0',
      `unix://${join(folder, 'api.sock')}`,
    ];
    const isHybrid = isRoot && existsSync('/sys/fs/cgroup/unified');
    const home = { HOME: folder, XDG_RUNTIME_DIR: process.env['XDG_RUNTIME_DIR'] ?? folder };
    return isHybrid
      ? spawn(
          'unshare',
          [
            '-m',
            'sh',
            '-c',
            'umount /sys/fs/cgroup/unified; exec podman "$@"',
            'sh',
            '--tmpdir',
            join(folder, 'tmp'),
            ...args,
          ],
          options(home),
        )
      : spawn('podman', [...(isRoot ? ['--tmpdir', join(folder, 'tmp')] : []), ...args], options(home));
  };
}

/**
 * Runs Docker without networks and firewall rules. gVisor enforces the profile's rules (--oci-seccomp) in
 * addition to its own, and may join sockets of this machine.
 */
function docker(folder: string): ChildProcess {
  const runsc = {
    path: '/usr/bin/runsc',
    runtimeArgs: [
      '--platform=ptrace',
      '--network=none',
      '--oci-seccomp',
      '--fsgofer-host-uds',
      '--ignore-cgroups',
    ],
  };
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'daemon.json'),
    JSON.stringify({
      'data-root': join(folder, 'data'),
      'exec-root': join(folder, 'exec'),
      pidfile: join(folder, 'pid'),
      hosts: [`unix://${join(folder, 'api.sock')}`],
      iptables: false,
      ip6tables: false,
      bridge: 'none',
      runtimes: { runsc },
    }),
  );
  return spawn('dockerd', ['--config-file', join(folder, 'daemon.json')], options({ HOME: folder }));
}

/** Its own process group: a Ctrl-C reaches only the tests, which stop the engine once it is empty. */
const options = (env: Record<string, string>) => ({
  env: { PATH, ...env },
  cwd: '/',
  detached: true,
  stdio: ['ignore', 'ignore', 'pipe'] as ['ignore', 'ignore', 'pipe'],
});

function answers(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    request({ socketPath, path: '/_ping', timeout: 2000, agent: false }, (res) => {
      res.resume();
      resolve(res.statusCode === 200);
    })
      .once('error', () => resolve(false))
      .once('timeout', () => resolve(false))
      .end();
  });
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<boolean> {
  child.kill(signal);
  for (const deadline = Date.now() + END_MS; Date.now() < deadline; await sleep(50))
    if (child.exitCode !== null || child.signalCode !== null) return true;
  return false;
}

/** Waits until the engine has no containers: those that live when it ends may outlive it. */
async function emptied(engine: Engine): Promise<void> {
  const { body } = await engine.ask('GET', '/containers/json?all=true', { timeoutMs: END_MS });
  for (const { Id } of body as { Id: string }[])
    await engine.ask('DELETE', `/containers/${Id}?force=true&v=true`, {
      timeoutMs: END_MS,
      also: [404, 409],
    });
}

/**
 * Kills what a killed engine left behind: monitors and shims, whose command lines name its folder, with the
 * containers below them.
 */
function killAllOf(folder: string): void {
  for (const pid of readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)) {
    let words = '';
    try {
      words = readFileSync(`/proc/${pid}/cmdline`, 'latin1');
    } catch {
      continue;
    }
    if (words.includes(`${folder}/`)) for (const { pid: each } of processTree(pid).reverse()) kill(each);
  }
}

/** Unmounts what an engine left mounted in its folder, innermost first. */
function unmountBelow(folder: string): void {
  const { stdout } = spawnSync('findmnt', ['-rno', 'TARGET'], { encoding: 'utf8' });
  for (const target of (stdout ?? '')
    .split('\n')
    .filter((path) => path.startsWith(`${folder}/`))
    .reverse())
    spawnSync('umount', ['-l', target]);
}
