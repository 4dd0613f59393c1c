import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { lives, processStat } from '../processes.ts';

/** The first process of a container as this machine sees it. */
export interface Init {
  pid: number;
  isAlive(): boolean;
  /**
   * Whether the kernel has killed a process of its control group for memory; false where the group cannot be
   * read (any more).
   */
  wasOutOfMemory(): boolean;
}

/**
 * Undefined when the engine's pid is not the first process of a namespace here: it may be a pid of another
 * machine.
 */
export function initOf(pid: number | undefined): Init | undefined {
  const startTime = pid === undefined ? undefined : processStat(pid)?.startTime;
  if (!pid || startTime === undefined) return undefined;
  const file = eventsFile(pid);
  try {
    if (!/^NSpid:.*\s1$/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'))) return undefined;
  } catch {
    return undefined;
  }
  boundTcp(dirname(file));
  const isAlive = (): boolean => lives(pid, startTime);
  return {
    pid,
    isAlive,
    wasOutOfMemory: () => {
      try {
        return /^oom_kill [1-9]/m.test(readFileSync(file, 'latin1'));
      } catch {
        return false;
      }
    },
  };
}

/**
 * Control groups of version 1 count TCP buffers separately, and no engine limits them any more: sets an
 * eighth of the memory, as under bubblewrap.
 */
function boundTcp(group: string): void {
  try {
    const limit = Number(readFileSync(join(group, 'memory.limit_in_bytes'), 'latin1'));
    writeFileSync(join(group, 'memory.kmem.tcp.limit_in_bytes'), String(Math.floor(limit / 8)));
  } catch {
    /* version 2, or not ours to write */
  }
}

function eventsFile(pid: number): string {
  const groups = readFileSync(`/proc/${pid}/cgroup`, 'latin1');
  const one = /^\d+:(?:[\w,=]+,)?memory(?:,[\w,=]+)?:(\/.*)$/m.exec(groups)?.[1];
  return one === undefined
    ? `/sys/fs/cgroup${/^0::(\/.*)$/m.exec(groups)?.[1] ?? ''}/memory.events`
    : `/sys/fs/cgroup/memory${one}/memory.oom_control`;
}
