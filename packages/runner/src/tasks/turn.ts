import { setTimeout as sleep } from 'node:timers/promises';
import type { GatewayDialer } from './gateways.ts';
import { CONTEXT_FOLDER, GATEWAY_PORT, type SteerRequest, type TurnRequest } from '../protocol.ts';
import { RunnerError } from '../errors.ts';
import type { Host } from '../sandbox/host.ts';
import { WORKSPACE, type Sandbox } from '../sandbox/driver.ts';
import { gitBaseline } from '../git-baseline/git-baseline.ts';
import type { AgentHome, Workspace } from '../workspaces/workspaces.ts';
import type { MaskedText } from '../masking/mask.ts';
import { addingPatch } from '../workspaces/fresh-patch.ts';
import type { Tree } from '../workspaces/tree.ts';
import type { TakenContext, Trees } from '../workspaces/trees.ts';
import { AcpConnection } from './acp-connection.ts';
import { AgentGone } from './acp-fault.ts';
import { agentCommand } from './agent-command.ts';
import { agentHome, homeBind } from './agent-home.ts';
import { converse, failed } from './conversation.ts';
import { GATEWAY_SOCKET, openGateway } from './gateway-visitors.ts';
import { Pause } from './pause.ts';
import { Steering } from './steering.ts';
import { lost, Task, type TaskSpec, type WorkEnd } from './task.ts';
import { TurnUpdates } from './turn-updates.ts';

const STDERR_BYTES = 4096,
  LAST_WORDS = 1000;
const EXIT_MS = 2_000;
const SECRET = /key|token|secret|auth|password/i,
  SECRET_CHARACTERS = 8;

interface Surroundings {
  workspace: Workspace;
  trees: Trees;
  gateways: GatewayDialer;
  context: TakenContext;
}

/**
 * One turn of an ACP agent. The runner is its client and offers it nothing: no files, no terminals; the agent
 * has its own sandbox.
 */
export class TurnTask extends Task {
  declare readonly request: TurnRequest;
  readonly #workspace: Workspace;
  readonly #trees: Trees;
  readonly #gateways: GatewayDialer;
  readonly #context: TakenContext;
  readonly #updates: TurnUpdates;
  readonly #steering = new Steering();
  readonly #cancelled = new AbortController();
  #home: AgentHome | undefined;
  #pause: Pause | undefined;
  #stderr = '';
  readonly #maskedStderr: MaskedText;

  constructor(
    host: Host,
    id: string,
    request: TurnRequest,
    { workspace, trees, gateways, context }: Surroundings,
  ) {
    super(host, id, request);
    this.#workspace = workspace;
    this.#trees = trees;
    this.#gateways = gateways;
    this.#context = context;
    this.#maskedStderr = this.mask.stream();
    this.#updates = new TurnUpdates(this.journal, this.mask, request.permissions);
  }

  override answerPermission(requestId: string, allow: boolean): void {
    this.#updates.answer(requestId, allow);
  }
  override steer(message: SteerRequest): Promise<void> {
    return this.#steering.steer(message);
  }

