import { existsSync, readFileSync } from 'node:fs';
import { BASE_ENV, MEMORY_FOLDERS, OPEN_FILES, WORKSPACE, type Bind, type SandboxSpec } from '../driver.ts';
import type { EngineFacts } from './facts.ts';

/** What all containers of a runner have in common. */
export interface Setup {
  facts: EngineFacts;
  image: string;
  runtime: string | null;
  /** The profile in the form that the engine takes: the text, or the path of its file. */
  seccomp: string;
  /** The number of the account inside, as the sandbox sees it. */
  user: number;
  usernsMode: string;
  labels: Record<string, string>;
  systemBinds: Bind[];
}

/**
 * PID 1 of a container: adopts orphans (the shell waits for whatever ends), reports a death by signal as 128
 * + n, and prints nothing itself. The command comes as words, so that nothing needs quoting.
 */
const INIT = (unset: string[]): string =>
  `unset ${unset.join(' ')}; exec 3>&2 2>/dev/null; "$@" 2>&3 3>&-; exit $?`;
/** What engines put into every environment. */
const ENGINE_VARIABLES = ['HOSTNAME', 'container'];
/** The weight that all sandboxes of bubblewrap have together; here each has it (bubblewrap/cgroups.ts). */
const CPU_SHARES = 512;
const SHM = '/dev/shm';
const IPV6 = '/proc/sys/net/ipv6';

/** The body of POST /containers/create for one sandbox. */
export function containerSpec(setup: Setup, { command, binds, env = {}, limits }: SandboxSpec): object {
  const { facts } = setup;
  const variables = { ...BASE_ENV, PWD: WORKSPACE, ...env };
  const own = new Set(binds.map((bind) => bind.inside));
  const folders = MEMORY_FOLDERS.filter(({ path }) => path !== SHM && !own.has(path));
  return {
    Image: setup.image,
    User: `${setup.user}:${setup.user}`,
    WorkingDir: WORKSPACE,
    Hostname: 'sandbox',
    Labels: setup.labels,
    Env: Object.entries(variables).map(([name, value]) => `${name}=${value}`),
    Entrypoint: ['/bin/sh', '-c', INIT(ENGINE_VARIABLES.filter((name) => !(name in variables))), 'sh'],
    Cmd: command,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    OpenStdin: true,
    StdinOnce: true,
    Tty: false,
    HostConfig: {
      NetworkMode: 'none',
      IpcMode: 'private',
      CgroupnsMode: 'private',
      UsernsMode: setup.usernsMode,
      ...(setup.runtime !== null && { Runtime: setup.runtime }),
      // Docker removes ::1 from a network that has only lo.
      ...(existsSync(IPV6) && {
        Sysctls: { 'net.ipv6.conf.all.disable_ipv6': '0', 'net.ipv6.conf.lo.disable_ipv6': '0' },
      }),
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      Privileged: false,
      SecurityOpt: [
        'no-new-privileges',
        `seccomp=${setup.seccomp}`,
        ...(facts.hasSelinux ? ['label=disable'] : []),
      ],
      ...(facts.hasMemory && { Memory: limits.memoryBytes, MemorySwap: limits.memoryBytes }),
      ...(facts.hasCpu && { CpuShares: CPU_SHARES }),
      ...(facts.hasProcesses && { PidsLimit: limits.processes }),
      Ulimits: ulimits(limits.diskBytes, facts.hasProcesses ? undefined : limits.processes),
      ShmSize: MEMORY_FOLDERS.find(({ path }) => path === SHM)!.bytes,
      Tmpfs: Object.fromEntries([
        ['/sys', 'ro,nosuid,nodev,noexec,size=4096'],
        ...folders.map(({ path, bytes, mode }) => [path, tmpfs(setup, bytes, mode)]),
      ]),
      Mounts: [...setup.systemBinds, ...binds].map((bind) => ({
        Type: 'bind',
        Source: bind.host,
        Target: bind.inside,
        ReadOnly: bind.readOnly,
        BindOptions: { Propagation: 'rprivate' },
      })),
      // An engine that kept the sandboxes' output would fill its disk.
      LogConfig: { Type: 'none', Config: {} },
    },
  };
}

/** Podman accepts no owner by number, only the container's own user. */
function tmpfs({ user, facts }: Setup, bytes: number, mode: string): string {
  const owner =
    mode === '1777'
      ? 'mode=1777'
      : `mode=${mode},${facts.kind === 'docker' ? `uid=${user},gid=${user}` : 'U'}`;
  return `rw,exec,nosuid,nodev,size=${bytes},${owner}`;
}

/**
 * Engines raise the limits that are not set, beyond what some machines allow: passes on the runner's own
 * limits.
 */
function ulimits(
  fileBytes: number,
  processes: number | undefined,
): { Name: string; Soft: number; Hard: number }[] {
  const limits = readFileSync('/proc/self/limits', 'latin1'),
    most = Number(readFileSync('/proc/sys/kernel/pid_max', 'latin1'));
  const hard = (line: string): number =>
    Number(new RegExp(`^${line} +\\S+ +(\\d+)`, 'm').exec(limits)?.[1] ?? Infinity);
  const limit = (Name: string, value: number): { Name: string; Soft: number; Hard: number } => ({
    Name,
    Soft: value,
    Hard: value,
  });
  return [
    limit('core', 0),
    limit('fsize', fileBytes),
    limit('nofile', Math.min(hard('Max open files'), OPEN_FILES)),
    limit('nproc', processes ?? Math.min(hard('Max processes'), most)),
  ];
}
