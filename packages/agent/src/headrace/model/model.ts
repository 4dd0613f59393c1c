import {
  jsonSchema,
  streamText,
  tool,
  type AssistantModelMessage,
  type LanguageModel,
  type ModelMessage,
  type SystemModelMessage,
  type ToolSet,
} from 'ai';
import { httpFetch } from '../http-fetch.ts';
import type { Settings } from '../settings.ts';
import { faultOf } from '../tools/schema.ts';
import type { OfferedTool } from '../offered-tool.ts';
import { modelFailure, ModelFailure } from './failure.ts';

/**
 * One call of the model. Only this file uses the AI SDK, so that it can load during the client's handshake.
 * The loop over steps is turn.ts: between two steps it saves, steers, asks for permission and makes room,
 * which the SDK's own loop does not allow.
 */
export interface Question {
  instructions: string;
  messages: ModelMessage[];
  tools: OfferedTool[];
}

interface Listener {
  text(text: string): void;
  thought(text: string): void;
  call(call: ModelCall): void;
}

export interface ModelCall {
  id: string;
  name: string;
  input: unknown;
  /** Why the call cannot be made, for the model. */
  fault: string | undefined;
}

export interface Answer {
  messages: ModelMessage[];
  text: string;
  calls: ModelCall[];
  finish: string;
  /** Tokens of this call, input and output together; undefined when the provider reports none. */
  tokens: number | undefined;
}

export type Ask = (question: Question, listener: Listener) => Promise<Answer>;

/** Loads only the provider of this wire. */
export async function connectModel(settings: Settings): Promise<Ask> {
  // The SDK prints its warnings on stdout, which belongs to the protocol.
  (globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;
  const fetch = httpFetch(settings.socketPath);
  const model = await modelOf(settings, fetch);
  return (question, listener) => ask(model, settings, question, listener);
}

async function modelOf(settings: Settings, fetch: ReturnType<typeof httpFetch>): Promise<LanguageModel> {
  if (settings.wire === 'anthropic') return (await import('./anthropic.ts')).anthropicModel(settings, fetch);
  if (settings.wire === 'openai-chat') return (await import('./openai-chat.ts')).chatModel(settings, fetch);
  return (await import('./openai-responses.ts')).responsesModel(settings, fetch);
}

async function ask(
  model: LanguageModel,
  { wire, maxOutputTokens }: Settings,
  { instructions, messages, tools }: Question,
  listener: Listener,
): Promise<Answer> {
  const isAnthropic = wire === 'anthropic';
  const system: SystemModelMessage = {
    role: 'system',
    content: instructions,
    ...(isAnthropic ? { providerOptions: CACHED } : {}),
  };
  const result = streamText({
    model,
    instructions: system,
    messages: isAnthropic ? withCache(messages) : messages,
    tools: toolSet(tools),
    maxRetries: 0,
    maxOutputTokens,
    onError: () => undefined,
    // The provider stores nothing: the conversation belongs to the thread.
    providerOptions: { openai: { store: false } },
  });
  const answer: Answer = { messages: [], text: '', calls: [], finish: 'unknown', tokens: undefined };
  try {
    for await (const part of result.fullStream) {
      if (part.type === 'text-delta') {
        answer.text += part.text;
        listener.text(part.text);
      } else if (part.type === 'reasoning-delta') listener.thought(part.text);
      else if (part.type === 'tool-call') {
        const call: ModelCall = {
          id: part.toolCallId,
          name: part.toolName,
          input: part.input,
          fault: part.invalid ? faultText(part.error) : undefined,
        };
        answer.calls.push(call);
        listener.call(call);
      } else if (part.type === 'finish-step') {
        answer.finish = part.finishReason;
        answer.tokens =
          part.usage.inputTokens === undefined
            ? undefined
            : part.usage.inputTokens + (part.usage.outputTokens ?? 0);
      } else if (part.type === 'error') throw modelFailure(part.error);
    }
    if (answer.finish === 'interrupted' || answer.finish === 'error' || answer.finish === 'unknown')
      throw new ModelFailure("The model's answer broke off: its end is missing.");
    answer.messages = (await result.responseMessages)
      .filter((message) => message.role === 'assistant')
      .map(portable)
      .filter((message) => message.content.length > 0);
  } catch (error) {
    throw modelFailure(error);
  }
  return answer;
}

/** Removes parts that only one provider knows: the thread's next turn may use another provider's model. */
function portable(message: AssistantModelMessage): AssistantModelMessage {
  return typeof message.content === 'string'
    ? message
    : { ...message, content: message.content.filter((part) => part.type !== 'custom') };
}

function toolSet(tools: OfferedTool[]): ToolSet {
  return Object.fromEntries(
    tools.map(({ name, description, schema, isOwn }) => [
      name,
      tool({
        description,
        inputSchema: jsonSchema<Record<string, unknown>>(schema as object, {
          validate: (value) => {
            const fault = isOwn ? faultOf(schema as never, value) : undefined;
            return fault === undefined
              ? { success: true, value: value as Record<string, unknown> }
              : { success: false, error: new Error(fault) };
          },
        }),
      }),
    ]),
  );
}

/** The SDK's message wraps the cause that helps: the schema's fault, or where the JSON breaks. */
function faultText(error: unknown): string {
  const messages: string[] = [];
  for (let at = error; at instanceof Error && messages.length < 5; at = at.cause) messages.push(at.message);
  return [...new Set(messages)].join(' ').slice(0, 2000);
}

const CACHED = { anthropic: { cacheControl: { type: 'ephemeral' } } };

/** Marks the newest message: at the next step the provider reads everything before it from its cache. */
function withCache(messages: ModelMessage[]): ModelMessage[] {
  const last = messages.at(-1);
  return last
    ? [...messages.slice(0, -1), { ...last, providerOptions: { ...last.providerOptions, ...CACHED } }]
    : messages;
}
