/** CPU time of this process's children, as Linux counts it. Node reports only that of its own process. */
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import type { Setup } from './benchmark.ts';

/**
 * Linux reports these times in hundredths of a second, whatever the kernel's own tick. Within the sum nothing
 * is lost.
 */
const MS_PER_TICK = 10;

interface Stat {
  parent: number;
  own: number;
  /** Of children that have ended and were waited for, with theirs. */
  ended: number;
}

function statOf(pid: string): Stat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The command's name, in parentheses, may have anything in it.
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const ms = (a: number, b: number) => (fields[a]! + fields[b]!) * MS_PER_TICK;
    return { parent: fields[1]!, own: ms(11, 12), ended: ms(13, 14) };
  } catch {
    return null; // it has ended meanwhile
  }
}

/**
 * ms of CPU that children of this process used which have ended. To the nearest 10 ms: for the difference
 * over many of them.
 */
export const cpuOfEnded = (): number => statOf('self')!.ended;

/** The same of the children that live, with theirs that have ended. */
export function cpuOfLiving(): number {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(statOf);
  return all.reduce((sum, stat) => sum + (stat?.parent === process.pid ? stat.own + stat.ended : 0), 0);
}

/** The same of all processes below this one: children, theirs, and so on. */
export const cpuBelow = (): number => cpuOfTree(process.pid) - statOf('self')!.own;

/** ms of CPU that this process used, with all that are below it. */
export const cpuOfTree = (root: number): number =>
  statsOfTree(root).reduce((sum, [pid, stat]) => sum + stat.own + (pid === root ? 0 : stat.ended), 0);

/** ms of CPU that a living process used itself. */
export const cpuOf = (pid: number): number => statOf(String(pid))?.own ?? 0;

function statsOfTree(root: number): [number, Stat][] {
  const all = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [Number(name), statOf(name)]),
  );
  const isOf = (pid: number): boolean => pid === root || (all.get(pid) ? isOf(all.get(pid)!.parent) : false);
  return [...all].filter((one): one is [number, Stat] => one[1] !== null && isOf(one[0]));
}

const ACCOUNTING = '/sys/fs/cgroup/cpuacct';

/**
 * Counts the CPU of a process and of all that it starts from now on, in ms, exactly: of a killed sandbox
 * too, whose processes no parent waits for, so that `cpuOfTree` misses them. Needs root and control groups of
 * version 1; elsewhere it is `cpuOfTree`.
 */
export function countCpu(setup: Setup, name: string, root: number): () => number {
  const folder = `${ACCOUNTING}/headrace-bench-${process.pid}-${name}`;
  try {
    mkdirSync(folder);
  } catch {
    return () => cpuOfTree(root);
  }
  const move = (to: string, pid: string) => {
    try {
      writeFileSync(`${to}/cgroup.procs`, pid);
    } catch {
      // It has ended meanwhile.
    }
  };
  setup.atEnd(() => {
    for (const pid of readFileSync(`${folder}/cgroup.procs`, 'latin1').split('\n').filter(Boolean))
      move(ACCOUNTING, pid);
    rmdirSync(folder);
  });
  for (const [pid] of statsOfTree(root)) move(folder, String(pid));
  return () => Number(readFileSync(`${folder}/cpuacct.usage`, 'latin1')) / 1e6;
}
