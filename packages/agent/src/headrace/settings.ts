export type Wire = 'anthropic' | 'openai-chat' | 'openai-responses';

/** The agent's settings from its environment. */
export interface Settings {
  wire: Wire;
  model: string;
  /** Base URL that the wire's paths are appended to, e.g. http://127.0.0.1:4401/anthropic/v1 */
  gateway: string;
  token: string;
  /** HTTP to the gateway goes over this unix socket; undefined: over TCP. */
  socketPath: string | undefined;
  /** The model's context window, in tokens. */
  contextTokens: number;
  /** Undefined: the provider's own. */
  maxOutputTokens: number | undefined;
}

const WIRES = new Set<string>(['anthropic', 'openai-chat', 'openai-responses']);
const CONTEXT_TOKENS: Record<Wire, number> = {
  anthropic: 200_000,
  'openai-chat': 128_000,
  'openai-responses': 200_000,
};
/**
 * Anthropic's wire requires a number, and the SDK's default for models that it does not know is 4,096: too
 * little for a long file.
 */
const MAX_OUTPUT_TOKENS: Partial<Record<Wire, number>> = { anthropic: 16_000 };
const LEAST_CONTEXT_TOKENS = 2000;

/** Throws an Error that names the missing or wrong variable. */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const needed = (name: string): string => {
    const value = env[name];
    if (value === undefined || value === '') throw new Error(`${name} is not set.`);
    return value;
  };
  const wire = needed('HEADRACE_WIRE');
  if (!WIRES.has(wire)) throw new Error(`HEADRACE_WIRE is ${wire}; it is one of ${[...WIRES].join(', ')}.`);
  return {
    wire: wire as Wire,
    model: needed('HEADRACE_MODEL'),
    gateway: needed('HEADRACE_GATEWAY').replace(/\/+$/, ''),
    token: env['HEADRACE_TOKEN'] ?? '',
    socketPath: env['HEADRACE_GATEWAY_SOCKET'] || undefined,
    contextTokens: Math.max(
      LEAST_CONTEXT_TOKENS,
      numberOf(env, 'HEADRACE_CONTEXT_TOKENS') ?? CONTEXT_TOKENS[wire as Wire],
    ),
    maxOutputTokens: numberOf(env, 'HEADRACE_MAX_OUTPUT_TOKENS') ?? MAX_OUTPUT_TOKENS[wire as Wire],
  };
}

function numberOf(env: NodeJS.ProcessEnv, name: string): number | undefined {
  const text = env[name];
  if (text === undefined || text === '') return undefined;
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value <= 0)
    throw new Error(`${name} is ${text}; it is a whole number above 0.`);
  return value;
}

const NOT_PRIVATE = 'HEADRACE_CONTEXT';

/** The environment of child processes: the agent's own without its private settings. */
export function childEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(
      ([name]) => name === NOT_PRIVATE || (!name.startsWith('HEADRACE_') && name !== 'NODE_COMPILE_CACHE'),
    ),
  );
}
