/** CPU time of this process's children, as Linux counts it. Node reports only that of its own process. */
import { readdirSync, readFileSync } from 'node:fs';

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
export function cpuOfTree(root: number): number {
  const all = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [Number(name), statOf(name)]),
  );
  const isOf = (pid: number): boolean => pid === root || (all.get(pid) ? isOf(all.get(pid)!.parent) : false);
  return [...all].reduce(
    (sum, [pid, stat]) => sum + (stat && isOf(pid) ? stat.own + (pid === root ? 0 : stat.ended) : 0),
    0,
  );
}
