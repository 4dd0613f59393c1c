import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { dirname } from 'node:path';
import type { SandboxLimits } from '../../../packages/runner/src/protocol.ts';
import { collect } from '../../../packages/runner/src/sandbox/collect.ts';
import {
  DEFAULT_LIMITS,
  HOME,
  NODE,
  WORKSPACE,
  type Driver,
  type Sandbox,
  type SandboxExit,
} from '../../../packages/runner/src/sandbox/driver.ts';
import { GUEST } from '../../../packages/runner/src/sandbox/guest.ts';
import { makeSandboxFolder, startSandbox, type Host } from '../../../packages/runner/src/sandbox/host.ts';
import { outputOf, tarStream, type Bench } from '../../../packages/runner/src/runner.fixture.ts';
import type { Canaries } from './canaries.ts';
import type { Result } from './probe.ts';

/** A probe that needs a place of its own, with code outside that works along with it. */
export interface AloneProbe {
  name: string;
  theme: string;
  /** Whether it succeeded, and its output. Undefined: it cannot be tried here. */
  attempt(ground: Ground): Promise<{ succeeded: boolean; said: string } | undefined>;
}

/**
 * Where such a probe runs: the runner's own functions work on `host`, whose driver makes real sandboxes or
 * none.
 */
export interface Ground {
  isControl: boolean;
  host: Host;
  canaries: Canaries;
  /** Runs a command with a task's limits; returns its output. */
  run(command: string, limits: SandboxLimits): Promise<string>;
  /** Starts a command that keeps running. */
  start(command: string, folder?: string): Sandbox;
}

export function sandboxGround(bench: Bench, canaries: Canaries): Ground {
  return {
    isControl: false,
    host: bench.host,
    canaries,
    async run(command, limits) {
      const id = randomUUID();
      await bench.workspaces.put(id, tarStream({}));
      const entries = await bench.run(`op_${id}`, {
        kind: 'exec',
        workspaceId: id,
        command,
        limits,
        timeoutMs: 30_000,
      });
      return `${outputOf(entries)}\n${JSON.stringify(entries.at(-1))}`;
    },
    start: starter(bench.host),
  };
}

/** The same functions without a sandbox: commands run in the folder that would be their workspace. */
export function controlGround(host: Host, canaries: Canaries): Ground {
  const bare: Host = {
    ...host,
    driver: bareDriver(host, ['--pid', '--fork', '--kill-child', '--mount-proc', '--propagation', 'private']),
  };
  const free: Host = { ...host, driver: bareDriver(host, undefined) };
  return {
    isControl: true,
    host: bare,
    canaries,
    async run(command) {
      const sandbox = starter(bare)(command);
      const { stdout, stderr } = await collect(sandbox, { maxBytes: 1024 ** 2, timeoutMs: 30_000 });
      return `${stdout.toString()}\n${stderr}`;
    },
    start: starter(free),
  };
}

const starter =
  (host: Host): Ground['start'] =>
  (command, folder = makeSandboxFolder(host, randomUUID())) => {
    const sandbox = startSandbox(host, {
      command: ['/bin/sh', '-c', command],
      binds: [{ host: folder, inside: WORKSPACE, readOnly: false }],
      limits: DEFAULT_LIMITS,
    });
    sandbox.stdin.end();
    sandbox.stderr.resume();
    return sandbox;
  };

/**
 * Runs commands without a sandbox: under `unshare` with these options, so that leftovers end with it, or else
 * directly.
 */
function bareDriver(host: Host, options: string[] | undefined): Driver {
  const user = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'];
  return {
    name: 'bubblewrap',
    seesMounts: true,
    engine: null,
    limits: host.driver!.limits,
    missing: () => Promise.resolve([]),
    offers: () => Promise.resolve(false),
    remedy: () => '',
    close: () => Promise.resolve(),
    start({ command, binds, env }) {
      const at = (inside: string): string => binds.find((bind) => bind.inside === inside)?.host ?? host.base;
      const words = [
        ...(options ? ['/usr/bin/unshare', ...user, ...options, '--'] : []),
        ...command.map((word) => word.replaceAll(GUEST, host.guest.folder).replaceAll(NODE, host.node)),
      ];
      const child = spawn(words[0]!, words.slice(1), {
        cwd: at(WORKSPACE),
        env: { PATH: `${dirname(host.node)}:/usr/bin:/bin:/usr/sbin:/sbin`, HOME: at(HOME), ...env },
        stdio: 'pipe',
      });
      child.stdin.on('error', () => {
        /* it has ended */
      });
      const exited = new Promise<SandboxExit>((resolve) => {
        child
          .once('error', () => resolve({ code: null, signal: null, oom: false }))
          .once('exit', (code, signal) => resolve({ code, signal, oom: false }));
      });
      return {
        stdin: child.stdin,
        stdout: child.stdout,
        stderr: child.stderr,
        begun: Promise.resolve(),
        initPid: () => child.pid,
        pause: () => Promise.reject(new Error('nothing is paused here')),
        resume: () => Promise.resolve(),
        exited,
        kill() {
          child.kill('SIGKILL');
          return exited;
        },
      };
    },
  };
}

/** Without control groups the limit of processes counts everything that this user runs. */
const atOnce = ({ host }: Ground): number => (host.driver?.limits.processes === 'cgroup' ? 5 : 1);

/** Runs the probes, some of them at once. */
export async function runAlone(ground: Ground, probes: AloneProbe[]): Promise<Result[]> {
  const left = [...probes],
    results: Result[] = [];
  await Promise.all(
    Array.from({ length: atOnce(ground) }, async () => {
      for (let probe = left.shift(); probe; probe = left.shift()) {
        const { name, theme } = probe,
          result = await probe.attempt(ground);
        if (result) results.push({ name, theme, ...result, said: result.said.trim().slice(-200) });
      }
    }),
  );
  return results;
}
