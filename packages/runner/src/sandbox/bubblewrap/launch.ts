import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import type { SandboxLimits } from '../../protocol.ts';
import { DEFAULT_LIMITS, OPEN_FILES } from '../driver.ts';
import { limitCgroup, makeCgroup, type Cgroup, type CgroupParent } from './cgroups.ts';

/** What every launch needs from this machine. */
interface LaunchSetup {
  bwrap: string;
  /** The file of the compiled seccomp filter. */
  seccomp: string;
  /** The user that root becomes; null: none is needed. */
  uid: number | null;
  cgroups: CgroupParent | undefined;
}

/** A bwrap that has entered its cgroup, dropped root, and waits for its arguments. */
export interface Launch {
  child: ChildProcess;
  cgroup: Cgroup | undefined;
  args: Writable;
  info: Readable;
  hasExited: boolean;
}

/**
 * Descriptors of bwrap: 0-2 are the command's own, then these; COMMAND closes those that the command
 * inherits.
 */
export const FD = { args: 3, seccomp: 4, info: 5 };
/**
 * The command line also comes through the arguments' pipe, as a variable that the command unsets: no process
 * list shows it.
 */
export const COMMAND_VARIABLE = 'HEADRACE_COMMAND';
const COMMAND = ['/bin/sh', '-c', `eval "$${COMMAND_VARIABLE}"`];
const WARM = 2,
  REFILL_MS = 30;

/**
 * Keeps a few launches ready: entering cgroups and the programs before bwrap take about 15 ms that no
 * task has to wait for.
 */
export class Launches {
  readonly #setup: LaunchSetup;
  #warm: Launch[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #counter = 0;

  constructor(setup: LaunchSetup) {
    this.#setup = setup;
  }

  /** A launch with these limits. */
  take(limits: SandboxLimits): Launch {
    // The file size limit belongs to the process and cannot be raised afterwards.
    const isUsual =
      limits.diskBytes === DEFAULT_LIMITS.diskBytes &&
      (this.#setup.cgroups !== undefined || limits.processes === DEFAULT_LIMITS.processes);
    const warm = isUsual ? this.#nextWarm() : undefined;
    if (!this.#isClosed) this.#timer ??= setTimeout(() => this.#refill(), REFILL_MS);
    if (!warm) return this.#start(limits);
    if (
      warm.cgroup &&
      (limits.memoryBytes !== DEFAULT_LIMITS.memoryBytes || limits.processes !== DEFAULT_LIMITS.processes)
    )
      limitCgroup(warm.cgroup, limits);
    return warm;
  }

  /** Ends the waiting launches; resolves when they are gone. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await Promise.all(this.#warm.splice(0).map((launch) => discard(launch)));
  }

  #nextWarm(): Launch | undefined {
    for (let next = this.#warm.shift(); next; next = this.#warm.shift()) {
      if (!next.hasExited) return next;
      void discard(next);
    }
    return undefined;
  }

  #refill(): void {
    this.#timer = undefined;
    if (this.#isClosed || this.#warm.length >= WARM) return;
    try {
      this.#warm.push(this.#start(DEFAULT_LIMITS));
    } catch {
      return;
    } // short of descriptors or memory: the next `take` reports it
    this.#timer = setTimeout(() => this.#refill(), REFILL_MS);
  }

  #start(limits: SandboxLimits): Launch {
    const { bwrap, seccomp: filter, cgroups } = this.#setup;
    const cgroup = cgroups && makeCgroup(cgroups, `s${++this.#counter}`, limits);
    let seccomp: number | undefined;
    try {
      seccomp = openSync(filter, 'r');
      const child = spawn(
        '/bin/sh',
        ['-c', script(this.#setup, cgroup, limits), 'sh', bwrap, '--args', String(FD.args), '--', ...COMMAND],
        {
          env: {},
          cwd: '/',
          stdio: ['pipe', 'pipe', 'pipe', 'pipe', seccomp, 'pipe'],
        },
      );
      const launch = { child, cgroup, hasExited: false };
      child
        .once('exit', () => {
          launch.hasExited = true;
        })
        .once('error', () => {
          launch.hasExited = true;
        });
      // Where descriptors have run out, the child has no pipes, and an error follows.
      if (!(child.stdio as unknown))
        throw new Error('No further process can be started: too many open files.');
      for (const stream of child.stdio)
        stream?.on('error', () => {
          /* EPIPE: it died first; its exit says so */
        });
      return Object.assign(launch, {
        args: child.stdio[FD.args] as Writable,
        info: (child.stdio as unknown[])[FD.info] as Readable,
      });
    } catch (error) {
      void cgroup?.remove();
      throw error;
    } finally {
      if (seccomp !== undefined) closeSync(seccomp);
    }
  }
}

async function discard({ child, cgroup }: Launch): Promise<void> {
  child.kill('SIGKILL');
  await cgroup?.remove();
}

/** A shell line (trusted values only) that enters the cgroup, sets rlimits, drops root and becomes bwrap. */
function script({ uid }: LaunchSetup, cgroup: Cgroup | undefined, limits: SandboxLimits): string {
  const enter = (cgroup?.procs ?? []).map((file) => `echo $$ >'${file}' || exit 125`);
  // Each further program costs a millisecond; shells set the other limits themselves, in units of 512 bytes.
  const rlimits = [
    'ulimit -c 0',
    `ulimit -f ${Math.floor(limits.diskBytes / 512)}`,
    `ulimit -n ${openFiles()}`,
  ];
  const processes = cgroup ? [] : ['prlimit', `--nproc=${limits.processes}`];
  const drop = uid === null ? [] : ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];
  return [
    'PATH=/usr/bin:/bin:/usr/sbin:/sbin',
    ...enter,
    ...rlimits.map((line) => `${line} || exit 125`),
    // bwrap gets no environment: the shell exports this one by itself.
    'unset PWD OLDPWD',
    `exec ${[...processes, ...drop].join(' ')} "$@"`,
  ].join('\n');
}

/** A limit above the runner's own would be refused. */
function openFiles(): number {
  const own = Number(
    /^Max open files +\S+ +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1] ?? Infinity,
  );
  return Math.min(own, OPEN_FILES);
}

/**
 * The text that COMMAND evaluates: closes the one descriptor that the command must not have and becomes the
 * command.
 */
export function commandLine(command: string[]): string {
  const words = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  return `unset ${COMMAND_VARIABLE}; exec ${FD.info}>&-; exec ${words}`;
}
