import { setTimeout as sleep } from 'node:timers/promises';
import { Mask } from '../masking/mask.ts';
import type { SteerRequest, TaskEnd, TaskState } from '../protocol.ts';
import { AcpConnection } from '../tasks/acp-connection.ts';
import { AgentGone } from '../tasks/acp-fault.ts';
import type { Session } from '../tasks/acp-session.ts';
import { converse, failed, type Memory } from '../tasks/conversation.ts';
import type { Journal } from '../tasks/journal.ts';
import { Steering } from '../tasks/steering.ts';
import type { WorkEnd } from '../tasks/task.ts';
import { TurnUpdates } from '../tasks/turn-updates.ts';
import { startAgent, type AgentProcess } from './agent-process.ts';
import type { HostAgent } from './agents.ts';
import type { HostTurnRequest } from './protocol.ts';

const STDERR_BYTES = 4096,
  LAST_WORDS = 1000;
const EXIT_MS = 2_000;
const ANSWER_MS = 30_000;
/** In which agents ask before they change anything, where they have such a mode. */
const ASKING_MODES = ['read-only'];

export interface Surroundings {
  agent: HostAgent;
  folder: string;
  /** What the agent remembers of the workspace; changed by the turn. */
  memory: Memory;
  /** By which its processes are found. */
  mark: string;
  journal: Journal;
  /** Called when the memory has changed. */
  remember: () => void;
}

/** Why a turn ends that its agent did not end. */
type Stop = 'cancelled' | 'timed out' | 'program ends' | Error;

/** One turn of an agent in a folder of this machine, without a sandbox: running → ended. */
export class HostTurn {
  readonly id: string;
  readonly request: HostTurnRequest;
  readonly journal: Journal;
  status: TaskState['status'] = 'running';
  /** Called once nothing that it started is left, before its end can be read. */
  onGone: () => void = () => {};
  /** Resolves when it has ended and nothing that it started is left; rejects where that could not be confirmed. */
  readonly ended: Promise<void>;
  readonly #around: Surroundings;
  readonly #updates: TurnUpdates;
  readonly #steering = new Steering();
  readonly #mask = new Mask();
  readonly #startedAt = Date.now();
  #process: AgentProcess | undefined;
  #stop: Stop | undefined;
  #stderr = '';

  constructor(id: string, request: HostTurnRequest, around: Surroundings) {
    this.id = id;
    this.request = request;
    this.journal = around.journal;
    this.#around = around;
    this.#updates = new TurnUpdates(this.journal, this.#mask, request.permissions);
    this.ended = this.#run();
    this.ended.catch(() => {
      /* cancel reports it */
    });
  }

  answerPermission(requestId: string, isAllowed: boolean): void {
    this.#updates.answer(requestId, isAllowed);
  }
  steer(message: SteerRequest): Promise<void> {
    return this.#steering.steer(message);
  }

  /** Ends it with everything that it started; resolves when nothing is left. Throws `not_confirmed` 500. */
  async cancel(): Promise<void> {
    this.#end('cancelled');
    return this.ended;
  }
  /** The same, because this program ends. */
  async abandon(): Promise<void> {
    this.#end('program ends');
    return this.ended;
  }
  /** The same, because the turn cannot go on. */
  fail(error: Error): void {
    this.#end(error);
  }

