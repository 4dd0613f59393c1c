import { constants } from 'node:os';
import type { Duplex, Readable, Writable } from 'node:stream';
import { RunnerError } from '../errors.ts';
import type { SandboxLimits } from '../protocol.ts';
import { bubblewrapArguments, type Bind } from './bubblewrap.ts';
import type { Cgroup } from './cgroups.ts';
import type { Host } from './host.ts';
import { COMMAND_VARIABLE, commandLine, FD } from './launch.ts';
import { kill, processStat, settled } from './processes.ts';

export interface SandboxSpec {
  command: string[];
  binds: Bind[];
  env?: Record<string, string>;
  limits: SandboxLimits;
  /** How many of the pipes at the command's descriptors 6 and 7 it uses. */
  inputs?: number;
}

export { DEFAULT_LIMITS } from './launch.ts';

export interface SandboxExit { code: number | null; signal: string | null; oom: boolean }

/** A started sandbox. Its streams end by themselves once the tree is gone. */
export interface Sandbox {
  stdin: Writable;
  stdout: Readable;
  stderr: Readable;
  inputs: Duplex[];
  /** The init of the sandbox as this host numbers it; undefined until it is known. */
  initPid(): number | undefined;
  /** Resolves once no process of the sandbox is left; rejects `not_confirmed` when some would not go. */
  exited: Promise<SandboxExit>;
  /** Kills the whole tree; resolves as `exited`, and looks once more where that had failed. Idempotent. */
  kill(): Promise<SandboxExit>;
}

const GONE_TIMEOUT_MS = 10_000;

/** Starts bwrap as the host's unprivileged user, with an empty environment, inside its own cgroup where there are any. */
export function startSandbox(host: Host, spec: SandboxSpec): Sandbox {
  if (host.bwrap === undefined) throw new RunnerError(503, 'no_sandbox', 'bubblewrap is not installed.');
  const wanted = spec.inputs ?? 0;
  const env = { ...spec.env, [COMMAND_VARIABLE]: commandLine(spec.command, wanted) };
  const settings = bubblewrapArguments(host, spec.binds, env, FD);
  // NUL parts the arguments: with one inside, a command could set bwrap's options.
  if (settings.some((arg) => arg.includes('\0'))) throw new RunnerError(400, 'invalid_request', 'A command or variable holds a NUL character.');
  const { child, cgroup, args, info, inputs } = host.launches.take(spec.limits);
  for (const unused of inputs.slice(wanted)) unused.destroy();
  args.end(settings.map((arg) => `${arg}\0`).join(''));
  const init = initOf(info);
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
    inputs: inputs.slice(0, wanted),
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

