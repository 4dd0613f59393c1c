/** One process of the service on a host of its own, which is a part of a machine. */
import type { ChildProcess } from 'node:child_process';
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endOf, spawnService } from '../../harness/service.ts';
import type { Host } from './lab-network.ts';

/** A shared machine may be slow. */
const START_LIMIT_MS = 300_000;
const STARTED = '--- started';
/** A runner's, and the ends of those that have registered before. */
const REGISTRATIONS = /registered as rnr_\w+|the runner has ended|--- started/g;
const CONNECT_LIMIT_MS = 2_000;
const STOP_LIMIT_MS = 60_000;
const CLOCK = join(import.meta.dirname, 'lab-clock.ts');

export type RoleName = 'api' | 'worker' | 'runner';

export interface Role {
  name: string;
  role: RoleName;
  /** 1 to 3. */
  machine: number;
  host: Host;
  /** All variables of its processes. */
  env: Record<string, string>;
  isUp(): boolean;
  /** Of its process; of a runner, of its starter. */
  pid(): number;
  /** Resolves when it listens: an api for callers, a worker for runners, a runner for workers. */
  start(): Promise<void>;
  /** SIGTERM, without waiting. */
  terminate(): void;
  /** Resolves when it has ended by itself, after `terminate`. Throws when it does not within `limitMs`. */
  ended(limitMs?: number): Promise<void>;
  /** `kill -9` of all its processes, of a runner with starter and sandboxes. */
  kill9(): Promise<void>;
  /** `kill -9` of a runner, whose starter lives and starts the next one. */
  crash(): void;
  /** The power goes: nothing more is sent, not even that its connections are broken, and all is killed. */
  unplug(): Promise<void>;
  /** The power is back, the link too: starts it. */
  plugIn(): Promise<void>;
  /** Its clock is so far ahead of all others from now on. */
  setClock(offsetMs: number): void;
  /** The id under which its present runner has registered. */
  registeredAs(): string | undefined;
  /** All that its processes said. */
  said(): string;
}

export interface RoleOptions {
  key: string;
  /** What all processes of the role have in common. */
  env: Record<string, string>;
  dataDir: string;
  /** Where its output and its clock are. */
  folder: string;
}

/** Where each listens: for callers, for runners, for workers. */
export const PORTS: Record<RoleName, number> = { api: 4400, worker: 4402, runner: 4403 };
/** Where each listens for other roles; an API for those that have work at its hosts. */
export const LINK_PORTS: Record<RoleName, number> = { ...PORTS, api: 4404 };

export function makeRole(
  { name, role, machine }: Pick<Role, 'name' | 'role' | 'machine'>,
  host: Host,
  { key, env, dataDir, folder }: RoleOptions,
): Role {
  const [log, clock] = [join(folder, `${name}.log`), join(folder, `${name}.clock`)];
  writeFileSync(log, '');
  writeFileSync(clock, '0');
  let child: ChildProcess | undefined;
  const isUp = () => child !== undefined && child.exitCode === null && child.signalCode === null;
  const listens = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect({ host: host.address, port: PORTS[role], timeout: CONNECT_LIMIT_MS });
      const found = (isThere: boolean) => () => {
        socket.destroy();
        resolve(isThere);
      };
      socket.once('connect', found(true)).once('error', found(false)).once('timeout', found(false));
    });
  const self: Role = {
    name,
    role,
    machine,
    host,
    env: { ...env, HEADRACE_DATA_DIR: dataDir, HEADRACE_ROLES: role },
    isUp,
    pid: () => child!.pid!,
    async start() {
      if (isUp()) throw new Error(`${name} is up`);
      appendFileSync(log, `${STARTED}\n`);
      child = spawnService({
        dataDir,
        key,
        enter: host.enter,
        env: {
          ...env,
          NODE_OPTIONS: `--import=${CLOCK}`,
          TORTURE_CLOCK: clock,
          HEADRACE_ROLES: role,
        },
      });
      for (const stream of [child.stdout!, child.stderr!])
        stream.on('data', (part: Buffer) => appendFileSync(log, part));
      for (const deadline = Date.now() + START_LIMIT_MS; !(await listens()); await sleep(50))
        if (!isUp() || Date.now() > deadline)
          throw new Error(`${name} did not start: ${self.said().slice(-2_000)}`);
    },
    terminate: () => void child?.kill('SIGTERM'),
    async ended(limitMs = STOP_LIMIT_MS) {
      const late = AbortSignal.timeout(limitMs);
      for (; isUp(); await sleep(20))
        if (late.aborted) throw new Error(`${name} did not end within ${limitMs / 1000} s`);
    },
    async kill9() {
      host.killAll();
      if (child) await endOf(child);
    },
    crash() {
      const runner = readdirSync('/proc').find((pid) => /^\d+$/.test(pid) && isRunnerOf(pid, dataDir));
      if (runner === undefined) throw new Error(`${name} has no runner`);
      process.kill(Number(runner), 'SIGKILL');
    },
    async unplug() {
      await host.cut();
      await self.kill9();
    },
    async plugIn() {
      await host.heal();
      await self.start();
    },
    setClock: (offsetMs) => writeFileSync(clock, String(offsetMs)),
    registeredAs: () => self.said().match(REGISTRATIONS)?.at(-1)?.split('registered as ')[1],
    said: () => readFileSync(log, 'utf8'),
  };
  return self;
}

/** A runner is found by its folder; the shell that it replaced is gone by then. */
function isRunnerOf(pid: string, dataDir: string): boolean {
  try {
    const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return args.includes('--machine') && args.some((arg) => arg.startsWith(`${dataDir}/`));
  } catch {
    return false;
  }
}
