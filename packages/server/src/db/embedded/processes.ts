/** The server's processes, found by title: a process id in a file may meanwhile be another process's. */
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Place } from './place.ts';

interface ServerProcesses {
  postmaster: number | null;
  /**
   * Backends and helpers. They outlive a killed postmaster while they are busy, and hold the shared memory
   * until they end.
   */
  children: number[];
}

/**
 * Milliseconds that a server gets to end by itself, each. The service as a whole has ten seconds for its
 * end.
 */
const FAST_SHUTDOWN = 5_000;
const IMMEDIATE_SHUTDOWN = 1_500;
const KILLED = 5_000;

export function findProcesses(place: Pick<Place, 'title'>): ServerProcesses {
  const found: ServerProcesses = { postmaster: null, children: [] };
  for (const { pid, command } of process.platform === 'linux' ? linuxProcesses() : psProcesses()) {
    if (command.startsWith(`postgres: ${place.title}`)) found.children.push(pid);
    else if (command.includes(` cluster_name=${place.title}`)) found.postmaster = pid;
  }
  return found;
}

/**
 * Stops the server, first gently, at last by force, and resolves once none of its processes lives. Throws
 * when one does not end.
 */
export async function stopProcesses(place: Place): Promise<void> {
  const { postmaster } = findProcesses(place);
  if (postmaster !== null) {
    signal(postmaster, 'SIGINT');
    if (await allEnd(place, FAST_SHUTDOWN)) return;
    signal(postmaster, 'SIGQUIT');
    if (await allEnd(place, IMMEDIATE_SHUTDOWN)) return;
  }
  // Without a postmaster the next start recovers from the log anyway: nothing is gained by waiting for a
  // backend's query.
  const rest = findProcesses(place);
  for (const pid of [rest.postmaster, ...rest.children]) if (pid !== null) signal(pid, 'SIGKILL');
  if (!(await allEnd(place, KILLED)))
    throw new Error(
      `Processes of the database in ${place.dataDir} do not end: ${findProcesses(place).children.join(', ')}`,
    );
}

async function allEnd(place: Place, milliseconds: number): Promise<boolean> {
  const deadline = performance.now() + milliseconds;
  for (;;) {
    const { postmaster, children } = findProcesses(place);
    if (postmaster === null && children.length === 0) return true;
    if (performance.now() > deadline) return false;
    await sleep(10);
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function* linuxProcesses(): Generator<{ pid: number; command: string }> {
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      yield {
        pid: Number(name),
        command: readFileSync(`/proc/${name}/cmdline`, 'latin1').replaceAll('\0', ' '),
      };
    } catch {
      // It ended meanwhile.
    }
  }
}

function* psProcesses(): Generator<{ pid: number; command: string }> {
  for (const line of execFileSync('/bin/ps', ['-axww', '-o', 'pid=,command='], {
    encoding: 'latin1',
    timeout: 5_000,
    maxBuffer: 1 << 26,
  }).split('\n')) {
    const [, pid, command] = /^\s*(\d+) (.*)$/.exec(line) ?? [];
    if (pid && command) yield { pid: Number(pid), command };
  }
}
