import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { RunnerError } from '../errors.ts';
import type { Origin, SandboxLimits, SteerRequest, TaskEnd, TaskRequest, TaskState } from '../protocol.ts';
import type { EgressProxy } from '../egress/proxy.ts';
import { Mask } from '../masking/mask.ts';
import { openEgress } from './egress.ts';
import {
  BASE_ENV,
  DEFAULT_LIMITS,
  type Sandbox,
  type SandboxExit,
  type SandboxSpec,
} from '../sandbox/driver.ts';
import { startSandbox, type Host } from '../sandbox/host.ts';
import { trustOf } from '../sandbox/trust.ts';
import type { Tree } from '../workspaces/tree.ts';
import { watchSandbox, type Overrun } from '../sandbox/watchdog.ts';
import { Journal } from './journal.ts';
import { pathOf } from './path.ts';
import { TaskSockets, withPorts } from '../sandbox/sockets.ts';

/** How the work itself ended, regardless of time-outs, cancels and lost sandboxes. */
export type WorkEnd = Pick<TaskEnd, 'outcome' | 'exitCode' | 'signal' | 'error' | 'layer'>;

export type TaskErrorCode = NonNullable<TaskEnd['error']>['code'];

/** `ports`: loopback ports of the command → name of the task's socket behind each. */
export type TaskSpec = Omit<SandboxSpec, 'limits'> & { ports?: Record<number, string> };

/**
 * One task: preparing → running → ended. Subclasses decide what runs; this class owns its sandbox, its
 * time-out, its limits and its end. The end entry is written once no process of the sandbox is left, or when
 * that cannot be confirmed: then `ended`, the output and a cancel reject.
 */
export abstract class Task {
  readonly id: string;
  readonly request: TaskRequest;
  readonly journal = new Journal();
  /** Masks the secrets of its sandbox. */
  readonly mask: Mask;
  readonly host: Host;
  protected readonly sockets: TaskSockets;
  status: TaskState['status'] = 'preparing';
  /**
   * Called once nothing of its sandbox is left, before its end can be read: from then on the resources that
   * it used are free.
   */
  onGone: () => void = () => {};
  /** Its sandbox's way out, if its request has hosts. */
  egress: EgressProxy | undefined;
  /** Resolves when it has ended; rejects when its sandbox's end could not be confirmed. */
  readonly ended: Promise<void>;
  #settle!: { resolve: () => void; reject: (error: unknown) => void };
  #sandbox: Sandbox | undefined;
  #startedAt = Date.now();
  #isCancelled = false;
  #timedOut = false;
  #overrun: Overrun | undefined;

  /** `secrets`: further ones to be masked. */
  constructor(host: Host, id: string, request: TaskRequest, secrets: readonly string[] = []) {
    this.host = host;
    this.sockets = new TaskSockets(host);
    this.id = id;
    this.request = request;
    this.mask = new Mask([...secrets, ...(request.secrets ?? [])]);
    this.ended = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    this.ended.catch(() => {
      /* DELETE reports it */
    });
  }

  get workspaceId(): string | null {
    return 'workspaceId' in this.request ? this.request.workspaceId : null;
  }
  get limits(): SandboxLimits {
    return { ...DEFAULT_LIMITS, ...this.request.limits };
  }
  state(): TaskState {
    return {
      id: this.id,
      kind: this.request.kind,
      workspaceId: this.workspaceId,
      status: this.status,
      lastOffset: this.journal.lastOffset,
    };
  }

  /** What to start; called once, when the task begins to run. */
  protected abstract spec(): Promise<TaskSpec>;
  /** Drives the sandbox until its work has ended; the sandbox is killed afterwards. */
  protected abstract work(sandbox: Sandbox): Promise<WorkEnd>;
  /** The trees whose total size the watchdog bounds, but for copies of layers. */
  protected abstract writtenTrees(): Tree[];

  /** What is left to do once no process of the sandbox is left; returns the end. */
  protected async afterwards(end: WorkEnd): Promise<WorkEnd> {
    return end;
  }
  /** The error of a sandbox that broke a limit. */
  protected codeOf(_overrun: Overrun): TaskErrorCode {
    return 'sandbox_lost';
  }

