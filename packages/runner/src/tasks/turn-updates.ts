import { RunnerError } from '../errors.ts';
import type { Mask, MaskedText } from '../masking/mask.ts';
import type { TurnRequest } from '../protocol.ts';
import { isObject, type AcpHandlers, type Params } from './acp-connection.ts';
import { AcpFault, RPC, RpcError } from './acp-fault.ts';
import type { Journal } from './journal.ts';
import { ToolCalls } from './tool-calls.ts';

/** The part of a reply that is shown, and the length at which an agent counts as flooding. */
const REPLY_CHARACTERS = 512 * 1024,
  SAID_CHARACTERS = 8 * 1024 ** 2;
/** Together with the limit of tool calls these fit into a journal that nobody has acknowledged yet. */
const QUESTIONS = 2_000;

/**
 * The agent's messages during a turn: its reply, tool calls and questions go to the journal. Thoughts and
 * plans do not.
 */
export class TurnUpdates implements AcpHandlers {
  readonly #journal: Journal;
  readonly #permissions: TurnRequest['permissions'];
  readonly #tools: ToolCalls;
  readonly #masked: MaskedText;
  readonly #questions = new Map<string, (isAllowed: boolean) => void>();
  #reply = '';
  #said = 0;
  #asked = 0;
  #hasBegun = false;
  #denied: { toolCallId: string; title: string } | null = null;

  constructor(journal: Journal, mask: Mask, permissions: TurnRequest['permissions']) {
    this.#journal = journal;
    this.#permissions = permissions;
    this.#tools = new ToolCalls(journal, mask);
    this.#masked = mask.stream();
  }

  /** Earlier updates do not belong to this turn. */
  begin(): void {
    this.#hasBegun = true;
  }

  /** The title of the call that was denied, until the agent reports another. */
  get denied(): string | null {
    return this.#denied?.title ?? null;
  }

  /** Throws `not_found` 404. */
  answer(requestId: string, isAllowed: boolean): void {
    const answer = this.#questions.get(requestId);
    if (!answer) throw new RunnerError(404, 'not_found', 'That was not asked, or is answered already.');
    this.#questions.delete(requestId);
    answer(isAllowed);
  }

  /** Ends the calls that the agent left open, and its reply. */
  close(status: 'cancelled' | 'failed'): void {
    this.#show(this.#masked.end());
    this.#tools.close(status);
    this.#hasBegun = false;
  }

  notified(method: string, { update }: Params): void {
    if (method !== 'session/update' || !isObject(update) || !this.#hasBegun) return;
    if (update['sessionUpdate'] === 'agent_message_chunk') this.#say(update['content']);
    else if (update['sessionUpdate'] === 'tool_call' || update['sessionUpdate'] === 'tool_call_update')
      this.#updateTool(update);
  }

  /**
   * Passes questions to the worker when the turn is set to ask, and waits for its answer; a cancel ends the
   * wait together with the sandbox.
   */
  async asked(method: string, { toolCall, options }: Params): Promise<object> {
    if (method !== 'session/request_permission')
      throw new RpcError(RPC.methodNotFound, `This client has no ${method}.`);
    if (!isObject(toolCall) || !Array.isArray(options))
      throw new RpcError(RPC.invalidParams, 'toolCall or options are missing.');
    if (!this.#hasBegun) return { outcome: { outcome: 'cancelled' } };
    if (++this.#asked > QUESTIONS)
      throw new AcpFault(`The agent asked for permission more than ${QUESTIONS} times.`);
    const { toolCallId, title, name, input } = this.#updateTool(toolCall);
    const isAllowed =
      this.#permissions === 'allow' ||
      (await new Promise<boolean>((resolve) => {
        const requestId = `ask-${this.#asked}`;
        this.#questions.set(requestId, resolve);
        this.#journal.append({ type: 'permission', requestId, toolCallId, name, title, input });
      }));
    if (!isAllowed) this.#denied = { toolCallId, title: title || name };
    const chosen = choose(options.filter(isObject), isAllowed);
    return {
      outcome: chosen ? { outcome: 'selected', optionId: chosen['optionId'] } : { outcome: 'cancelled' },
    };
  }

  #updateTool(update: Params): ReturnType<ToolCalls['update']> {
    const tool = this.#tools.update(update);
    if (tool.toolCallId !== this.#denied?.toolCallId) this.#denied = null;
    return tool;
  }

  #say(content: unknown): void {
    if (!isObject(content) || content['type'] !== 'text' || typeof content['text'] !== 'string') return;
    this.#said += content['text'].length;
    if (this.#said > SAID_CHARACTERS)
      throw new AcpFault(
        `The agent's reply had more than ${SAID_CHARACTERS / 1024 ** 2} million characters.`,
      );
    if (this.#reply.length < REPLY_CHARACTERS) this.#show(this.#masked.push(content['text']));
  }

  #show(text: string): void {
    if (text === '') return;
    this.#reply = (this.#reply + text).slice(0, REPLY_CHARACTERS);
    this.#journal.text(this.#reply);
  }
}

/** Never picks an option that allows more than was asked. */
function choose(options: Params[], isAllowed: boolean): Params | undefined {
  const of = (kind: string): Params | undefined => options.find((option) => option['kind'] === kind);
  return isAllowed ? of('allow_once') : (of('reject_once') ?? of('reject_always'));
}
