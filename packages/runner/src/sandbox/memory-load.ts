import { readFileSync } from 'node:fs';
import { freemem, totalmem } from 'node:os';

const V1 = '/sys/fs/cgroup/memory';
const V2 = '/sys/fs/cgroup';

/**
 * The total and the free bytes of this machine, or of the control group that the service is in; memory held
 * by caches counts as free.
 */
export function memoryLoad(): { memoryBytes: number; freeBytes: number } {
  const machine = ofMachine();
  const group =
    ofGroup(V2, { limit: 'memory.max', used: 'memory.current' }) ??
    ofGroup(V1, { limit: 'memory.limit_in_bytes', used: 'memory.usage_in_bytes' });
  if (!group || group.memoryBytes >= machine.memoryBytes) return machine;
  return { memoryBytes: group.memoryBytes, freeBytes: Math.min(group.freeBytes, machine.freeBytes) };
}

function ofMachine(): { memoryBytes: number; freeBytes: number } {
  const text = read('/proc/meminfo') ?? '';
  const bytes = (name: string): number | undefined => {
    const kibibytes = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1];
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
  };
  return { memoryBytes: bytes('MemTotal') ?? totalmem(), freeBytes: bytes('MemAvailable') ?? freemem() };
}

/** In a container the group's root is mounted where the host's would be; the host's own has no limit. */
function ofGroup(
  folder: string,
  files: { limit: string; used: string },
): { memoryBytes: number; freeBytes: number } | undefined {
  const memoryBytes = Number(read(`${folder}/${files.limit}`) ?? NaN),
    used = Number(read(`${folder}/${files.used}`) ?? NaN);
  if (!(memoryBytes > 0) || !(used >= 0)) return undefined;
  const cached = Number(
    /^(?:total_)?inactive_file (\d+)$/m.exec(read(`${folder}/memory.stat`) ?? '')?.[1] ?? 0,
  );
  return { memoryBytes, freeBytes: Math.max(0, memoryBytes - used + cached) };
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
