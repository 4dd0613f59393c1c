import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { RunnerError } from '../errors.ts';
import { openMetrics, secondsSince } from '../metrics/metrics.ts';
import { RUNNER_METRICS } from '../metrics/table.ts';
import type { RunnerMetrics } from '../metrics/table.ts';
import type { Driver, Sandbox, SandboxSpec } from './driver.ts';
import { unmountBelow } from './mounts.ts';
import { choosePlace, parentsOf, type Place } from './place.ts';
import { lives, processStat } from './processes.ts';
import { installGuest, type Guest } from './guest.ts';

/**
 * What all sandboxes of this runner share: its folder on this machine, the identity that they run under, and
 * the files that they mount.
 */
export interface Host {
  /**
   * The runner's own folder, 0711; holds only what may vanish with the runner.
   */
  base: string;
  /** Where that is. */
  place: Place;
  /**
   * The unprivileged user and group that sandboxes run as when the runner is root; null: the runner's own
   * user.
   */
  uid: number | null;
  /** The Node binary at a path that the sandbox's user can reach. */
  node: string;
  etc: string;
  guest: Guest;
  /** Makes the sandboxes; undefined while nothing isolates here. */
  driver: Driver | undefined;
  metrics: RunnerMetrics;
}

/**
 * No account has this id: a program that escaped its namespaces would own nothing but the sandboxes' files.
 */
const SANDBOX_UID = 59_876;
const OWNER_FILE = 'owner.json';

/**
 * Builds the runner's folder, for any driver that is chosen later (drivers.ts), below `named` where that is given. Results
 * that take long to make are stored in `cache` for the next runner. Throws where the sandboxes' user cannot enter `named`.
 */
export async function prepareHost(cache: string, named: string | null = null): Promise<Host> {
  closeInherited();
  sweepDeadRunners(named);
  const uid = process.getuid?.() === 0 ? SANDBOX_UID : null;
  const place = choosePlace(named);
  const base = mkdtempSync(join(place.parent, 'headrace-'));
  chmodSync(base, 0o711);
  if (!mayReach(base, uid)) {
    rmSync(base, { recursive: true });
    throw new Error(
      `HEADRACE_RUNNER_DIR: ${place.parent} cannot be entered by user ${uid}: chmod a+x it, and the folders above it`,
    );
  }
  const own = processStat(process.pid);
  writeFileSync(join(base, OWNER_FILE), JSON.stringify({ pid: process.pid, startTime: own?.startTime }));
  mkdirSync(join(base, 'w'), { mode: 0o711 });
  const etc = join(base, 'etc');
  writeEtc(etc);
  return {
    base,
    place,
    uid,
    etc,
    node: reachableNode(base, uid),
    guest: await installGuest(join(base, 'guest'), uid, cache),
    driver: undefined,
    metrics: openMetrics(RUNNER_METRICS),
  };
}

/**
 * Closes inherited descriptors other than stdio: those without close-on-exec would be open in every sandbox.
 * Node sets the flag on what it opens itself, and on inherited descriptors up to the first gap.
 */
