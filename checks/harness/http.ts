/**
 * One caller of the service over keep-alive connections. On node:http: fetch costs half a millisecond a
 * call, which would be measured too.
 */
import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

export interface Answer {
  status: number;
  body: Record<string, any>; // oxlint-disable-line typescript/no-explicit-any -- benchmarks reach into answers by name; a wrong one fails them
  /** From the first byte sent to the last byte received, on the monotonic clock. */
  ms: number;
}

/** An answer as it came, whatever its status. */
export interface RawAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

interface SendOptions {
  /** Objects are sent as JSON, bytes as they are. */
  body?: object | Buffer;
  /** Over the caller's own; undefined leaves one out. */
  headers?: Record<string, string | undefined>;
  limitMs?: number;
  signal?: AbortSignal;
}

export interface Caller {
  /** Sends one request as it is, without adding a key. Throws only where no whole answer comes. */
  send(method: string, path: string, options?: SendOptions): Promise<RawAnswer>;
  /**
   * Throws on any status but 2xx. Objects are sent as JSON, bytes with `contentType`. Each write gets a new
   * key.
   */
  call(
    method: string,
    path: string,
    body?: object | Buffer,
    options?: { contentType?: string; key?: string },
  ): Promise<Answer>;
  /** A stream of events to be read as it comes. Throws on any status but 200. */
  open(path: string, options?: Pick<SendOptions, 'headers' | 'limitMs' | 'signal'>): Promise<IncomingMessage>;
  close(): void;
}

export const PLATFORM = '/api/platform/v1';
const LIMIT_MS = 120_000;

export function createCaller(base: string, serviceKey: string): Caller {
  const agent = new Agent({ keepAlive: true });
  const { hostname, port } = new URL(base);
  const begin = (
    method: string,
    path: string,
    { headers = {}, limitMs = LIMIT_MS, signal }: SendOptions,
    bytes?: Buffer,
  ) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const own = Object.entries({ 'x-api-key': serviceKey, ...headers }).filter(
        (entry): entry is [string, string] => entry[1] !== undefined,
      );
      const outgoing = request(
        { agent, hostname, port, method, path, signal, headers: Object.fromEntries(own) },
        resolve,
      );
      const lost = (error: NodeJS.ErrnoException) =>
        reject(
          Object.assign(new Error(`${method} ${path}: ${error.message}`, { cause: error }), {
            code: error.code,
          }),
        );
      outgoing
        .once('error', lost)
        .setTimeout(limitMs, () => outgoing.destroy(new Error(`no answer within ${limitMs / 1000} s`)));
      outgoing.end(bytes);
    });
  const send: Caller['send'] = async (method, path, { body, headers = {}, ...options } = {}) => {
    const bytes = body === undefined || Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
    const sized = bytes
      ? { 'content-type': 'application/json', 'content-length': String(bytes.length), ...headers }
      : headers;
    const response = await begin(method, path, { ...options, headers: sized }, bytes);
    const parts: Buffer[] = [];
    for await (const part of response) parts.push(part as Buffer);
    return { status: response.statusCode!, headers: response.headers, text: Buffer.concat(parts).toString() };
  };
  return {
    send,
    async call(method, path, body, { contentType = 'application/json', key = randomUUID() } = {}) {
      const from = performance.now();
      const { status, text } = await send(method, path, {
        body,
        headers: {
          ...(method === 'GET' ? {} : { 'idempotency-key': key }),
          ...(body ? { 'content-type': contentType } : {}),
        },
      });
      const ms = performance.now() - from;
      if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text.slice(0, 500)}`);
      return { status, body: JSON.parse(text) as Answer['body'], ms };
    },
    async open(path, { headers, ...options } = {}) {
      const response = await begin('GET', path, {
        ...options,
        headers: { accept: 'text/event-stream', ...headers },
      });
      if (response.statusCode === 200) return response;
      response.destroy();
      throw new Error(`GET ${path}: ${response.statusCode}`);
    },
    close: () => agent.destroy(),
  };
}
