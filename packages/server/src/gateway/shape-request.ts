/**
 * Turns the agent's request into the provider's: nothing in it is stored there, costs more than its tokens,
 * or has no bound.
 */
import type { Wire } from '../config-file.ts';
import { isObject } from './body.ts';
import { lookThrough } from './content.ts';
import type { Content } from './content.ts';
import { keepOwnTools } from './tools.ts';
import { GatewayError } from './wire-errors.ts';

export interface ShapedRequest extends Content {
  wire: Wire;
  body: Record<string, unknown>;
  model: string;
  streams: boolean;
  /** The number of answers (`n`). */
  choices: number;
  /** The most output tokens of one answer; null: not given. */
  maxOutput: number | null;
  /** Anthropic: tokens for thinking, a part of maxOutput. */
  thinkingBudget: number | null;
  /** Tools that the provider describes. */
  ownTools: number;
  /** Whether the provider may charge for output that the stream does not show. */
  hidesOutput: boolean;
}

/** Dearer or faster service, other models than the requested one, hosted tools, state at the provider. */
const REMOVED = [
  'service_tier',
  'speed',
  'inference_geo',
  'mcp_servers',
  'container',
  'web_search_options',
  'plugins',
  'models',
  'route',
  'fallbacks',
  'prediction',
];
const STATE: Partial<Record<Wire, string[]>> = {
  'openai-responses': ['previous_response_id', 'conversation', 'prompt'],
  'openai-chat': [],
  anthropic: [],
};
const MODEL = /^[!-~]{1,200}$/;
const MOST_TOKENS = 10_000_000;
const MOST_CHOICES = 128;

/** Takes over `body`. Throws a GatewayError of 400 that names what is not passed on. */
export function shapeRequest(wire: Wire, body: Record<string, unknown>): ShapedRequest {
  const { model } = body;
  if (typeof model !== 'string' || !MODEL.test(model))
    throw new GatewayError(400, 'model: has to be a name of at most 200 visible characters.');
  for (const name of STATE[wire] ?? [])
    if ((body[name] ?? null) !== null)
      throw new GatewayError(
        400,
        `${name}: names what the provider stored, which the model gateway does not pass on. Send the whole input, with store: false.`,
      );
  if (body.background === true)
    throw new GatewayError(
      400,
      'background: the model gateway passes on no calls that outlive their connection.',
    );
  if (Array.isArray(body.modalities) && body.modalities.some((one) => one !== 'text'))
    throw new GatewayError(400, 'modalities: only text.');
  for (const name of [...REMOVED, 'background', 'audio', 'modalities']) delete body[name];
  if (wire === 'openai-responses') body.store = false;
  else delete body.store;
  withoutCompaction(wire, body);
  const ownTools = keepOwnTools(wire, body);
  const maxOutput = outputAsked(wire, body);
  const thinkingBudget =
    wire === 'anthropic' && isObject(body.thinking) && body.thinking.type === 'enabled'
      ? whole(body.thinking, 'budget_tokens', MOST_TOKENS)
      : null;
  // With interleaved thinking the provider would accept it, and the maximum would no longer bound the output.
  if (thinkingBudget !== null && maxOutput !== null && thinkingBudget >= maxOutput)
    throw new GatewayError(400, 'thinking.budget_tokens: has to be less than max_tokens.');
  const streams = body.stream === true;
  if (!streams) delete body.stream;
  if (wire === 'openai-chat' && streams)
    body.stream_options = {
      ...(isObject(body.stream_options) ? body.stream_options : {}),
      include_usage: true,
    };
  return {
    wire,
    body,
    model,
    streams,
    ownTools,
    choices: wire === 'openai-chat' ? (whole(body, 'n', MOST_CHOICES) ?? 1) : 1,
    maxOutput,
    thinkingBudget,
    hidesOutput: hides(wire, body, model),
    ...lookThrough(body.messages, body.input, body.system),
  };
}

const OUTPUT_FIELDS: Record<Wire, string[]> = {
  anthropic: ['max_tokens'],
  'openai-chat': ['max_completion_tokens', 'max_tokens'],
  'openai-responses': ['max_output_tokens'],
};

function outputAsked(wire: Wire, body: Record<string, unknown>): number | null {
  const asked = OUTPUT_FIELDS[wire]
    .map((field) => whole(body, field, MOST_TOKENS))
    .filter((value) => value !== null);
  return asked.length ? Math.max(...asked) : null;
}

/** Limits the output: in the fields that the request has, else in the one that the provider knows best. */
export function limitOutput(
  { wire, body }: ShapedRequest,
  { tokens, isOpenAi }: { tokens: number; isOpenAi: boolean },
): void {
  const fields = OUTPUT_FIELDS[wire];
  const given = fields.filter((field) => typeof body[field] === 'number');
  for (const field of given) body[field] = Math.min(body[field] as number, tokens);
  // Servers that imitate OpenAI know the older name better; OpenAI's newer models take only the newer one.
  if (given.length === 0) body[wire === 'openai-chat' && !isOpenAi ? 'max_tokens' : fields[0]!] = tokens;
}

/** A positive whole number; null where the field is missing. */
function whole(of: Record<string, unknown>, field: string, most: number): number | null {
  const value = of[field] ?? null;
  if (value === null) {
    delete of[field];
    return null;
  }
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1 || value > most)
    throw new GatewayError(400, `${field}: has to be a whole number from 1 to ${most}.`);
  return value;
}

/** Removes the provider's own summaries: they are further calls of the model, which no bound covers. */
function withoutCompaction(wire: Wire, body: Record<string, unknown>): void {
  if (wire !== 'anthropic') delete body.context_management;
  const management = body.context_management;
  if (!isObject(management) || !Array.isArray(management.edits)) return;
  management.edits = management.edits.filter(
    (edit) => !(isObject(edit) && String(edit.type).startsWith('compact')),
  );
}

/**
 * Whether the request may have hidden output: thinking is charged whole, and streamed in part or not at all.
 * A model that is not known counts as one that thinks.
 */
function hides(wire: Wire, body: Record<string, unknown>, model: string): boolean {
  if (wire === 'anthropic') return isObject(body.thinking) && body.thinking.type !== 'disabled';
  return !/(^|\/)(gpt-3\.5|gpt-4)/.test(model);
}
