/** The paths that an agent may call. */
import type { Wire } from '../config-file.ts';

export type Endpoint = 'messages' | 'messages/count_tokens' | 'chat/completions' | 'responses' | 'models';

type GatewayRoute =
  | { kind: 'model'; provider: string; endpoint: Endpoint }
  | { kind: 'mcp'; serverId: string };

const MODEL_PATH =
  /^\/([a-z][a-z0-9._-]{0,63})\/v1\/(messages|messages\/count_tokens|chat\/completions|responses|models)$/;
const MCP_PATH = /^\/mcp\/([a-z0-9_]{1,64})$/;

/** Null: no such path, or not with this method. */
export function routeOf(method: string, url: string): GatewayRoute | null {
  const path = url.split('?', 1)[0]!;
  const mcp = MCP_PATH.exec(path);
  if (mcp) return { kind: 'mcp', serverId: mcp[1]! };
  const found = MODEL_PATH.exec(path);
  if (!found) return null;
  const endpoint = found[2] as Endpoint;
  return method === (endpoint === 'models' ? 'GET' : 'POST')
    ? { kind: 'model', provider: found[1]!, endpoint }
    : null;
}

const WIRES: Record<Exclude<Endpoint, 'models'>, Wire> = {
  messages: 'anthropic',
  'messages/count_tokens': 'anthropic',
  'chat/completions': 'openai-chat',
  responses: 'openai-responses',
};

/** The wire of an endpoint; a list of models has the form of the provider's first wire. */
export const wireOf = (endpoint: Endpoint, wires: readonly Wire[]): Wire =>
  endpoint === 'models' ? (wires[0] ?? 'openai-chat') : WIRES[endpoint];

/** The wire of the errors for a call whose path does not name an endpoint. */
export const guessWire = (url: string, headers: Record<string, unknown>): Wire =>
  url.includes('/messages') || headers['anthropic-version'] !== undefined
    ? 'anthropic'
    : url.includes('/responses')
      ? 'openai-responses'
      : 'openai-chat';
