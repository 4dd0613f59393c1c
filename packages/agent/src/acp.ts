import { linesOf } from './lines.ts';
import type {
  PromptResponse,
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionNotification,
} from '@agentclientprotocol/sdk';

/**
 * The agent's side of the Agent Client Protocol over stdio: the five messages that an agent without loadable
 * sessions needs. Only the SDK's types are used: importing its code takes 140 ms, more than the rest of a
 * turn.
 */
export interface Turn {
  prompt: string;
  say(text: string): void;
  update(update: SessionNotification['update']): void;
  askPermission(request: Omit<RequestPermissionRequest, 'sessionId'>): Promise<RequestPermissionResponse>;
}

interface Message {
  id?: number | string;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: { message: string };
}

const PROTOCOL_VERSION = 1;
const METHOD_NOT_FOUND = -32601,
  INTERNAL_ERROR = -32603;

/** Serves stdin until it ends; `take` runs one prompt and returns how its turn stopped. */
export function serveAgent(take: (turn: Turn) => Promise<PromptResponse>): void {
  const waiting = new Map<number, { resolve: (result: never) => void; reject: (error: Error) => void }>();
  let lastId = 0,
    sessions = 0;
  const send = (message: object): void => {
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  };
  const request = <T>(method: string, params: unknown): Promise<T> =>
    new Promise((resolve, reject) => {
      waiting.set(++lastId, { resolve, reject });
      send({ id: lastId, method, params });
    });
  const turnOf = (sessionId: string, prompt: { type: string; text?: string }[]): Turn => {
    const update: Turn['update'] = (change) =>
      send({ method: 'session/update', params: { sessionId, update: change } });
    return {
      prompt: prompt.map((block) => (block.type === 'text' ? (block.text ?? '') : '')).join('\n'),
      update,
      say: (text) => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } }),
      askPermission: (question) => request('session/request_permission', { sessionId, ...question }),
    };
  };
  const handlers: Record<string, (params: Record<string, unknown>) => unknown> = {
    initialize: () => ({
      protocolVersion: PROTOCOL_VERSION,
      agentCapabilities: { loadSession: false },
      authMethods: [],
    }),
    'session/new': () => ({ sessionId: `session-${++sessions}` }),
    'session/prompt': (params) =>
      take(turnOf(String(params['sessionId']), params['prompt'] as { type: string; text?: string }[])),
  };
  const receive = async ({ id, method, params, result, error }: Message): Promise<void> => {
    if (method === undefined) {
      const waiter = waiting.get(Number(id));
      waiting.delete(Number(id));
      if (error) waiter?.reject(new Error(error.message));
      else waiter?.resolve(result as never);
      return;
    }
    if (id === undefined) return; // session/cancel: a cancelled turn ends with its sandbox
    const handler = handlers[method];
    if (!handler) return send({ id, error: { code: METHOD_NOT_FOUND, message: `no method ${method}` } });
    try {
      send({ id, result: await handler(params ?? {}) });
    } catch (fault) {
      send({ id, error: { code: INTERNAL_ERROR, message: String(fault) } });
    }
  };
  const listen = async (): Promise<void> => {
    for await (const line of linesOf(process.stdin))
      if (line !== '') void receive(JSON.parse(line) as Message);
    process.exit();
  };
  void listen();
}
