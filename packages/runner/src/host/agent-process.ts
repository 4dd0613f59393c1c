import { execFile, spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { RunnerError } from '../errors.ts';
import { processStat } from '../sandbox/processes.ts';

/** The variable by which everything that a turn has started is found again. */
export const MARK = 'HEADRACE_HOST_TASK';
/** Time to end by itself, and time until the end counts as not confirmed. */
const GENTLE_MS = 1_500,
  END_MS = 15_000,
  POLL_MS = 20;

export interface AgentProcess {
  stdin: ChildProcessWithoutNullStreams['stdin'];
  stdout: ChildProcessWithoutNullStreams['stdout'];
  stderr: ChildProcessWithoutNullStreams['stderr'];
  /** How its first process ended; rejects when it could not be started. */
  exited: Promise<{ code: number | null; signal: string | null }>;
  /** Ends all that it has started; resolves once nothing is left. Throws `not_confirmed` 500. */
  end(): Promise<void>;
}

/** Starts a command of this machine in a folder, without a sandbox. `mark` is in the environment of all that it starts. */
export function startAgent(
  command: readonly string[],
  { folder, env, mark }: { folder: string; env: NodeJS.ProcessEnv; mark: string },
): AgentProcess {
  const child = spawn(command[0]!, command.slice(1), {
    cwd: folder,
    env: { ...env, [MARK]: mark },
    // A group of its own: the Ctrl-C that ends the program is the program's to handle.
    detached: true,
    stdio: 'pipe',
  });
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', () => {});
  const exited = new Promise<{ code: number | null; signal: string | null }>((resolve, reject) => {
    child.once('error', reject).once('exit', (code, signal) => resolve({ code, signal }));
  });
  exited.catch(() => {});
  const { stdin, stdout, stderr, pid } = child;
  return { stdin, stdout, stderr, exited, end: () => endAll(mark, pid) };
}

/** Ends what has the mark, and what came from `root`: asks, then kills. Throws `not_confirmed` 500. */
export async function endAll(mark: string, root?: number): Promise<void> {
  const from = Date.now();
  const found = new Map<number, string>();
  for (let signal: NodeJS.Signals = 'SIGTERM', last: NodeJS.Signals | undefined; ;) {
    const pids = process.platform === 'linux' ? marked(mark, found, root) : await descendantsOf(root);
    if (pids.length === 0) return;
    const passed = Date.now() - from;
    if (passed > GENTLE_MS) signal = 'SIGKILL';
    if (passed > END_MS)
      throw new RunnerError(500, 'not_confirmed', 'Processes of the agent are still running.');
    // Once is enough to ask; what is killed may have started more in the meantime.
    if (signal !== last || signal === 'SIGKILL') for (const pid of pids) send(pid, signal);
    last = signal;
    await sleep(POLL_MS);
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    /* gone already */
  }
}

/**
 * What has the mark in its environment, is below such a process, or was when it was looked at before (`found`: pid → start time). Only
 * what leaves its parents and drops its environment before the end is missed.
 */
function marked(mark: string, found: Map<number, string>, root: number | undefined): number[] {
  const wanted = Buffer.from(`${MARK}=${mark}\0`);
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) && processStat(Number(name))) || []);
  for (const { pid, startTime } of all)
    if ((pid === root && found.size === 0) || isMarked(pid, wanted)) found.set(pid, startTime);
  for (let before = -1; before < found.size;) {
    before = found.size;
    for (const { pid, parent, startTime } of all) if (found.has(parent)) found.set(pid, startTime);
  }
  return all.flatMap(({ pid, startTime, state }) =>
    found.get(pid) === startTime && state !== 'Z' ? pid : [],
  );
}

function isMarked(pid: number, wanted: Buffer): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`).includes(wanted);
  } catch {
    return false; // gone, or another user's
  }
}

/** Where there is no /proc: all of its group, and all below them. What left the group and lost its parent is not found. */
function descendantsOf(root: number | undefined): Promise<number[]> {
  if (root === undefined) return Promise.resolve([]);
  return new Promise((resolve) => {
    execFile('ps', ['-A', '-o', 'pid=,ppid=,pgid=,stat='], (_, stdout) => {
      const rows = stdout
        .split('\n')
        .map((line) => line.trim().split(/\s+/))
        .filter(([pid, , , stat]) => pid && !stat?.startsWith('Z'))
        .map(([pid, parent, group]) => ({ pid: Number(pid), parent: Number(parent), group: Number(group) }));
      const found = new Set(rows.flatMap(({ pid, group }) => (group === root || pid === root ? pid : [])));
      for (let before = -1; before < found.size;) {
        before = found.size;
        for (const { pid, parent } of rows) if (found.has(parent)) found.add(pid);
      }
      resolve([...found]);
    });
  });
}