  #end(why: Stop): void {
    if (this.status === 'ended') return;
    this.#stop ??= why;
    this.#process?.end().catch(() => {
      /* #run sees the same */
    });
  }

  async #run(): Promise<void> {
    // Whoever made it has to know it before it begins.
    await Promise.resolve();
    this.journal.append({ type: 'started' });
    const timer = setTimeout(() => this.#end('timed out'), this.request.timeoutMs);
    let end: WorkEnd = failed('The agent was not started.');
    try {
      if (this.#stop === undefined) {
        const agent = (this.#process = this.#start());
        end = await this.#work(agent);
        agent.stdin.end();
        await agent.end();
      }
    } catch (error) {
      this.#finish(lost((error as Error).message));
      throw error;
    } finally {
      clearTimeout(timer);
    }
    this.onGone();
    this.#finish(end);
  }

  #start(): AgentProcess {
    const { agent, folder, mark } = this.#around;
    const { model } = this.request;
    const env = { ...process.env, ...(model === null ? {} : modelVariables(model)) };
    // The agent works for the service, but is not the host.
    delete env['HEADRACE_HOST_TOKEN'];
    return startAgent(agent.command, { folder, env, mark });
  }

  async #work(agent: AgentProcess): Promise<WorkEnd> {
    agent.stderr.setEncoding('utf8').on('data', (part: string) => {
      this.#stderr = (this.#stderr + part).slice(-STDERR_BYTES);
    });
    const { folder, memory } = this.#around;
    const connection = new AcpConnection(agent, this.#updates, this.#mask);
    const { prompt, attachments, history, told } = this.request;
    const end = await converse(connection, {
      request: {
        agent: this.#asTurnAgent(),
        prompt,
        attachments,
        history: this.#isScripted ? [] : history,
        told,
      },
      cwd: folder,
      memory: this.#isScripted ? undefined : memory,
      journal: this.journal,
      mask: this.#mask,
      updates: this.#updates,
      steering: this.#steering,
      prepare: (session) => this.#prepare(connection, session),
      onReady: this.#around.remember,
    }).catch((error: Error) => this.#failureOf(error, agent));
    this.#steering.open(undefined);
    this.#updates.close(this.#stop === 'cancelled' ? 'cancelled' : 'failed');
    memory.wasInterrupted = end.outcome !== 'completed';
    this.#around.remember();
    connection.close(new AgentGone('The turn has ended.'));
    return end;
  }

  get #isScripted(): boolean {
    return this.#around.agent.isScripted;
  }

  /** As the agents of a runner's turns: one that comes from outside and has no files of the service. */
  #asTurnAgent() {
    const { name } = this.#around.agent;
    return { name, command: [], folder: null, env: {}, home: {}, mode: null, install: null };
  }

  /** Chooses the model, and a mode that asks, where the agent offers them. */
  async #prepare(connection: AcpConnection, { id, offers }: Session): Promise<void> {
    const { model, permissions } = this.request;
    if (model !== null && offers.models.includes(model))
      await connection.request('session/set_model', { sessionId: id, modelId: model }, ANSWER_MS);
    const mode = permissions === 'ask' ? ASKING_MODES.find((one) => offers.modes.includes(one)) : undefined;
    if (mode !== undefined)
      await connection.request('session/set_mode', { sessionId: id, modeId: mode }, ANSWER_MS);
  }

  /** A dead agent's last output says more than that its pipe was closed. */
  async #failureOf(error: Error, agent: AgentProcess): Promise<WorkEnd> {
    if (!(error instanceof AgentGone))
      return failed(error.name === 'RpcError' ? `The agent failed: ${error.message}` : error.message);
    const exit = await Promise.race([
      agent.exited.catch((reason: NodeJS.ErrnoException) => reason),
      sleep(EXIT_MS, undefined, { ref: false }),
    ]);
    if (exit instanceof Error)
      return {
        ...failed(''),
        error: { code: 'not_configured', message: `The agent's command could not be started: ${exit.code}.` },
      };
    const words = this.#stderr.trim().slice(-LAST_WORDS);
    return failed(
      exit ? `The agent ended with ${exit.signal ?? exit.code} before its turn did. ${words}` : error.message,
    );
  }

  #finish(end: WorkEnd): void {
    this.status = 'ended';
    this.journal.append({
      type: 'end',
      timedOut: this.#stop === 'timed out',
      oom: false,
      durationMs: Date.now() - this.#startedAt,
      ...this.#outcome(end),
    });
  }

  #outcome(end: WorkEnd): Omit<TaskEnd, 'type' | 'timedOut' | 'oom' | 'durationMs'> {
    const killed = { exitCode: null, signal: 'SIGKILL' };
    if (this.#stop === undefined) return end;
    if (this.#stop === 'cancelled') return { ...killed, outcome: 'cancelled', error: null };
    if (this.#stop === 'program ends') return lost(PROGRAM_ENDED);
    if (this.#stop === 'timed out')
      return failed(`The turn took longer than ${Math.round(this.request.timeoutMs / 1000)} seconds.`);
    return failed(this.#stop.message);
  }
}

export const PROGRAM_ENDED = 'The program of the host ended while the agent worked.';

/** The end of a turn that this machine lost. */
export const lost = (message: string): WorkEnd => ({
  outcome: 'failed',
  exitCode: null,
  signal: null,
  error: { code: 'sandbox_lost', message },
});

/** What agents read that offer no models over ACP, or others than they can use. */
const modelVariables = (model: string): Record<string, string> => ({
  HEADRACE_MODEL: model,
  ANTHROPIC_MODEL: model,
});
