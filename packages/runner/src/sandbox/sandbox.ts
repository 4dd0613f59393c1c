import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { RunnerError } from '../errors.ts';
import type { SandboxLimits } from '../protocol.ts';
import { bubblewrapArguments, type Bind } from './bubblewrap.ts';
import { makeCgroup, type Cgroup } from './cgroups.ts';
import type { Host } from './host.ts';
import { kill, processStat, settled } from './processes.ts';

export interface SandboxSpec {
  command: string[];
  binds: Bind[];
  env?: Record<string, string>;
  limits: SandboxLimits;
  /** Further pipes into the sandbox, as descriptors 6, 7, … of the command. */
  inputs?: number;
}

export interface SandboxExit { code: number | null; signal: string | null; oom: boolean }

/** A started sandbox. Its streams end by themselves once the tree is gone. */
export interface Sandbox {
  stdin: Writable;
  stdout: Readable;
  stderr: Readable;
  inputs: Writable[];
  /** The init of the sandbox as this host numbers it; undefined until it is known. */
  initPid(): number | undefined;
  /** Resolves once no process of the sandbox is left; rejects `not_confirmed` when some would not go. */
  exited: Promise<SandboxExit>;
  /** Kills the whole tree; resolves as `exited`, and looks once more where that had failed. Idempotent. */
  kill(): Promise<SandboxExit>;
}

export const DEFAULT_LIMITS: SandboxLimits = { memoryBytes: 4 * 1024 ** 3, processes: 512, diskBytes: 2 * 1024 ** 3 };

/** Descriptors of bwrap: 0-2 the command's own, then these, then the spec's inputs. */
const FD = { args: 3, seccomp: 4, info: 5, firstInput: 6 };
const GONE_TIMEOUT_MS = 10_000;
let counter = 0;

/** Starts bwrap as the host's unprivileged user, with an empty environment, inside its own cgroup where there are any. */
export function startSandbox(host: Host, spec: SandboxSpec): Sandbox {
  if (host.bwrap === undefined) throw new RunnerError(503, 'no_sandbox', 'bubblewrap is not installed.');
  const cgroup = host.cgroups && makeCgroup(host.cgroups, `s${++counter}`, spec.limits);
  const seccomp = openSync(host.seccomp, 'r');
  let child: ChildProcess;
  try {
    child = spawn('/bin/sh', ['-c', launcher(host, cgroup, spec.limits), 'sh', host.bwrap, '--args', String(FD.args), '--', ...spec.command], {
      env: {}, cwd: '/', stdio: ['pipe', 'pipe', 'pipe', 'pipe', seccomp, 'pipe', ...Array.from({ length: spec.inputs ?? 0 }, () => 'pipe' as const)],
    });
  } finally { closeSync(seccomp); }
  for (const stream of child.stdio) stream?.on('error', () => { /* EPIPE: it died first; its exit says so */ });
  (child.stdio[FD.args] as Writable).end(bubblewrapArguments(host, spec.binds, spec.env ?? {}, FD).map((arg) => `${arg}\0`).join(''));
  const init = initOf(child.stdio[FD.info] as Readable);
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', () => resolve({ code: null, signal: null }));
  });
  let oom = false;
  const confirm = async (): Promise<SandboxExit> => {
    const { code, signal } = await ended;
    oom ||= cgroup?.oomKilled() ?? false;
    if (!await isGone(init.pid(), init.startTime(), cgroup)) throw new RunnerError(500, 'not_confirmed', 'Processes of the sandbox are still alive.');
    return { code, signal: signal ?? signalOf(code), oom };
  };
  const exited = confirm();
  exited.catch(() => { /* whoever awaits it sees it */ });
  return {
    stdin: child.stdin!, stdout: child.stdout!, stderr: child.stderr!,
    inputs: Array.from({ length: spec.inputs ?? 0 }, (_, i) => child.stdio[FD.firstInput + i] as Writable),
    initPid: init.pid, exited,
    async kill() {
      // Its init first: with it the kernel ends every process of the namespace. Before bwrap has told it there is only bwrap itself.
      await Promise.race([init.known, ended]);
      const pid = init.pid();
      if (pid !== undefined && processStat(pid)?.startTime === init.startTime()) kill(pid);
      child.kill('SIGKILL');
      return exited.catch(confirm);
    },
  };
}

/** A shell line (trusted values only) that enters the cgroup, sets rlimits, drops root and becomes bwrap. */
function launcher(host: Host, cgroup: Cgroup | undefined, limits: SandboxLimits): string {
  const enter = (cgroup?.procs ?? []).map((file) => `echo $$ >'${file}' || exit 125`);
  const prlimit = ['prlimit', '--core=0', `--fsize=${limits.diskBytes}`, ...(cgroup ? [] : [`--nproc=${limits.processes}`])];
  const drop = host.uid === null ? [] : ['setpriv', `--reuid=${host.uid}`, `--regid=${host.uid}`, '--clear-groups'];
  return ['PATH=/usr/bin:/bin:/usr/sbin:/sbin', ...enter, `unset PWD; exec ${[...prlimit, ...drop].join(' ')} /usr/bin/env -i "$@"`].join('\n');
}

/** bwrap writes {"child-pid": N, …} as soon as the sandbox's init exists. */
function initOf(info: Readable): { known: Promise<void>; pid(): number | undefined; startTime(): string | undefined } {
  let text = '', pid: number | undefined, startTime: string | undefined;
  const known = new Promise<void>((resolve) => {
    info.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      const found = /"child-pid":\s*(\d+)/.exec(text);
      if (!found || pid !== undefined) return;
      pid = Number(found[1]);
      startTime = processStat(pid)?.startTime;
      resolve();
    }).once('close', resolve);
  });
  return { known, pid: () => pid, startTime: () => startTime };
}

/** An init is a zombie or missing only after the kernel has reaped its whole namespace. */
async function isGone(pid: number | undefined, startTime: string | undefined, cgroup: Cgroup | undefined): Promise<boolean> {
  const initIsGone = pid === undefined || await settled(() => {
    const stat = processStat(pid);
    if (!stat || stat.startTime !== startTime || stat.state === 'Z') return true;
    kill(pid);
    return false;
  }, GONE_TIMEOUT_MS);
  return initIsGone && (cgroup === undefined || cgroup.remove());
}

/** bwrap tells a death by signal as 128 + n, like a shell. */
function signalOf(code: number | null): string | null {
  if (code === null || code <= 128) return null;
  return Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0] ?? null;
}

