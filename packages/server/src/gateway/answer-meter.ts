/** Reads from an answer what it used: the usage that it reports, and bounds of its output where it has none. */
import type { Wire } from '../config-file.ts';
import type { TokenUsage } from '../usage/index.ts';
import { isObject } from './body.ts';

type Json = Record<string, unknown>;

export interface AnswerMeter {
  /** One event of a stream; an event of another wire changes nothing. */
  event(data: string): void;
  /** A whole answer of so many bytes. */
  whole(body: Json, bytes: number): void;
  /** The last reported usage; null before the first. `isFinal`: it includes all output of the answer. */
  usage(): { usage: TokenUsage; isFinal: boolean } | null;
  /** A token has at least a byte of text; each start of a block and each tool call adds some tokens. */
  mostTokens(): number;
  /** Each piece has at least one token, and few tokens have more than 16 bytes. */
  leastTokens(): number;
  /** Whether the answer is complete. */
  isEnded(): boolean;
  /** The provider's error within an answer that had started. */
  failure(): string | null;
}

const BLOCK_TOKENS = 64;
const count = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 && value <= 1e12
    ? Math.ceil(value)
    : null;
const part = (value: unknown): Json => (isObject(value) ? value : {});

export function meterAnswer(wire: Wire): AnswerMeter {
  const state: State = {
    reported: {},
    isFinal: false,
    isEnded: false,
    failure: null,
    bytes: 0,
    pieces: 0,
    blocks: 1,
  };
  const read = { anthropic: readAnthropic, 'openai-chat': readChat, 'openai-responses': readResponses }[wire];
  return {
    event(data) {
      if (data === '[DONE]') {
        state.isEnded = true;
        return;
      }
      let json: unknown;
      try {
        json = JSON.parse(data);
      } catch {
        state.failure ??= 'sent what is no JSON';
        return;
      }
      if (isObject(json)) read(state, json);
    },
    whole(body, bytes) {
      state.bytes += bytes;
      state.reported = part(body.usage);
      state.isFinal = isObject(body.usage);
      state.isEnded = true;
      if (isObject(body.error)) state.failure = sayError(body.error);
    },
    usage() {
      const usage = usageOf(wire, state.reported);
      return usage && { usage, isFinal: state.isFinal };
    },
    mostTokens: () => state.bytes + state.blocks * BLOCK_TOKENS,
    leastTokens: () => Math.max(state.pieces, Math.floor(state.bytes / 16)),
    isEnded: () => state.isEnded,
    failure: () => state.failure,
  };
}

