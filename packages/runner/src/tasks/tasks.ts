import { EgressProxy } from '../egress/proxy.ts';
import { RunnerError } from '../errors.ts';
import type { GatewayDialer } from './gateways.ts';
import type { TaskRequest } from '../protocol.ts';
import type { Host } from '../sandbox/host.ts';
import type { Workspaces } from '../workspaces/workspaces.ts';
import { BuildTask, ExecTask } from './commands.ts';
import { PreviewTask } from './preview.ts';
import { SetupTask } from './setup.ts';
import type { Task } from './task.ts';
import { TurnTask } from './turn.ts';

/** Above this number the oldest ended tasks that no worker deleted are forgotten. */
const KEPT = 2000;
/**
 * Ids of removed builds, previews and setups that are remembered, so that a delayed start finds its own among them.
 */
const REMOVED = 10_000;

/**
 * All tasks of this runner by id. A second POST never starts a task again. A build, preview or setup that was
 * removed before its first POST arrived never starts: its remover was promised that nothing of it lives.
 */
export class Tasks {
  readonly #host: Host;
  readonly #workspaces: Workspaces;
  readonly #gateways: GatewayDialer;
  readonly egress: EgressProxy;
  readonly #byId = new Map<string, Task>();
  readonly #removed = new Set<string>();

  constructor(host: Host, workspaces: Workspaces, gateways: GatewayDialer, egress = new EgressProxy()) {
    this.#host = host;
    this.#workspaces = workspaces;
    this.#gateways = gateways;
    this.egress = egress;
    host.metrics.beforeRead(() =>
      host.metrics.set('headrace_runner_sandboxes', { labels: {}, value: this.countAlive() }),
    );
  }

  countAlive(): number {
    return this.all().filter((task) => task.status === 'running').length;
  }

  all(): Task[] {
    return [...this.#byId.values()];
  }

  /** Throws `not_found` 404. */
  get(id: string): Task {
    const task = this.#byId.get(id);
    if (!task) throw new RunnerError(404, 'not_found', 'There is no such task.');
    return task;
  }

  /**
   * Starts the task, or finds it (isNew false). Throws `not_found` 404 without its workspace, `no_context` 404
   * without its context, `busy` 409 while another works there, `removed` 410.
   */
  start(id: string, request: TaskRequest): { task: Task; isNew: boolean } {
    const known = this.#byId.get(id);
    if (known) return { task: known, isNew: false };
    const task =
      request.kind === 'turn' || request.kind === 'exec'
        ? this.#startInWorkspace(id, request)
        : this.#prepare(id, request);
    this.#byId.set(id, task);
    if (this.#byId.size > KEPT) void this.#forgetOldest();
    return { task, isNew: true };
  }

  /**
   * Ends and forgets it. Idempotent. Throws when its end cannot be confirmed; it is then kept for another
   * try.
   */
  async remove(id: string): Promise<void> {
    const task = this.#byId.get(id);
    if (!task?.workspaceId) this.#note(id);
    if (!task) return;
    await task.cancel();
    // Another removal may have come first: what it used is given back once.
    if (this.#byId.get(id) !== task) return;
    this.#byId.delete(id);
    task.release();
  }

  #note(id: string): void {
    this.#removed.add(id);
    if (this.#removed.size > REMOVED) this.#removed.delete(this.#removed.values().next().value!);
  }

  async #forgetOldest(): Promise<void> {
    const oldest = this.all().find((task) => task.status === 'ended');
    if (oldest)
      await this.remove(oldest.id).catch(() => {
        /* its end is not confirmed: it stays */
      });
  }

  #prepare(id: string, request: Exclude<TaskRequest, { workspaceId: string }>): Task {
    if (this.#removed.has(id)) throw new RunnerError(410, 'removed', 'This task was removed.');
    const task = this.#scratchTask(id, request);
    task.egress = this.egress;
    return task;
  }

  #scratchTask(id: string, request: Exclude<TaskRequest, { workspaceId: string }>): Task {
    const { trees } = this.#workspaces;
    if (request.kind === 'build') return new BuildTask(this.#host, id, request, trees);
    if (request.kind === 'setup') return new SetupTask(this.#host, id, request, trees);
    return new PreviewTask(this.#host, id, request, trees);
  }

  #startInWorkspace(id: string, request: Extract<TaskRequest, { workspaceId: string }>): Task {
    const workspace = this.#workspaces.get(request.workspaceId);
    const { trees } = this.#workspaces;
    const context = request.kind === 'turn' ? trees.takeContext(request.context) : undefined;
    try {
      this.#workspaces.claim(workspace, id);
    } catch (error) {
      context?.release();
      throw error;
    }
    if (request.kind === 'turn') workspace.secrets = request.secrets ?? [];
    else if (!request.isOfTurn) workspace.secrets = [];
    const task =
      request.kind === 'turn'
        ? new TurnTask(this.#host, id, request, {
            workspace,
            trees,
            gateways: this.#gateways,
            context: context!,
          })
        : new ExecTask(this.#host, id, request, workspace);
    task.egress = this.egress;
    // A sandbox whose end is not confirmed keeps its workspace: nothing may read or write there at the same
    // time.
    task.onGone = () => {
      context?.release();
      this.#workspaces.release(workspace, id);
    };
    void task.run();
    return task;
  }
}
