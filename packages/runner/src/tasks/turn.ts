import { Readable, Writable } from 'node:stream';
import { client, methods, ndJsonStream, PROTOCOL_VERSION, type ClientConnection, type PromptResponse, type RequestPermissionRequest, type RequestPermissionResponse, type SessionNotification } from '@agentclientprotocol/sdk';
import { RunnerError } from '../errors.ts';
import type { TurnRequest } from '../protocol.ts';
import { WORKSPACE } from '../sandbox/bubblewrap.ts';
import { GUEST } from '../sandbox/guest.ts';
import type { Host } from '../sandbox/host.ts';
import type { Sandbox, SandboxSpec } from '../sandbox/sandbox.ts';
import { tarOf } from '../tar.ts';
import type { Trees, Workspace } from '../workspaces.ts';
import { Task, type WorkEnd } from './task.ts';
import { ToolCalls } from './tool-calls.ts';

const MESSAGE_BYTES = 8 * 1024 ** 2;
const REPLY_CHARACTERS = 512 * 1024;
const STDERR_BYTES = 4096;
/** The scripted agent says with this key in a response's _meta that a block failed; its value is the reason. */
const SCRIPT_FAILED = 'headrace/scriptFailed';

/** One turn of an ACP agent. The runner is its client and offers it nothing: no files, no terminals; the agent has its own sandbox. */
export class TurnTask extends Task {
  declare readonly request: TurnRequest;
  readonly #workspace: Workspace;
  readonly #trees: Trees;
  readonly #tools = new ToolCalls(this.journal);
  readonly #questions = new Map<string, (isAllowed: boolean) => void>();
  #reply = '';
  #stderr = '';
  #asked = 0;

  constructor(host: Host, id: string, request: TurnRequest, workspace: Workspace, trees: Trees) {
    super(host, id, request);
    this.#workspace = workspace;
    this.#trees = trees;
  }

  override answerPermission(requestId: string, allow: boolean): void {
    const answer = this.#questions.get(requestId);
    if (!answer) throw new RunnerError(404, 'not_found', 'That was not asked, or is answered already.');
    this.#questions.delete(requestId);
    answer(allow);
  }

  protected async spec(): Promise<Omit<SandboxSpec, 'limits'>> {
    await this.#writeEvidence();
    const { agent } = this.request;
    return { command: agent.command ?? ['node', `${GUEST}/${agent.name}.cjs`], env: agent.env, binds: [this.#workspace.tree.bind(false)] };
  }

  protected async work(sandbox: Sandbox): Promise<WorkEnd> {
    sandbox.stderr.setEncoding('utf8').on('data', (part: string) => { this.#stderr = (this.#stderr + part).slice(-STDERR_BYTES); });
    const connection = this.#connect(sandbox);
    const died = sandbox.exited.then(({ code }) => failed(`The agent ended with ${code} before its turn did. ${this.#stderr.trim()}`));
    // What was said before the death is still read: the connection closes after the last line.
    const worked = this.#converse(connection).catch(async (error: Error) => (connection.signal.aborted ? died : failed(`The agent refused: ${messageOf(error)}`)));
    const end = await Promise.race([worked, connection.closed.then(() => Promise.race([worked, died]))]);
    this.#tools.close(this.isCancelled ? 'cancelled' : 'failed');
    connection.close();
    return end;
  }

  protected folder(): string { return this.#workspace.tree.folder; }

  #connect(sandbox: Sandbox): ClientConnection {
    const stream = ndJsonStream(Writable.toWeb(sandbox.stdin) as WritableStream<Uint8Array>, Readable.toWeb(sandbox.stdout) as ReadableStream<Uint8Array>, { maxMessageBytes: MESSAGE_BYTES });
    return client({ name: 'headrace' })
      .onNotification(methods.client.session.update, ({ params }) => this.#update(params))
      .onRequest(methods.client.session.requestPermission, ({ params }) => this.#permission(params))
      .connect(stream);
  }

  async #converse({ agent }: ClientConnection): Promise<WorkEnd> {
    await agent.request(methods.agent.initialize, { protocolVersion: PROTOCOL_VERSION, clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false } });
    const { sessionId } = await agent.request(methods.agent.session.new, { cwd: WORKSPACE, mcpServers: [] });
    return endOf(await agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text: this.request.prompt }] }));
  }

  #update({ update }: SessionNotification): void {
    if (update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text' && this.#reply.length < REPLY_CHARACTERS) {
      this.#reply += update.content.text;
      this.journal.text(this.#reply);
    } else if (update.sessionUpdate === 'tool_call' || update.sessionUpdate === 'tool_call_update') this.#tools.update(update);
  }

  /** Asks the worker where the turn is to ask, and waits for its answer; a cancel ends the wait with the sandbox. */
  async #permission({ toolCall, options }: RequestPermissionRequest): Promise<RequestPermissionResponse> {
    const tool = this.#tools.update(toolCall);
    const isAllowed = this.request.permissions === 'allow' || await new Promise<boolean>((resolve) => {
      const requestId = `ask-${++this.#asked}`;
      this.#questions.set(requestId, resolve);
      this.journal.append({ type: 'permission', requestId, toolCallId: toolCall.toolCallId, title: tool.title });
    });
    const option = options.find((o) => o.kind === (isAllowed ? 'allow_once' : 'reject_once')) ?? options.find((o) => o.kind.startsWith(isAllowed ? 'allow' : 'reject'));
    return { outcome: option ? { outcome: 'selected', optionId: option.optionId } : { outcome: 'cancelled' } };
  }

  async #writeEvidence(): Promise<void> {
    const { evidence = [] } = this.request;
    if (evidence.length === 0) return;
    this.#workspace.evidence = evidence.map((file) => file.path);
    await this.#trees.patch(this.#workspace.tree, Readable.from([tarOf(evidence.map(({ path, content, encoding }) => ({ path, content: Buffer.from(content, encoding) })))], { objectMode: false }));
  }
}

function endOf({ stopReason, _meta }: PromptResponse): WorkEnd {
  const common = { exitCode: null, signal: null };
  const reason = _meta?.[SCRIPT_FAILED];
  if (typeof reason === 'string') return { ...common, outcome: 'failed', error: { code: 'script_failed', message: reason.slice(0, 1000) } };
  if (stopReason === 'refusal') return failed('The agent refused the message.');
  if (stopReason === 'cancelled') return failed('The agent cancelled its turn.');
  return { ...common, outcome: 'completed', error: null };
}

function failed(message: string): WorkEnd {
  return { outcome: 'failed', exitCode: null, signal: null, error: { code: 'agent_error', message: message.trim().slice(0, 1000) } };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : JSON.stringify(error) ?? String(error));
