/** Sandboxes of a driver in this process, and what they are compared with. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { bubblewrapArguments } from '../../../packages/runner/src/sandbox/bubblewrap/arguments.ts';
import { DEFAULT_LIMITS, WORKSPACE } from '../../../packages/runner/src/sandbox/driver.ts';
import type { Bind } from '../../../packages/runner/src/sandbox/driver.ts';
import { chooseDriver, DEFAULT_CHOICE } from '../../../packages/runner/src/sandbox/drivers.ts';
import type { DriverChoice } from '../../../packages/runner/src/sandbox/drivers.ts';
import { storeFolder } from '../../../packages/runner/src/sandbox/guest-store.ts';
import {
  makeSandboxFolder,
  prepareHost,
  releaseHost,
  startSandbox,
} from '../../../packages/runner/src/sandbox/host.ts';
import type { Host } from '../../../packages/runner/src/sandbox/host.ts';

const LIMIT_MS = 30_000;
/** Descriptors of a bwrap that is started by hand. */
const FD = { args: 3, seccomp: 4, info: 5 };

/** ms from the start. `first` is null where nothing was printed. */
export interface Started {
  first: number | null;
  gone: number;
}

export interface Sandboxes {
  /**
   * A sandbox with an empty workspace, to its confirmed end. `isCold`: with limits that no waiting launch
   * has.
   */
  run(command: string[], isCold?: boolean): Promise<Started>;
  host: Host;
  bind: Bind;
  close(): Promise<void>;
}

/** Throws where the driver that is asked for cannot isolate here. */
export async function openSandboxes(
  stateDir: string,
  choice: Partial<DriverChoice> & Pick<DriverChoice, 'driver'>,
): Promise<Sandboxes> {
  const host = await prepareHost(storeFolder(stateDir));
  const { ok, missing } = await chooseDriver(host, { ...DEFAULT_CHOICE, ...choice });
  if (!ok) {
    await releaseHost(host);
    throw new Error(`No sandbox can be made: ${missing.join('; ')}`);
  }
  const bind: Bind = { host: makeSandboxFolder(host, 'bench'), inside: WORKSPACE, readOnly: false };
  return {
    host,
    bind,
    async run(command, isCold = false) {
      const from = performance.now();
      // One byte more to a file: no waiting launch can be given another limit of that kind.
      const sandbox = startSandbox(host, {
        command,
        binds: [bind],
        limits: isCold ? { ...DEFAULT_LIMITS, diskBytes: DEFAULT_LIMITS.diskBytes + 1 } : DEFAULT_LIMITS,
      });
      const timer = setTimeout(() => void sandbox.kill().catch(() => {}), LIMIT_MS);
      const said = listen(sandbox.stdout, sandbox.stderr, from);
      sandbox.stdin.end();
      const { code } = await sandbox.exited;
      const gone = performance.now() - from;
      clearTimeout(timer);
      if (code !== 0) throw new Error(`${command.join(' ')} in a sandbox: exit ${code}: ${said.errors()}`);
      return { first: said.first(), gone };
    },
    close: () => releaseHost(host),
  };
}

/** The same command as a plain process of this machine. */
export const runPlain = (command: string[]): Promise<Started> => {
  const from = performance.now();
  return endOf(
    spawn(command[0]!, command.slice(1), { env: {}, cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] }),
    from,
  );
};

/**
 * bwrap by hand with the arguments that the driver gives it, as the same user; nothing waits for it, and no
 * control group is made.
 */
export function runBwrap({ host, bind }: Sandboxes, command: string[]): Promise<Started> {
  const settings = bubblewrapArguments(host, { binds: [bind], env: {}, root: undefined }, FD);
  const identity = host.uid === null ? {} : { uid: host.uid, gid: host.uid };
  const seccomp = openSync(join(host.base, 'seccomp.bpf'), 'r');
  try {
    const from = performance.now();
    const child = spawn('/usr/bin/bwrap', ['--args', String(FD.args), '--', ...command], {
      ...identity,
      env: {},
      cwd: '/',
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', seccomp, 'pipe'],
    });
    (child.stdio[FD.args] as Writable).end(settings.map((arg) => `${arg}\0`).join(''));
    (child.stdio as Readable[])[FD.info]!.resume();
    return endOf(child, from);
  } finally {
    closeSync(seccomp);
  }
}

function listen(
  stdout: Readable,
  stderr: Readable,
  from: number,
): { first(): number | null; errors(): string } {
  let first: number | null = null;
  let errors = '';
  stdout.on('data', () => {
    first ??= performance.now() - from;
  });
  stderr.setEncoding('utf8').on('data', (part: string) => {
    errors = (errors + part).slice(-500);
  });
  return { first: () => first, errors: () => errors };
}

function endOf(child: ChildProcess, from: number): Promise<Started> {
  const said = listen(child.stdout!, child.stderr!, from);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
    let gone = 0;
    child
      .once('error', reject)
      .once('exit', () => {
        gone = performance.now() - from;
      })
      .once('close', (code) => {
        clearTimeout(timer);
        if (code === 0) resolve({ first: said.first(), gone });
        else reject(new Error(`${child.spawnargs.join(' ')}: exit ${code}: ${said.errors()}`));
      });
  });
}
