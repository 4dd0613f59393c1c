import { setTimeout as sleep } from 'node:timers/promises';
import type { PromptResponse } from '@agentclientprotocol/sdk';
import type { ModelMessage } from 'ai';
import { Speech, type Client } from './client.ts';
import { makeRoom } from './context/compact.ts';
import { charactersOf } from './context/measure.ts';
import { instructionsOf, type Told } from './instructions.ts';
import { ModelFailure } from './model/failure.ts';
import type { Answer, Ask, Question } from './model/model.ts';
import { userMessage } from './prompt.ts';
import type { Session } from './session.ts';
import { ToolBatch, type AnnouncedCall } from './tool-batch.ts';

const STEPS = 200;
/** Consecutive calls that cannot be read: a model that makes more is out of control. */
const FAULTS = 3;
/**
 * The gateway disappears with its process and comes back with the next: the number of retries, with growing
 * pauses.
 */
const LOSSES = 4,
  LOSS_MS = 250;
/** Share of the window that the outputs of one step may take. */
const OUTPUT_SHARE = 0.25;

export interface TurnRequest {
  session: Session;
  message: ModelMessage;
  told: Told;
  client: Client;
  ask: Ask;
  contextTokens: number;
}

/**
 * One turn: asks the model, makes its calls, and repeats until it makes none. Saves the conversation after
 * every step. Throws ModelFailure when the model cannot be asked or its answers make no sense.
 */
export const runTurn = (request: TurnRequest): Promise<PromptResponse> => new Turn(request).run();

class Turn {
  readonly #request: TurnRequest;
  readonly #session: Session;
  readonly #speech: Speech;
  #question: Omit<Question, 'messages'> = { instructions: '', tools: [] };
  #overhead = 0;
  #faults = 0;
  #batch: ToolBatch;

  constructor(request: TurnRequest) {
    this.#request = request;
    this.#session = request.session;
    this.#speech = new Speech(request.client);
    this.#batch = new ToolBatch(request.client, [], () => '');
  }

  async run(): Promise<PromptResponse> {
    await this.#prepare();
    for (let step = 0; step < STEPS; step++) {
      this.#takeSteers();
      const { answer, calls } = await this.#ask();
      await this.#keep(answer, calls);
      // Nothing is awaited between this check and the end: a message arrives before it and is taken, or after
      // it and is refused.
      if (calls.length === 0 && !this.#session.steering.isWaiting) return this.#end(answer.finish);
    }
    this.#speech.newStep();
    this.#speech.text(`I stopped after ${STEPS} steps. Send another message to go on.`);
    return { stopReason: 'max_turn_requests' };
  }

  #end(finish: string): PromptResponse {
    if (finish === 'content-filter') return { stopReason: 'refusal' };
    if (finish !== 'length') return { stopReason: 'end_turn' };
    this.#speech.newStep();
    this.#speech.text('[The model reached the limit of what it may write in one answer.]');
    return { stopReason: 'max_tokens' };
  }

  async #prepare(): Promise<void> {
    const { session, message, told, client } = this.#request;
    session.messages.push(message);
    session.save();
    const tools = await session.tools();
    for (const server of session.mcp.missing) this.#speech.thought(`MCP server not available: ${server}\n`);
    const { root, context: folder } = session.workplace;
    const instructions = instructionsOf(root, { told, folder, missing: session.mcp.missing });
    this.#question = { instructions, tools };
    this.#overhead =
      instructions.length +
      JSON.stringify(tools.map(({ name, description, schema }) => ({ name, description, schema }))).length;
    this.#batch = new ToolBatch(client, tools, () => session.nextCallId());
  }

  #takeSteers(): void {
    const { steers, confirm } = this.#session.steering.take();
    if (steers.length === 0) return;
    for (const { prompt } of steers) this.#session.messages.push(userMessage(prompt)!);
    this.#session.save();
    confirm();
  }

  async #ask(): Promise<{ answer: Answer; calls: AnnouncedCall[] }> {
    await this.#makeRoom();
    let isTooLong = false;
    for (let losses = 0; ;) {
      try {
        return await this.#askOnce();
      } catch (error) {
        if (!(error instanceof ModelFailure)) throw error;
        if (error.isLost && losses < LOSSES) await this.#lost(++losses);
        else if (error.isTooLong && !isTooLong) {
          isTooLong = true;
          await this.#makeRoom({ isForced: true });
        } else throw error;
      }
    }
  }

  async #lost(losses: number): Promise<void> {
    this.#speech.newStep();
    this.#speech.text('[The connection to the model was lost; it is asked again.]');
    await sleep(LOSS_MS * losses);
  }

  async #askOnce(): Promise<{ answer: Answer; calls: AnnouncedCall[] }> {
    const calls: AnnouncedCall[] = [];
    this.#speech.newStep();
    try {
      const answer = await this.#request.ask(
        { ...this.#question, messages: this.#session.messages },
        {
          text: (text) => this.#speech.text(text),
          thought: (text) => this.#speech.thought(text),
          call: (call) => {
            calls.push(this.#batch.announce(call));
          },
        },
      );
      return { answer, calls };
    } catch (error) {
      this.#batch.abandon(calls);
      throw error;
    }
  }

  async #makeRoom({ isForced = false } = {}): Promise<void> {
    const { session, ask, contextTokens } = this.#request;
    const room = await makeRoom({
      messages: session.messages,
      meter: session.meter,
      overhead: this.#overhead,
      contextTokens,
      ask,
      isForced,
    });
    if (room.note === undefined) return;
    session.messages = room.messages;
    session.save();
    this.#speech.thought(`${room.note}\n`);
  }

  /**
   * Adds the answer and the results of its calls together: a call without its result would spoil every later
   * request.
   */
  async #keep(answer: Answer, calls: AnnouncedCall[]): Promise<void> {
    const session = this.#session;
    if (answer.messages.length === 0) {
      if (session.messages.at(-1)?.role !== 'tool') throw new ModelFailure('The model answered nothing.');
      answer.messages = [{ role: 'assistant', content: '(nothing to add)' }];
    }
    session.meter.note([...session.messages, ...answer.messages], answer.tokens, this.#overhead);
    const results =
      calls.length === 0
        ? []
        : await this.#batch.run(calls, charactersOf(this.#request.contextTokens * OUTPUT_SHARE));
    session.messages.push(...answer.messages, ...results);
    session.save();
    for (const { call, tool } of calls)
      this.#faults = call.fault === undefined && tool ? 0 : this.#faults + 1;
    if (this.#faults >= FAULTS)
      throw new ModelFailure(
        `The model made ${this.#faults} tool calls in a row that could not be read. The last: ` +
          (calls.at(-1)?.call.fault ?? 'an unknown tool'),
      );
  }
}
