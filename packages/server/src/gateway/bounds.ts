/**
 * The most that a call can cost, before it is made.
 *
 * Input: byte-level tokenizers make at most one token of a byte, and the body holds all input but two
 * things. One is what the provider adds (the frame of messages, which is shorter than its JSON; the prompt
 * that explains tools; descriptions of the provider's tools): the constants below cover it with room. The
 * other is images, whose tokens depend on their size and have a maximum with each provider.
 */
import type { Wire } from '../config-file.ts';
import { dearestRates, micros } from '../usage/index.ts';
import type { ModelPrices, TokenUsage } from '../usage/index.ts';
import type { ShapedRequest } from './shape-request.ts';

const FRAME_TOKENS = 2_000;
const TOOL_TOKENS = 1_500;
/**
 * Anthropic's largest images have 4,784. OpenAI's small models count up to 48,169 for one (a base of 2,833
 * and 8 tiles of 5,667).
 */
const IMAGE_TOKENS: Record<Wire, number> = {
  anthropic: 5_000,
  'openai-chat': 50_000,
  'openai-responses': 50_000,
};
/**
 * The expected output of a call without a maximum where no limit holds, and the maximum that it gets where
 * one holds.
 */
const DEFAULT_OUTPUT = 32_768;
/** An answer with less room than this is useless, unless less was asked for. */
const LEAST_OUTPUT = 256;

/**
 * Whether input may be written into a cache, which costs more than input: not at all, for minutes, or for
 * an hour.
 */
export type Caching = 'none' | 'short' | 'long';

/** OpenAI always caches. `text`: the body as it is sent, in which no name can hide behind escapes. */
export const cachingOf = (wire: Wire, text: string): Caching =>
  wire !== 'anthropic'
    ? 'short'
    : !text.includes('"cache_control"')
      ? 'none'
      : text.includes('"1h"')
        ? 'long'
        : 'short';

export interface Bound {
  inputTokens: number;
  /** Output of all choices together. */
  outputTokens: number;
  /** Output of one answer. */
  maxOutput: number;
  micros: number;
}

export const mostInput = (shaped: ShapedRequest, bodyBytes: number): number =>
  Math.max(0, bodyBytes - shaped.imageBytes) +
  shaped.images * IMAGE_TOKENS[shaped.wire] +
  shaped.ownTools * TOOL_TOKENS +
  FRAME_TOKENS;

/**
 * The bound of a call when `remaining` micro-units are left (null: no limit holds), with its output cut to
 * what they pay for. Null when they do not pay for the input and a useful answer.
 */
export function boundCall(
  shaped: ShapedRequest,
  prices: ModelPrices,
  { inputTokens, caching, remaining }: { inputTokens: number; caching: Caching; remaining: number | null },
): Bound | null {
  const rates = dearestRates(prices, inputTokens);
  const inputMicros = Math.max(
    rates.inputMicros,
    rates.cachedMicros,
    caching === 'none' ? 0 : rates.cacheWriteMicros,
    caching === 'long' ? rates.cacheWriteLongMicros : 0,
  );
  const asked = shaped.maxOutput ?? DEFAULT_OUTPUT;
  const costWith = (maxOutput: number) =>
    micros([
      [inputTokens, inputMicros],
      [maxOutput * shaped.choices, rates.outputMicros],
    ]);
  const bound = (maxOutput: number): Bound => ({
    inputTokens,
    outputTokens: maxOutput * shaped.choices,
    maxOutput,
    micros: costWith(maxOutput),
  });
  if (remaining === null || costWith(asked) <= remaining) return bound(asked);
  const least = Math.max(
    Math.min(LEAST_OUTPUT, asked),
    shaped.thinkingBudget === null ? 0 : shaped.thinkingBudget + 1,
  );
  if (least > asked || costWith(least) > remaining) return null;
  const left = BigInt(remaining) * 1_000_000n - BigInt(inputTokens) * BigInt(inputMicros);
  const affordable = Number(left / (BigInt(rates.outputMicros) * BigInt(shaped.choices)));
  return bound(Math.min(asked, affordable));
}

/**
 * Tokens of a call that did not report all that it used: what it reported, else the most that it can have
 * used.
 * `output`: of all choices.
 */
export function mostUsage(
  { inputTokens }: Bound,
  reported: TokenUsage | null,
  output: number,
  caching: Caching,
): TokenUsage {
  if (reported) return { ...reported, outputTokens: Math.max(reported.outputTokens, output) };
  return {
    inputTokens,
    cachedTokens: 0,
    cacheWriteTokens: caching === 'short' ? inputTokens : 0,
    cacheWriteLongTokens: caching === 'long' ? inputTokens : 0,
    outputTokens: output,
  };
}
