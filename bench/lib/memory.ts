/** Memory of processes, each shared page counted by its share (PSS). */
import { readdirSync, readFileSync } from 'node:fs';

function read(pid: number, file: string): string {
  try { return readFileSync(`/proc/${pid}/${file}`, 'latin1'); } catch { return ''; }
}

/** KiB of all processes below one, without it. */
export function memoryBelow(root: number): number {
  const parents = new Map(readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number).map((pid) => {
    const stat = read(pid, 'stat');
    return [pid, Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])];
  }));
  const isBelow = (pid: number): boolean => { const parent = parents.get(pid); return parent !== undefined && parent > 0 && (parent === root || isBelow(parent)); };
  return [...parents.keys()].filter(isBelow).reduce((sum, pid) => sum + Number(/^Pss:\s+(\d+)/m.exec(read(pid, 'smaps_rollup'))?.[1] ?? 0), 0);
}