function closeInherited(): void {
  const CLOSES_ON_EXEC = 0o2000000;
  for (const name of existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd') : []) {
    if (Number(name) <= 2) continue;
    try {
      const flags = Number.parseInt(
        /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${name}`, 'latin1'))?.[1] ?? '',
        8,
      );
      if ((flags & CLOSES_ON_EXEC) === 0) closeSync(Number(name));
    } catch {
      /* the listing's own, closed since */
    }
  }
}

/** Removes everything of the runner from this machine. Its sandboxes must be gone. */
export async function releaseHost(host: Host): Promise<void> {
  await host.driver?.close();
  if (unmountBelow(host.base)) removeAll(host.base);
}

/** An agent may have closed folders to its own user, which is the runner's unless that is root. */
function removeAll(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    spawnSync('/bin/chmod', ['-R', 'u+rwx', '--', folder], { env: {} });
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Starts a sandbox. Throws `no_sandbox` 503 where nothing isolates. */
export function startSandbox(host: Host, spec: SandboxSpec): Sandbox {
  if (!host.driver) throw new RunnerError(503, 'no_sandbox', 'Nothing isolates here.');
  const began = performance.now();
  const sandbox = host.driver.start(spec);
  void sandbox.begun.then(() =>
    host.metrics.observe('headrace_sandbox_start_seconds', {}, secondsSince(began)),
  );
  return sandbox;
}

/** Makes a new, empty folder that sandboxes can own. */
export function makeSandboxFolder(host: Host, name: string): string {
  const folder = join(host.base, 'w', name);
  mkdirSync(folder, { mode: 0o700 });
  if (host.uid !== null) chownSync(folder, host.uid, host.uid);
  return folder;
}

/**
 * Removes the folders of killed runners: their sandboxes died with them, or were removed
 * (container/left-behind.ts).
 */
export function sweepDeadRunners(named: string | null = null): void {
  for (const parent of parentsOf(named)) {
    for (const name of existsSync(parent) ? readdirSync(parent) : []) {
      if (!name.startsWith('headrace-')) continue;
      const folder = join(parent, name);
      try {
        if (lstatSync(folder).uid !== process.getuid?.()) continue;
        const { pid, startTime } = JSON.parse(readFileSync(join(folder, OWNER_FILE), 'utf8')) as {
          pid: number;
          startTime: string;
        };
        if (lives(pid, startTime)) continue;
        if (unmountBelow(folder)) rmSync(folder, { recursive: true, force: true });
        for (const controller of ['memory', 'pids', 'cpu', ''])
          sweepCgroup(join('/sys/fs/cgroup', controller, name));
      } catch {
        /* not a runner's folder, or not ours to remove */
      }
    }
  }
}

function sweepCgroup(folder: string): void {
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) spawnSync('/bin/rmdir', [join(folder, entry.name)], { env: {} });
  spawnSync('/bin/rmdir', [folder], { env: {} });
}

/** Whether the sandboxes' user may run a file, or enter a folder. */
const mayReach = (path: string, uid: number | null): boolean =>
  uid === null || spawnSync('/usr/bin/test', ['-x', path], { uid, gid: uid, env: {}, cwd: '/' }).status === 0;

/** The binary may be in a folder that only root enters: then the sandbox's user gets a copy (120 MB). */
function reachableNode(base: string, uid: number | null): string {
  const binary = realpathSync(process.execPath);
  if (mayReach(binary, uid)) return binary;
  const copy = join(base, 'node');
  copyFileSync(binary, copy);
  chmodSync(copy, 0o755);
  return copy;
}

/**
 * An /etc that reveals nobody: two accounts, localhost, the links that Debian's tools go through (awk, cc,
 * …), and the trusted certificates.
 */
function writeEtc(folder: string): void {
  mkdirSync(folder);
  const files = {
    passwd: 'root:x:0:0:root:/root:/usr/sbin/nologin\nagent:x:1000:1000:agent:/home/agent:/bin/sh\n',
    group: 'root:x:0:\nagent:x:1000:\n',
    hosts: '127.0.0.1 localhost\n::1 localhost\n',
    hostname: 'sandbox\n',
    'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\n',
    gitconfig:
      '[safe]\n\tdirectory = *\n[user]\n\tname = agent\n\temail = agent@localhost\n[init]\n\tdefaultBranch = main\n',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  if (existsSync('/etc/ld.so.cache')) copyFileSync('/etc/ld.so.cache', join(folder, 'ld.so.cache'));
  const authorities = 'ssl/certs/ca-certificates.crt';
  mkdirSync(join(folder, 'ssl/certs'), { recursive: true });
  if (existsSync(join('/etc', authorities)))
    copyFileSync(join('/etc', authorities), join(folder, authorities));
  mkdirSync(join(folder, 'alternatives'));
  for (const name of existsSync('/etc/alternatives') ? readdirSync('/etc/alternatives') : []) {
    const link = join('/etc/alternatives', name);
    if (lstatSync(link).isSymbolicLink()) symlinkSync(readlinkSync(link), join(folder, 'alternatives', name));
  }
}
