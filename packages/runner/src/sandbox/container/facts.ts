import { existsSync } from 'node:fs';
import type { RunnerStatus } from '../../protocol.ts';
import type { Engine } from './engine.ts';

/** The facts about an engine that decide how containers are made. */
export interface EngineFacts {
  kind: 'docker' | 'podman';
  /** For a person, e.g. `Podman 4.3.1`. */
  name: string;
  version: number[];
  /** The version of the API that it speaks. */
  api: string;
  isRootless: boolean;
  /** Whether it can limit memory and processes. */
  hasMemory: boolean;
  hasProcesses: boolean;
  hasCpu: boolean;
  hasSelinux: boolean;
  hasSeccomp: boolean;
  /** Runtimes by name → the file that it starts, where the engine reports it. */
  runtimes: Record<string, string | undefined>;
  defaultRuntime: string | undefined;
}

interface Version {
  ApiVersion?: string;
  Version?: string;
  Components?: { Name?: string; Version?: string }[];
}
interface Info {
  CgroupVersion?: string;
  MemoryLimit?: boolean;
  PidsLimit?: boolean;
  CPUShares?: boolean;
  Rootless?: boolean;
  SecurityOptions?: string[] | null;
  DefaultRuntime?: string;
  Runtimes?: Record<string, { path?: string }>;
}

/** Docker 19.03 and Podman 3. */
const OLDEST_API = [1, 40];

/** Throws EngineError when the engine does not answer. */
export async function engineFacts(engine: Engine): Promise<EngineFacts> {
  const version = (await engine.ask('GET', '/version')).body as Version;
  const info = (await engine.ask('GET', '/info')).body as Info;
  const options = (info.SecurityOptions ?? []).join(' ');
  const kind = version.Components?.some(({ Name }) => /podman/i.test(Name ?? '')) ? 'podman' : 'docker';
  const isRootless = info.Rootless === true || /rootless/.test(options);
  // In this case it accepts limits and ignores them.
  const canLimit = !(isRootless && info.CgroupVersion === '1');
  return {
    kind,
    name: `${kind === 'podman' ? 'Podman' : 'Docker'} ${version.Version ?? ''}`.trim(),
    version: numbers(version.Version),
    api: version.ApiVersion ?? '0',
    isRootless,
    hasMemory: canLimit && info.MemoryLimit === true,
    hasProcesses: canLimit && info.PidsLimit === true,
    hasCpu: canLimit && info.CPUShares === true,
    hasSelinux: /selinux/.test(options),
    hasSeccomp: /seccomp/.test(options),
    defaultRuntime: info.DefaultRuntime,
    runtimes: Object.fromEntries(Object.entries(info.Runtimes ?? {}).map(([name, { path }]) => [name, path])),
  };
}

/** What prevents the use of this engine, each with its remedy. */
export function engineFaults(facts: EngineFacts, runtime: string | null): string[] {
  const faults: string[] = [];
  if (!isAtLeast(numbers(facts.api), OLDEST_API))
    faults.push(
      `${facts.name} speaks version ${facts.api} of the API: install Docker 20.10 or newer, or Podman 4 or newer`,
    );
  if (!facts.hasSeccomp) faults.push(`${facts.name} has no seccomp: use one that was built with it`);
  if (facts.kind === 'docker' && facts.isRootless)
    faults.push(
      'rootless Docker cannot give sandboxes the files of the user that runs the service: use rootless ' +
        'Podman, or the Docker of the system',
    );
  if (facts.kind === 'podman' && facts.isRootless !== (process.getuid?.() !== 0))
    faults.push(
      `${facts.name} runs as another user than the service: start \`podman system service\` as the user that runs the service`,
    );
  const path = runtime === null ? undefined : facts.runtimes[runtime];
  // Podman accepts the name with each container and ignores it.
  if (runtime !== null && facts.kind === 'podman' && facts.defaultRuntime !== runtime)
    return [
      ...faults,
      `${facts.name} starts all containers of its API with ${facts.defaultRuntime}: start it with ` +
        `\`podman --runtime ${runtime} system service\`, or unset HEADRACE_CONTAINER_RUNTIME`,
    ];
  if (runtime !== null && (!(runtime in facts.runtimes) || (path?.startsWith('/') && !existsSync(path))))
    faults.push(
      `${facts.name} has no runtime ${runtime}: install it and name it in /etc/docker/daemon.json, ` +
        '"runtimes", or set HEADRACE_CONTAINER_RUNTIME to one of ' +
        Object.keys(facts.runtimes).join(', '),
    );
  return faults;
}

const NO_DELEGATION = ' without root on this machine (they need cgroup v2 and a delegated user session)';

/** What bounds memory and processes, with warnings for a person. */
export function engineLimits(
  { name, isRootless, hasMemory, hasProcesses, hasCpu }: EngineFacts,
  shares: string | null,
): RunnerStatus['limits'] {
  const warnings: string[] = [];
  if (!hasMemory || !hasProcesses)
    warnings.push(
      `${name} can make no control groups${isRootless ? NO_DELEGATION : ''}: ` +
        'memory and processes are bounded by rlimits and a watchdog',
    );
  if (shares !== null)
    warnings.push(
      `containers share the user namespace of this machine, for ${name} ${shares}: they run as a user ` +
        `that owns nothing but the sandboxes' files`,
    );
  return {
    memory: hasMemory ? 'cgroup' : 'watchdog',
    processes: hasProcesses ? 'cgroup' : 'rlimit',
    cpu: hasCpu ? 'cgroup' : 'none',
    warnings,
  };
}

export const isAtLeast = (version: number[], wanted: number[]): boolean => {
  const at = wanted.findIndex((part, i) => part !== (version[i] ?? 0));
  return at === -1 || (version[at] ?? 0) > wanted[at]!;
};

const numbers = (version = ''): number[] => version.split(/[.+~-]/).map(Number);