interface State {
  /** The provider's usage object; later reports replace earlier ones. */
  reported: Json;
  isFinal: boolean;
  isEnded: boolean;
  failure: string | null;
  bytes: number;
  pieces: number;
  blocks: number;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const sayError = (error: Json) => (text(error.message) || text(error.type) || 'error').slice(0, 400);

function piece(state: State, said: unknown): void {
  if (typeof said !== 'string' || said === '') return;
  state.bytes += Buffer.byteLength(said);
  state.pieces++;
}

function readAnthropic(state: State, event: Json): void {
  switch (event.type) {
    case 'message_start':
      state.reported = { ...part(part(event.message).usage) };
      break;
    case 'message_delta':
      if (isObject(event.usage)) {
        state.reported = {
          ...state.reported,
          ...Object.fromEntries(Object.entries(event.usage).filter(([, value]) => value !== null)),
        };
        state.isFinal = true;
      }
      break;
    case 'content_block_start':
      state.blocks++;
      state.bytes += Buffer.byteLength(JSON.stringify(event.content_block ?? ''));
      break;
    case 'content_block_delta': {
      const delta = part(event.delta);
      piece(state, delta.text ?? delta.thinking ?? delta.partial_json);
      break;
    }
    case 'message_stop':
      state.isEnded = true;
      break;
    case 'error':
      state.failure = sayError(part(event.error));
      break;
  }
}

function readChat(state: State, event: Json): void {
  if (isObject(event.error)) state.failure = sayError(event.error);
  if (isObject(event.usage)) {
    state.reported = event.usage;
    // Some report it with each piece: the last one counts.
    state.isFinal = true;
  }
  for (const choice of Array.isArray(event.choices) ? (event.choices as unknown[]) : []) {
    const { delta, finish_reason: reason } = part(choice);
    const { content, reasoning_content: thought, reasoning, refusal, tool_calls: calls } = part(delta);
    piece(state, content);
    piece(state, thought ?? reasoning);
    piece(state, refusal);
    for (const call of Array.isArray(calls) ? (calls as unknown[]) : []) {
      const { name, arguments: input } = part(part(call).function);
      if (typeof name === 'string' && name !== '') {
        state.blocks++;
        state.bytes += Buffer.byteLength(name);
      }
      piece(state, input);
    }
    if (typeof reason === 'string') state.isEnded = true;
  }
}

function readResponses(state: State, event: Json): void {
  const type = text(event.type);
  if (type.endsWith('.delta')) piece(state, event.delta);
  else if (type === 'response.output_item.added') {
    state.blocks++;
    state.bytes += Buffer.byteLength(text(part(event.item).name));
  } else if (type === 'response.completed' || type === 'response.incomplete' || type === 'response.failed') {
    const response = part(event.response);
    state.isEnded = true;
    if (isObject(response.usage)) [state.reported, state.isFinal] = [response.usage, true];
    if (type === 'response.failed') state.failure = sayError(part(response.error));
  } else if (type === 'error') state.failure = sayError(isObject(event.error) ? event.error : event);
}

function usageOf(wire: Wire, reported: Json): TokenUsage | null {
  const usage = wire === 'anthropic' ? ofAnthropic(reported) : ofOpenAi(wire, reported);
  if (usage === null) return null;
  // Parts never exceed the whole, whatever the provider reports.
  const cachedTokens = Math.min(usage.cachedTokens, usage.inputTokens);
  const cacheWriteLongTokens = Math.min(usage.cacheWriteLongTokens, usage.inputTokens - cachedTokens);
  return {
    ...usage,
    cachedTokens,
    cacheWriteLongTokens,
    cacheWriteTokens: Math.min(
      usage.cacheWriteTokens,
      usage.inputTokens - cachedTokens - cacheWriteLongTokens,
    ),
  };
}

function ofAnthropic(reported: Json): TokenUsage | null {
  const [plain, outputTokens] = [count(reported.input_tokens), count(reported.output_tokens)];
  if (plain === null || outputTokens === null) return null;
  const cachedTokens = count(reported.cache_read_input_tokens) ?? 0;
  const written = count(reported.cache_creation_input_tokens) ?? 0;
  const cacheWriteLongTokens = Math.min(
    written,
    count(part(reported.cache_creation).ephemeral_1h_input_tokens) ?? 0,
  );
  return {
    inputTokens: plain + cachedTokens + written,
    cachedTokens,
    cacheWriteTokens: written - cacheWriteLongTokens,
    cacheWriteLongTokens,
    outputTokens,
  };
}

/** Some report thinking apart from the output: only the total includes it. */
function ofOpenAi(wire: Wire, reported: Json): TokenUsage | null {
  const isChat = wire === 'openai-chat';
  const inputTokens = count(isChat ? reported.prompt_tokens : reported.input_tokens);
  const output = count(isChat ? reported.completion_tokens : reported.output_tokens);
  if (inputTokens === null || output === null) return null;
  const details = part(isChat ? reported.prompt_tokens_details : reported.input_tokens_details);
  const total = count(reported.total_tokens) ?? 0;
  return {
    inputTokens,
    cachedTokens: count(details.cached_tokens) ?? count(reported.prompt_cache_hit_tokens) ?? 0,
    cacheWriteTokens: count(details.cache_write_tokens) ?? 0,
    cacheWriteLongTokens: 0,
    outputTokens: Math.max(output, total - inputTokens),
  };
}
