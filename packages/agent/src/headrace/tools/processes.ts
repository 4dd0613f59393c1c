import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

export type Child = ChildProcessByStdio<null, Readable, null>;

/** A longer command does not fit into one argument (the kernel's limit is 128 KiB). */
const ARGUMENT_BYTES = 100 * 1024;
const SHELL = existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh';

/** The live commands, each in its own process group. */
export class Processes {
  readonly #env: NodeJS.ProcessEnv;
  readonly #live = new Set<Child>();
  #scripts = 0;

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env;
  }

  /** Starts a shell command with empty stdin; both output streams share one pipe, which keeps their order. */
  start(command: string, cwd: string): Child {
    const script =
      Buffer.byteLength(command) > ARGUMENT_BYTES
        ? join(tmpdir(), `.command-${process.pid}-${++this.#scripts}.sh`)
        : undefined;
    if (script !== undefined) writeFileSync(script, command);
    const child: Child = spawn(
      '/bin/sh',
      [
        '-c',
        script === undefined ? 'exec "$0" -c "$1" 2>&1' : 'exec "$0" "$1" 2>&1',
        SHELL,
        script ?? command,
      ],
      { cwd, env: this.#env, detached: true, stdio: ['ignore', 'pipe', 'ignore'] },
    );
    this.#live.add(child);
    child.once('exit', () => this.#live.delete(child)).once('error', () => this.#live.delete(child));
    return child;
  }

  /**
   * Kills a command with everything that it started, including what left its group, as long as its parents
   * live.
   */
  kill(child: Child): void {
    if (child.pid === undefined) return;
    const descendants = descendantsOf(child.pid);
    signal(-child.pid);
    for (const pid of descendants) signal(pid);
  }

  killAll(): void {
    for (const child of this.#live) this.kill(child);
  }
}

function signal(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    /* it is gone */
  }
}

function descendantsOf(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const parent = parentOf(name);
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const found: number[] = [];
  for (const queue = [pid]; queue.length > 0;) {
    const next = children.get(queue.pop()!) ?? [];
    found.push(...next);
    queue.push(...next);
  }
  return found;
}

/** The name in a stat line is in parentheses and may contain anything. */
function parentOf(pid: string): number | undefined {
  try {
    return Number(/^\d+ \(.*\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]);
  } catch {
    return undefined;
  }
}
