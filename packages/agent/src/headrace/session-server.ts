import type { RequestPermissionResponse, SessionNotification } from '@agentclientprotocol/sdk';
import { linesOf } from '../lines.ts';
import { PERMISSION_OPTIONS, type Client } from './client.ts';

/**
 * The agent's side of the Agent Client Protocol over stdio, with sessions that can be loaded. Like ../acp.ts
 * it is written by hand and uses only the SDK's types: importing the SDK takes 140 ms.
 */
export type Handlers = Record<
  string,
  (params: Record<string, unknown>, client: (sessionId: string) => Client) => unknown
>;

/** Sent as a JSON-RPC error with its code. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export const ERRORS = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  notFound: -32002,
} as const;

interface Message {
  id?: number | string | null;
  method?: unknown;
  params?: unknown;
  result?: unknown;
  error?: { message?: unknown };
}
interface Waiter {
  resolve: (result: unknown) => void;
  reject: (error: Error) => void;
}

/**
 * Serves stdin until it ends, then calls `end`. A line that is not a message is answered with an error and
 * changes nothing else.
 */
export function serveSessions(handlers: Handlers, end: () => void): void {
  const waiting = new Map<number, Waiter>();
  let lastId = 0;
  const send = (message: object): void => {
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  };
  const fail = (id: unknown, code: number, message: string): void =>
    send({ id: id ?? null, error: { code, message } });
  const request = <T>(method: string, params: unknown): Promise<T> =>
    new Promise((resolve, reject) => {
      waiting.set(++lastId, { resolve: resolve as Waiter['resolve'], reject });
      send({ id: lastId, method, params });
    });
  const clientOf = (sessionId: string): Client => ({
    update: (update: SessionNotification['update']) =>
      send({ method: 'session/update', params: { sessionId, update } }),
    isAllowed: async (toolCall) => {
      const answer = await request<RequestPermissionResponse>('session/request_permission', {
        sessionId,
        toolCall,
        options: PERMISSION_OPTIONS,
      }).catch(() => undefined);
      return answer?.outcome?.outcome === 'selected' && answer.outcome.optionId === 'allow';
    },
  });
  const answer = ({ id, result, error }: Message): void => {
    const waiter = waiting.get(Number(id));
    waiting.delete(Number(id));
    if (error) waiter?.reject(new Error(String(error.message)));
    else waiter?.resolve(result);
  };
  const receive = async (line: string): Promise<void> => {
    const message = parsed(line);
    if (message === undefined) return fail(null, ERRORS.parse, 'A line that is no JSON was passed over.');
    if (message === null) return fail(null, ERRORS.invalidRequest, 'That is no request.');
    const { id, method, params } = message;
    if (method === undefined) return answer(message);
    // A notification, like session/cancel: a cancelled turn ends with its sandbox.
    if (id === undefined) return;
    const handler =
      typeof method === 'string' && Object.hasOwn(handlers, method) ? handlers[method] : undefined;
    if (!handler)
      return fail(
        id,
        ERRORS.methodNotFound,
        `There is no method ${typeof method === 'string' ? method : 'of that kind'}.`,
      );
    try {
      send({ id, result: (await handler(isRecord(params) ? params : {}, clientOf)) ?? {} });
    } catch (error) {
      fail(
        id,
        error instanceof RequestError ? error.code : ERRORS.internal,
        error instanceof Error ? error.message : String(error),
      );
    }
  };
  const listen = async (): Promise<void> => {
    for await (const line of linesOf(process.stdin)) if (line.trim() !== '') void receive(line);
    end();
  };
  void listen();
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Undefined: not JSON. Null: JSON that is not a message. */
function parsed(line: string): Message | null | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : null;
  } catch {
    return undefined;
  }
}
