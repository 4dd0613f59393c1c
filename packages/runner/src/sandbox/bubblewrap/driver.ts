import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RunnerError } from '../../errors.ts';
import type { RunnerStatus, Runtime } from '../../protocol.ts';
import type { Driver, Sandbox, SandboxSpec } from '../driver.ts';
import type { Host } from '../host.ts';
import { isRoot } from '../inside-root.ts';
import { bubblewrapArguments } from './arguments.ts';
import { cgroupParent, removeCgroupParent, type CgroupParent } from './cgroups.ts';
import { COMMAND_VARIABLE, commandLine, FD, Launches } from './launch.ts';
import { reachableRoot } from './runtime-root.ts';
import { seccompFilter } from './seccomp.ts';
import { startLaunch } from './start.ts';

const NO_CGROUPS =
  'no control groups can be made here: memory and processes are bounded by rlimits and a watchdog; ' +
  'delegate a cgroup (systemd-run --user --scope -p Delegate=yes) or run as root';

/**
 * Sandboxes by bwrap, as the host's unprivileged user, with an empty environment, each inside its own cgroup
 * where cgroups are available.
 */
export class BubblewrapDriver implements Driver {
  readonly name = 'bubblewrap';
  readonly seesMounts = true;
  readonly engine = null;
  readonly limits: RunnerStatus['limits'];
  readonly cgroups: CgroupParent | undefined;
  readonly #host: Host;
  readonly #seccomp: string;
  #launches: Launches | undefined;

  constructor(host: Host) {
    this.#host = host;
    this.#seccomp = join(host.base, 'seccomp.bpf');
    writeFileSync(this.#seccomp, seccompFilter(process.arch));
    this.cgroups = cgroupParent(host.base.slice(host.base.lastIndexOf('/') + 1));
    this.limits = this.cgroups
      ? {
          memory: 'cgroup',
          processes: 'cgroup',
          cpu: this.cgroups.boundsCpu ? 'cgroup' : 'none',
          warnings: [],
        }
      : { memory: 'watchdog', processes: 'rlimit', cpu: 'none', warnings: [NO_CGROUPS] };
  }

  missing(): Promise<string[]> {
    return Promise.resolve(this.#prepared() ? [] : ['install bubblewrap: apt-get install bubblewrap']);
  }

  offers({ root }: Runtime): Promise<boolean> {
    return Promise.resolve(root !== null && isRoot(root));
  }

  start({ command, binds, env, limits, runtime }: SandboxSpec): Sandbox {
    const launches = this.#prepared();
    if (!launches) throw new RunnerError(503, 'no_sandbox', 'bubblewrap is not installed.');
    const settings = bubblewrapArguments(
      this.#host,
      {
        binds,
        env: { ...env, [COMMAND_VARIABLE]: commandLine(command) },
        root: runtime?.root == null ? undefined : reachableRoot(this.#host, runtime.root),
      },
      FD,
    );
    // NUL separates the arguments: a command with one inside could set bwrap's options.
    if (settings.some((arg) => arg.includes('\0')))
      throw new RunnerError(400, 'invalid_request', 'A command or variable holds a NUL character.');
    return startLaunch(launches.take(limits), settings);
  }

  remedy(stderr: string): string {
    if (/disable-userns|Unknown option/i.test(stderr))
      return `install bubblewrap 0.8 or newer (this one said: ${stderr})`;
    if (/permission|not permitted|user namespace|No space left/i.test(stderr))
      return (
        'allow unprivileged user namespaces: sysctl -w kernel.unprivileged_userns_clone=1 ' +
        'kernel.apparmor_restrict_unprivileged_userns=0 user.max_user_namespaces=15000 (bubblewrap said: ' +
        `${stderr})`
      );
    return `the sandbox does not start: ${stderr}`;
  }

  async close(): Promise<void> {
    await this.#launches?.close();
    if (this.cgroups) removeCgroupParent(this.cgroups);
  }

  /** bwrap may be installed while the runner runs. */
  #prepared(): Launches | undefined {
    const bwrap = this.#launches ? undefined : findBwrap();
    if (bwrap !== undefined)
      this.#launches = new Launches({
        bwrap,
        seccomp: this.#seccomp,
        uid: this.#host.uid,
        cgroups: this.cgroups,
      });
    return this.#launches;
  }
}

function findBwrap(): string | undefined {
  return ['/usr/bin/bwrap', '/usr/local/bin/bwrap', '/bin/bwrap'].find((path) => existsSync(path));
}