  override async pause(): Promise<void> {
    if (!this.#pause) throw new RunnerError(409, 'invalid_state', 'The turn is not under way.');
    await this.#pause.begin();
  }
  override async resume(): Promise<void> {
    await this.#pause?.end();
  }

  override cancel(): Promise<void> {
    this.#cancelled.abort();
    return super.cancel();
  }

  protected async spec(): Promise<TaskSpec> {
    const { agent, gateway = false } = this.request;
    const { command, env: own, binds } = await agentCommand(this.host, this.request);
    const env = { ...own, HEADRACE_CONTEXT: CONTEXT_FOLDER };
    await this.#writeEvidence();
    if (!this.#isScripted) await gitBaseline(this.host, this.#trees, this.#workspace, this.#cancelled.signal);
    // The scripted agent has nothing to remember.
    if (!this.#isScripted)
      this.#home = await agentHome(this.host, this.#trees, {
        workspace: this.#workspace,
        agent,
        context: this.#context,
      });
    const common = {
      command,
      binds: [
        this.#workspace.tree.bind({ readOnly: false }),
        ...binds,
        this.#context.bind,
        ...(this.#home ? [homeBind(this.#home)] : []),
      ],
    };
    if (!gateway) return { ...common, env };
    const name = await openGateway(this.sockets, this.id, this.#gateways);
    // The built-in agent speaks HTTP over the socket itself, which saves a process and a hop.
    return agent.command === null
      ? { ...common, env: { ...env, HEADRACE_GATEWAY_SOCKET: GATEWAY_SOCKET } }
      : { ...common, env, ports: { [GATEWAY_PORT]: name } };
  }

  protected async work(sandbox: Sandbox): Promise<WorkEnd> {
    sandbox.stderr.setEncoding('utf8').on('data', (part: string) => {
      this.#stderr = (this.#stderr + this.#maskedStderr.push(part)).slice(-STDERR_BYTES);
    });
    const pause = (this.#pause = new Pause(sandbox, this.#workspace, this.id));
    const connection = new AcpConnection(sandbox, this.#updates, this.mask);
    const end = this.#discreet(
      await converse(connection, {
        request: this.#isScripted ? { ...this.request, history: [] } : this.request,
        cwd: WORKSPACE,
        memory: this.#home,
        journal: this.journal,
        mask: this.mask,
        updates: this.#updates,
        steering: this.#steering,
      }).catch((error: Error) => this.#failureOf(error, sandbox)),
    );
    await pause.close();
    this.#steering.open(undefined);
    this.#updates.close(this.isCancelled ? 'cancelled' : 'failed');
    if (this.#home) this.#home.wasInterrupted = end.outcome !== 'completed';
    connection.close(new AgentGone('The turn has ended.'));
    return end;
  }

  protected override writtenTrees(): Tree[] {
    return [this.#workspace.tree, ...(this.#home ? [this.#home.tree] : [])];
  }

  get #isScripted(): boolean {
    return this.request.agent.command === null && this.request.agent.name === 'scripted';
  }

  /** A dead agent's last output says more than that its pipe was closed. */
  async #failureOf(error: Error, sandbox: Sandbox): Promise<WorkEnd> {
    if (error instanceof RunnerError) return lost(error.message);
    const message = this.mask.text(error.message);
    if (!(error instanceof AgentGone))
      return failed(error.name === 'RpcError' ? `The agent failed: ${message}` : message);
    const exit = await Promise.race([sandbox.exited, sleep(EXIT_MS, undefined, { ref: false })]);
    if (exit?.oom)
      return lost(
        `The sandbox took more than its ${Math.round(this.limits.memoryBytes / 1024 ** 2)} MiB of memory.`,
      );
    const words = (this.#stderr + this.#maskedStderr.end()).trim().slice(-LAST_WORDS);
    return failed(
      exit
        ? `The agent ended with ${exit.signal ?? exit.code} before its turn did. ${words}`
        : `${message} ${words}`,
    );
  }

  /** Agents print their settings when they fail; this removes the keys among them. */
  #discreet(end: WorkEnd): WorkEnd {
    if (!end.error) return end;
    const secrets = Object.entries(this.request.agent.env).flatMap(([name, value]) =>
      SECRET.test(name) && value.length >= SECRET_CHARACTERS ? [value] : [],
    );
    return {
      ...end,
      error: {
        ...end.error,
        message: secrets.reduce(
          (message, secret) => message.replaceAll(secret, '[secret]'),
          end.error.message,
        ),
      },
    };
  }

  async #writeEvidence(): Promise<void> {
    const { evidence = [] } = this.request;
    if (evidence.length === 0) return;
    this.#workspace.evidence = evidence.map((file) => file.path);
    await this.#trees.patch(
      this.#workspace.tree,
      addingPatch(
        evidence.map(({ path, content, encoding }) => ({ path, content: Buffer.from(content, encoding) })),
      ),
    );
  }
}
