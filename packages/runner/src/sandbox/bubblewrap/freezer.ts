import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RunnerError } from '../../errors.ts';
import { processStat, processTree, settled } from '../processes.ts';
import type { Cgroup } from './cgroups.ts';

/**
 * Holds the processes of a sandbox still, and lets them go on. They stand between two system calls, so a file
 * is never caught in the middle of a write.
 */
export interface Freezer {
  /** Resolves once no process runs. Throws `not_paused` 503 where one does not stop; then all go on. */
  freeze(): Promise<void>;
  /** Idempotent. */
  thaw(): void;
}

/** `isStill` is asked again and again. */
interface Means {
  stop(): void;
  isStill(): boolean;
  start(): void;
}

const STILL_MS = 2_000;

/**
 * By the sandbox's control group of version 2, which its processes do not notice, else by signals. The freezer
 * of version 1 would keep the sandboxes of a runner that is killed from dying with it.
 */
export function freezerOf(cgroup: Cgroup | undefined, init: () => number | undefined): Freezer {
  const { stop, isStill, start } =
    cgroup?.version === 2 && existsSync(freezeFile(cgroup)) ? byGroup(cgroup) : bySignals(cgroup, init);
  let isWanted = false;
  const thaw = (): void => {
    isWanted = false;
    start();
  };
  return {
    async freeze() {
      isWanted = true;
      stop();
      // A sandbox that is to end does not wait for its own standstill.
      if ((await settled(() => !isWanted || isStill(), STILL_MS)) && isWanted) return;
      thaw();
      throw new RunnerError(503, 'not_paused', 'The processes of the sandbox do not stand still.');
    },
    thaw,
  };
}

const freezeFile = ({ memory }: Cgroup): string => join(memory, 'cgroup.freeze');

function byGroup(cgroup: Cgroup): Means {
  const write = (value: '0' | '1'): void => attempt(() => writeFileSync(freezeFile(cgroup), value));
  return {
    stop: () => write('1'),
    isStill: () => /^frozen 1$/m.test(read(join(cgroup.memory, 'cgroup.events'))),
    start: () => write('0'),
  };
}

type Process = NonNullable<ReturnType<typeof processStat>>;

/**
 * What stood still before stays so. Parents stop first and go on last, so that none sees a child that has
 * stopped.
 */
function bySignals(cgroup: Cgroup | undefined, init: () => number | undefined): Means {
  const stopped = new Map<number, Process>();
  const members = (): Process[] | undefined => {
    const root = init();
    if (root === undefined) return undefined;
    return cgroup ? parentsFirst(cgroup.pids()) : processTree(root);
  };
  return {
    stop() {
      /* `isStill` stops what has come since it was asked last */
    },
    isStill() {
      const all = members();
      if (!all) return false;
      const running = all.filter(({ pid, state }) => !isAtRest(state) || !threadsOf(pid).every(isAtRest));
      for (const process of running) {
        if (stopped.has(process.pid)) continue;
        stopped.set(process.pid, process);
        signal(process, 'SIGSTOP');
      }
      return running.length === 0;
    },
    start() {
      for (const process of [...stopped.values()].toReversed()) signal(process, 'SIGCONT');
      stopped.clear();
    },
  };
}

/** Stopped, traced, or dead. */
const isAtRest = (state: string): boolean => 'TtZX'.includes(state);

/** The states of all threads: the first one may have stopped before the others. */
function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map((thread) => {
      const text = read(`/proc/${pid}/task/${thread}/stat`);
      return text === '' ? 'X' : text.charAt(text.lastIndexOf(')') + 2);
    });
  } catch {
    return [];
  }
}

function parentsFirst(pids: number[]): Process[] {
  const byPid = new Map(pids.map((pid) => [pid, processStat(pid)]));
  const depthOf = (pid: number): number => {
    const parent = byPid.get(pid)?.parent;
    return parent !== undefined && byPid.has(parent) ? depthOf(parent) + 1 : 0;
  };
  return [...byPid.values()]
    .filter((one) => one !== undefined)
    .sort((a, b) => depthOf(a.pid) - depthOf(b.pid));
}

function signal({ pid, startTime }: Process, name: 'SIGSTOP' | 'SIGCONT'): void {
  // Another process may have got its number.
  if (processStat(pid)?.startTime === startTime) attempt(() => process.kill(pid, name));
}

function read(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

/** The group, or the process, may be gone. */
function attempt(act: () => unknown): void {
  try {
    act();
  } catch {
    /* gone already */
  }
}
