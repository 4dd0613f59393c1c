import { existsSync, writeFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { RunnerError } from '../../errors.ts';
import type { RunnerStatus, Runtime } from '../../protocol.ts';
import { carriedNode } from '../carried-node.ts';
import { DEFAULT_LIMITS, NODE, type Driver, type Sandbox, type SandboxSpec } from '../driver.ts';
import type { Host } from '../host.ts';
import { Container } from './container.ts';
import { Engine, EngineError } from './engine.ts';
import { engineFacts, engineFaults, engineLimits, type EngineFacts } from './facts.ts';
import { emptyImage } from './image.ts';
import { CONTAINER_ETC, containerEtc, systemBinds } from './mounts.ts';
import { ownerLabels, removeOrphans, removeOwn } from './orphans.ts';
import { seccompProfile } from './seccomp.ts';
import { containerSpec, type Setup } from './spec.ts';
import { usersFor } from './users.ts';

/** How containers are made; null: what is found, or the engine's default. */
export interface ContainerSettings {
  /** The unix socket of the engine's API (Docker or Podman). */
  socket: string | null;
  /** The image that sandboxes start from; null: an empty one, into which the host's own /usr is mounted. */
  image: string | null;
  /** The OCI runtime by the engine's name for it: runc, crun, runsc, kata. */
  runtime: string | null;
}

const UNKNOWN: RunnerStatus['limits'] = {
  memory: 'cgroup',
  processes: 'cgroup',
  cpu: 'cgroup',
  warnings: [],
};

export function containerDriver(host: Host, settings: ContainerSettings): Driver {
  return new ContainerDriver(host, settings);
}

/** Sandboxes as containers of Docker or Podman, one each, through the engine's API. */
class ContainerDriver implements Driver {
  readonly name = 'container';
  /** The engine may live in another mount namespace. */
  readonly seesMounts = false;
  readonly #host: Host;
  readonly #settings: ContainerSettings;
  #prepared: { engine: Engine; setup: Setup; limits: RunnerStatus['limits'] } | undefined;

  constructor(host: Host, settings: ContainerSettings) {
    this.#host = host;
    this.#settings = settings;
  }

  get engine(): string | null {
    return this.#prepared?.engine.socket ?? null;
  }
  get limits(): RunnerStatus['limits'] {
    return this.#prepared?.limits ?? UNKNOWN;
  }

  async missing(): Promise<string[]> {
    this.#prepared = undefined;
    const sockets =
      this.#settings.socket === null
        ? usualSockets().filter((path) => existsSync(path))
        : [this.#settings.socket];
    const [socket] = sockets;
    if (socket === undefined)
      return [
        'no container engine was found: install Docker or Podman (and start `podman system service ' +
          '--time=0`), or set HEADRACE_CONTAINER_SOCKET to the unix socket of its API',
      ];
    try {
      return await this.#prepare(new Engine(socket));
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      return [
        error.status === 0
          ? `no container engine answers on ${socket} (${error.message}): start it, let the user that ` +
            'runs the service use the socket, or set HEADRACE_CONTAINER_SOCKET'
          : `the container engine on ${socket} refused: ${error.message}`,
      ];
    }
  }

  start(spec: SandboxSpec): Sandbox {
    if (!this.#prepared) throw new RunnerError(503, 'no_sandbox', 'There is no container engine.');
    const { engine, setup } = this.#prepared;
    const image = spec.runtime?.image ?? null;
    if ([...spec.command, ...Object.entries(spec.env ?? {}).flat()].some((word) => word.includes('\0')))
      throw new RunnerError(400, 'invalid_request', 'A command or variable holds a NUL character.');
    return new Container(
      engine,
      `headrace-${randomUUID()}`,
      containerSpec(image === null ? setup : this.#withImage(setup, image), spec),
    );
  }

  async offers({ image }: Runtime): Promise<boolean> {
    return image !== null && this.#prepared !== undefined && hasImage(this.#prepared.engine, image);
  }

  /** The settings for an image of a runtime, which gets the runner's Node with all that it needs. */
  #withImage(setup: Setup, image: string): Setup {
    const own = systemBinds(this.#host, join(this.#host.base, CONTAINER_ETC), true);
    return {
      ...setup,
      image,
      systemBinds: [...own.filter(({ inside }) => inside !== NODE), ...carriedNode(this.#host)],
    };
  }

  remedy(stderr: string): string {
    return `the container's first command failed: ${stderr}`;
  }

  async close(): Promise<void> {
    if (this.#prepared) await removeOwn(this.#prepared.engine, this.#host);
  }

  async #prepare(engine: Engine): Promise<string[]> {
    const facts = await engineFacts(engine);
    const faults = engineFaults(facts, this.#settings.runtime);
    if (faults.length > 0) return faults;
    const { image: ownImage, runtime } = this.#settings;
    if (ownImage !== null && !(await hasImage(engine, ownImage)))
      return [`${facts.name} has no image ${ownImage}: pull or build it, or unset HEADRACE_CONTAINER_IMAGE`];
    const image = ownImage ?? (await emptyImage(engine));
    await removeOrphans(engine);
    const common = { facts, image, runtime, labels: ownerLabels(this.#host), seccomp: this.#seccomp(facts) };
    const users = usersFor(this.#host, facts);
    for (const user of users) {
      const setup: Setup = {
        ...common,
        ...user,
        systemBinds: systemBinds(this.#host, containerEtc(this.#host, user.user), ownImage !== null),
      };
      this.#prepared = { engine, setup, limits: engineLimits(facts, user.shares) };
      if (user === users.at(-1) || (await this.#works())) break;
    }
    return [];
  }

  /** Whether a container can be started with the present settings. */
  async #works(): Promise<boolean> {
    const sandbox = this.start({ command: ['true'], binds: [], limits: DEFAULT_LIMITS });
    try {
      return (await sandbox.exited).code === 0;
    } catch {
      return false;
    }
  }

  /** Docker takes the profile itself, Podman the path of its file. */
  #seccomp({ kind }: EngineFacts): string {
    const profile = seccompProfile(process.arch);
    if (kind === 'docker') return profile;
    const file = join(this.#host.base, 'seccomp.json');
    writeFileSync(file, profile);
    return file;
  }
}

async function hasImage(engine: Engine, image: string): Promise<boolean> {
  const { status } = await engine.ask('GET', `/images/${encodeURIComponent(image)}/json`, { also: [404] });
  return status !== 404;
}

/** The runner's own environment is empty, so DOCKER_HOST is not available. */
function usualSockets(): string[] {
  return [
    '/var/run/docker.sock',
    '/run/podman/podman.sock',
    `/run/user/${process.getuid?.()}/podman/podman.sock`,
  ];
}
