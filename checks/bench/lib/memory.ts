/** Memory of processes, each shared page counted by its share (PSS). */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}

/** KiB of one process; 0 when it is gone. */
export const memoryOf = (pid: number): number =>
  Number(/^Pss:\s+(\d+)/m.exec(read(pid, 'smaps_rollup'))?.[1] ?? 0);

/**
 * KiB that a control group and those below it hold: processes, the kernel's memory for them, files in
 * memory. Throws where there is none of that name.
 */
export function memoryOfGroup(name: string): number {
  const file = [
    `/sys/fs/cgroup/memory/${name}/memory.usage_in_bytes`,
    `/sys/fs/cgroup/${name}/memory.current`,
  ].find((one) => existsSync(one));
  if (file === undefined) throw new Error(`There is no control group ${name}: its memory cannot be told`);
  return Number(readFileSync(file, 'latin1')) / 1024;
}

/** KiB of all processes below one, without it. */
export function memoryBelow(root: number): number {
  const parents = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .map((pid) => {
        const stat = read(pid, 'stat');
        return [pid, Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])];
      }),
  );
  const isBelow = (pid: number): boolean => {
    const parent = parents.get(pid);
    return parent !== undefined && parent > 0 && (parent === root || isBelow(parent));
  };
  return [...parents.keys()].filter(isBelow).reduce((sum, pid) => sum + memoryOf(pid), 0);
}