  /** Runs it to its end; never rejects. */
  async run(): Promise<void> {
    this.status = 'running';
    this.#startedAt = Date.now();
    this.journal.append({ type: 'started' });
    let end: WorkEnd = lost('The sandbox could not be started.');
    let exit: SandboxExit = { code: null, signal: null, oom: false };
    const timer = setTimeout(() => {
      this.#timedOut = true;
      this.#kill();
    }, this.request.timeoutMs);
    try {
      await this.#requireRuntime();
      const spec = this.#withSettings(await this.#withEgress(await this.spec()));
      if (!this.#isCancelled && !this.#timedOut) {
        const sandbox = (this.#sandbox = startSandbox(this.host, {
          ...spec,
          command: withPorts(spec.command, spec.ports ?? {}),
          binds: [...spec.binds, ...this.sockets.binds],
          limits: this.limits,
        }));
        if (this.#isCancelled) this.#kill();
        const unwatch = watchSandbox(this.host, sandbox, this.#watched(), (overrun) => {
          this.#overrun = overrun;
          this.#kill();
        });
        try {
          end = await this.work(sandbox);
        } finally {
          unwatch();
        }
        exit = await sandbox.kill();
      }
      clearTimeout(timer);
      end = await this.afterwards(this.#resultOf(end, exit.oom));
      this.onGone();
      this.#finish(this.#resultOf(end, exit.oom));
      this.#settle.resolve();
    } catch (error) {
      const isGone = !(error instanceof RunnerError && error.code === 'not_confirmed');
      if (isGone) this.onGone();
      this.#finish(this.#resultOf(failureOf(error), exit.oom));
      if (isGone) this.#settle.resolve();
      else this.#settle.reject(error);
    } finally {
      clearTimeout(timer);
      this.sockets.close();
    }
  }

  /**
   * Ends it with everything in it; resolves when nothing is left. A task that has not begun ends at once.
   * Throws `not_confirmed` 500.
   */
  async cancel(): Promise<void> {
    if (this.status === 'ended')
      return this.ended.catch(async () => {
        await this.#sandbox?.kill();
        this.onGone();
      });
    this.#isCancelled = true;
    if (this.status === 'preparing') {
      this.#finish(this.#resultOf(lost(''), false));
      this.#settle.resolve();
    } else this.#kill();
    return this.ended;
  }

  protected get isCancelled(): boolean {
    return this.#isCancelled;
  }

  steer(_message: SteerRequest): Promise<void> {
    throw new RunnerError(409, 'not_steerable', 'Only a turn of an agent takes messages.');
  }
  pause(): Promise<void> {
    throw new RunnerError(409, 'invalid_state', 'Only a turn of an agent can be paused.');
  }
  resume(): Promise<void> {
    throw new RunnerError(409, 'invalid_state', 'Only a turn of an agent can be paused.');
  }
  answerPermission(_requestId: string, _allow: boolean): void {
    throw new RunnerError(404, 'not_found', 'Nothing was asked.');
  }
  putSource(_tar?: Readable, _origin?: Origin): Promise<void> {
    throw new RunnerError(409, 'invalid_state', 'This kind of task takes no source.');
  }
  output(): Promise<Readable> {
    throw new RunnerError(409, 'invalid_state', 'This kind of task has no output.');
  }
  connect(): Promise<Socket> {
    throw new RunnerError(409, 'invalid_state', 'This kind of task takes no connections.');
  }
  /** Removes what it kept after its end. */
  release(): void {
    /* most keep nothing */
  }

  /** The spec with the egress proxy on its loopback, where the request has hosts; its own `env` wins. */
  async #withEgress(spec: TaskSpec): Promise<TaskSpec> {
    const { egress: hosts = [], privateHosts = [], endpoints = [] } = this.request;
    if (!this.egress || hosts.length + endpoints.length === 0) return spec;
    const { env, ports } = await openEgress(this.egress, {
      sockets: this.sockets,
      journal: this.journal,
      mask: this.mask,
      reach: { hosts, privateHosts, endpoints },
    });
    return { ...spec, env: { ...env, ...spec.env }, ports: { ...spec.ports, ...ports } };
  }

  /** Throws TaskFailure where no sandbox here can have the request's runtime. */
  async #requireRuntime(): Promise<void> {
    const { runtime } = this.request;
    if (!runtime || (await this.host.driver?.offers(runtime))) return;
    throw new TaskFailure(
      'workspace_unavailable',
      `The runtime ${runtime.name} is not there. Choose another one (setting \`runtime\`), or ask the operator.`,
    );
  }

  /** The spec with the request's runtime, variables and trusted certificates; its own `env` wins. */
  #withSettings(spec: TaskSpec): TaskSpec {
    const { env = {}, variables = {}, authorities, runtime } = this.request;
    const trust =
      authorities === undefined
        ? { env: {}, binds: [] }
        : trustOf(this.host, authorities, runtime?.root ?? null);
    const given = Object.entries({ ...variables, ...env }).filter(([name]) => !Object.hasOwn(BASE_ENV, name));
    const path: Record<string, string> = runtime ? { PATH: pathOf(this.request) } : {};
    return {
      ...spec,
      binds: [...trust.binds, ...spec.binds],
      env: { ...Object.fromEntries(given), ...path, ...trust.env, ...spec.env },
      runtime,
    };
  }

  #watched(): { folders: string[]; limits: SandboxLimits } {
    const trees = this.writtenTrees();
    const copied = trees.reduce((sum, { layer, over }) => sum + (over ? 0 : (layer?.byteSize ?? 0)), 0);
    const { diskBytes } = this.limits;
    return {
      folders: trees.map(({ folder }) => folder),
      limits: { ...this.limits, diskBytes: diskBytes + copied },
    };
  }

  #kill(): void {
    this.#sandbox?.kill().catch(() => {
      /* run() sees the same */
    });
  }

  #finish(end: TaskEnd): void {
    this.status = 'ended';
    const { error } = end;
    this.journal.append(
      error ? { ...end, error: { ...error, message: this.mask.text(error.message) } } : end,
    );
    this.mask.release();
  }

  #resultOf(end: WorkEnd, oom: boolean): TaskEnd {
    const common = {
      type: 'end' as const,
      timedOut: this.#timedOut,
      oom,
      durationMs: Date.now() - this.#startedAt,
    };
    const killed = { exitCode: null, signal: 'SIGKILL' };
    if (this.#isCancelled)
      return { ...common, ...killed, timedOut: false, outcome: 'cancelled', error: null };
    if (this.#overrun !== undefined)
      return {
        ...common,
        ...killed,
        oom: oom || this.#overrun.of === 'memory',
        outcome: 'failed',
        error: { code: this.codeOf(this.#overrun), message: this.#overrun.message },
      };
    if (this.#timedOut && this.request.kind === 'turn')
      return {
        ...common,
        ...killed,
        outcome: 'failed',
        error: {
          code: 'agent_error',
          message: `The turn took longer than ${Math.round(this.request.timeoutMs / 1000)} seconds.`,
        },
      };
    if (this.#timedOut) return { ...common, ...killed, outcome: 'completed', error: null };
    return { ...common, ...end };
  }
}

/** Thrown when a task cannot be started, or finished, for a known reason. */
export class TaskFailure extends Error {
  readonly code: TaskErrorCode;

  constructor(code: TaskErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

function failureOf(error: unknown): WorkEnd {
  if (error instanceof TaskFailure)
    return { ...lost(''), error: { code: error.code, message: error.message } };
  if (!(error instanceof RunnerError))
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  return lost(error instanceof RunnerError ? error.message : 'The sandbox could not be started.');
}

/** The end of a task whose sandbox failed. */
export function lost(message: string): WorkEnd {
  return { outcome: 'failed', exitCode: null, signal: null, error: { code: 'sandbox_lost', message } };
}
