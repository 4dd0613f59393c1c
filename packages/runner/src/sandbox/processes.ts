import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** A process of this host, read from /proc. */
interface ProcessStat {
  pid: number;
  parent: number;
  state: string;
  startTime: string;
  residentPages: number;
}

/** Undefined when there is no such process (any more). */
export function processStat(pid: number): ProcessStat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return {
      pid,
      state: fields[0] ?? '',
      parent: Number(fields[1]),
      startTime: fields[19] ?? '',
      residentPages: Number(fields[21]),
    };
  } catch {
    return undefined;
  }
}

/**
 * Whether the process of that pid and start still does anything: a zombie that nobody has waited for does
 * not.
 */
export function lives(pid: number, startTime: string | undefined): boolean {
  const stat = processStat(pid);
  return stat !== undefined && stat.startTime === startTime && stat.state !== 'Z';
}

/**
 * The processes below a pid, itself included. In a pid namespace orphans become children of its init, so none
 * is missed.
 */
export function processTree(root: number): ProcessStat[] {
  const children = new Map<number, ProcessStat[]>();
  let top: ProcessStat | undefined;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = processStat(Number(name));
    if (!stat) continue;
    if (stat.pid === root) top = stat;
    const siblings = children.get(stat.parent);
    if (siblings) siblings.push(stat);
    else children.set(stat.parent, [stat]);
  }
  const found: ProcessStat[] = top ? [top] : [];
  for (let i = 0; i < found.length; i++) found.push(...(children.get(found[i]!.pid) ?? []));
  return found;
}

export function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    /* gone already */
  }
}

/** Polls `done` every 2 ms; false after `timeoutMs`. */
export async function settled(done: () => boolean, timeoutMs: number): Promise<boolean> {
  for (const deadline = Date.now() + timeoutMs; !done();) {
    if (Date.now() > deadline) return false;
    await sleep(2);
  }
  return true;
}
