import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { SandboxLimits } from '../../protocol.ts';
import { kill, settled } from '../processes.ts';

/**
 * Memory and process limits through control groups: version 1 as root, version 2 as root or with a delegated
 * subtree. One group per sandbox; where none can be made, the sandbox falls back to rlimits and the watchdog.
 */
export interface CgroupParent {
  version: 1 | 2;
  folders: string[];
  /** Version 1: the group that holds the processor share of all sandboxes together, where one can be made. */
  cpu?: string;
  /** Whether all sandboxes together have a bounded share of the processors. */
  boundsCpu: boolean;
}

export interface Cgroup {
  version: 1 | 2;
  memory: string;
  pidsFolder: string;
  /** Files into which the starting process writes its own id. */
  procs: string[];
  pids(): number[];
  oomKilled(): boolean;
  /** Kills what is left and removes the group; false when something stays. */
  remove(): Promise<boolean>;
}

const V1 = '/sys/fs/cgroup';

/**
 * All sandboxes together weigh half as much as one process of the service: otherwise 50 agents that start at
 * once would each get as much time as the API (measured on 2 cores: /health p99 1.2 s). They get the time
 * that nobody else uses, which may be all of it.
 */
const CPU = { shares: '512', weight: '50' };

/** Makes the runner's own parent group(s); undefined where this host does not allow it. */
export function cgroupParent(name: string): CgroupParent | undefined {
  return versionOne(name) ?? versionTwo(name);
}

function versionOne(name: string): CgroupParent | undefined {
  if (!existsSync(`${V1}/memory/cgroup.procs`) || !existsSync(`${V1}/pids/cgroup.procs`)) return undefined;
  try {
    const folders = ['memory', 'pids'].map((controller) => join(V1, controller, name));
    for (const folder of folders) mkdirSync(folder, { recursive: true });
    const shared = sharedCpu(name);
    return { version: 1, folders, ...shared, boundsCpu: shared.cpu !== undefined };
  } catch {
    return undefined;
  }
}

function sharedCpu(name: string): { cpu?: string } {
  const cpu = join(V1, 'cpu', name);
  try {
    if (!existsSync(`${V1}/cpu/cpu.shares`)) return {};
    mkdirSync(cpu, { recursive: true });
    writeFileSync(join(cpu, 'cpu.shares'), CPU.shares);
    return { cpu };
  } catch {
    return {};
  }
}

/**
 * Where the runner's own processes move, for all runners of a group: one that starts in it has its parent group as
 * base.
 */
const LEAF = 'headrace-host';
const MOVES = 10;

/** The mount and the controllers are others in tests alone. */
export function versionTwo(
  name: string,
  { mount = V1, controllers = ['memory', 'pids'] } = {},
): CgroupParent | undefined {
  try {
    const own = /^0::(\/.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1];
    const there = readFileSync(`${mount}/cgroup.controllers`, 'utf8').split(/\s+/);
    if (own === undefined || !controllers.every((one) => there.includes(one))) return undefined;
    const base = join(mount, basename(own) === LEAF ? dirname(own) : own);
    const enabled = controllers.map((one) => `+${one}`).join(' ');
    delegate(base, enabled);
    const folder = join(base, name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'cgroup.subtree_control'), enabled);
    optionally(join(base, 'cgroup.subtree_control'), '+cpu');
    return { version: 2, folders: [folder], boundsCpu: optionally(join(folder, 'cpu.weight'), CPU.weight) };
  } catch {
    return undefined;
  }
}

/**
 * Enables controllers for the groups below. A group with processes of its own may not: they move into a leaf. The root
 * group may, but that of a container only looks like it: its path is `/`, too, and it has a type, which the root lacks.
 * At a container's root everything is ours: its init, the service, a shell. What is started there later (`kubectl exec`)
 * is put into init's group by runc and crun.
 */
function delegate(base: string, enabled: string): void {
  const control = join(base, 'cgroup.subtree_control');
  if (!existsSync(join(base, 'cgroup.type'))) {
    writeFileSync(control, enabled);
    return;
  }
  mkdirSync(join(base, LEAF), { recursive: true });
  // What is moved may start others meanwhile.
  for (let move = 1; ; move++) {
    for (const pid of readLines(join(base, 'cgroup.procs')))
      // 0: of another namespace of processes; written, it would mean this process.
      if (pid !== '0') optionally(join(base, LEAF, 'cgroup.procs'), pid);
    try {
      writeFileSync(control, enabled);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EBUSY' || move === MOVES) throw error;
    }
  }
}

export function makeCgroup(parent: CgroupParent, id: string, limits: SandboxLimits): Cgroup {
  const folders = parent.folders.map((folder) => join(folder, id));
  for (const folder of folders) mkdirSync(folder, { recursive: true });
  const [memory, pids] = [folders[0]!, folders.at(-1)!];
  const members = (): number[] => readLines(join(pids, 'cgroup.procs')).map(Number);
  const cgroup: Cgroup = {
    version: parent.version,
    memory,
    pidsFolder: pids,
    procs: [...folders, ...(parent.cpu === undefined ? [] : [parent.cpu])].map((folder) =>
      join(folder, 'cgroup.procs'),
    ),
    pids: members,
    oomKilled: () =>
      readLines(join(memory, parent.version === 1 ? 'memory.oom_control' : 'memory.events')).some((line) =>
        /^oom_kill [1-9]/.test(line),
      ),
    async remove() {
      const isEmpty = await settled(() => {
        const left = members();
        left.forEach(kill);
        return left.length === 0;
      }, 5_000);
      // The kernel answers EBUSY for a moment after the last process has left.
      return isEmpty && settled(() => folders.map(removed).every(Boolean), 2_000);
    },
  };
  limitCgroup(cgroup, limits);
  return cgroup;
}

/** Sets the limits; a group that holds only its launcher accepts any. */
export function limitCgroup({ version, memory, pidsFolder }: Cgroup, limits: SandboxLimits): void {
  const bytes = String(limits.memoryBytes);
  if (version === 1) {
    // The limit with swap must never be below the one without, in whichever direction they move.
    optionally(join(memory, 'memory.memsw.limit_in_bytes'), '-1');
    writeFileSync(join(memory, 'memory.limit_in_bytes'), bytes);
    optionally(join(memory, 'memory.memsw.limit_in_bytes'), bytes);
    // Version 1 counts TCP buffers separately: without a limit of their own they could take all that the host
    // allows to everyone.
    optionally(join(memory, 'memory.kmem.tcp.limit_in_bytes'), String(Math.floor(limits.memoryBytes / 8)));
  } else {
    writeFileSync(join(memory, 'memory.max'), bytes);
    optionally(join(memory, 'memory.swap.max'), '0');
  }
  writeFileSync(join(pidsFolder, 'pids.max'), String(limits.processes));
}

/** Removes the runner's own parent groups; those still in use stay. */
export function removeCgroupParent(parent: CgroupParent): void {
  [...parent.folders, ...(parent.cpu === undefined ? [] : [parent.cpu])].forEach(removed);
}

function removed(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

/** False where that is not possible: many kernels have swap accounting off, for example. */
function optionally(file: string, value: string): boolean {
  try {
    writeFileSync(file, value);
    return true;
  } catch {
    return false;
  }
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}
