/** One caller of the service over keep-alive connections. On node:http: fetch costs half a millisecond a call, which would be measured too. */
import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import type { IncomingMessage } from 'node:http';

export interface Answer {
  status: number;
  body: Record<string, any>; // oxlint-disable-line typescript/no-explicit-any -- benchmarks reach into answers by name; a wrong one fails them
  /** From the first byte sent to the last byte received, on the monotonic clock. */
  ms: number;
}

export interface Caller {
  /** Throws on any status but 2xx. Objects are sent as JSON, bytes with `contentType`. Each write has a key of its own. */
  call(method: string, path: string, body?: object | Buffer, options?: { contentType?: string; key?: string }): Promise<Answer>;
  /** A response to be read as it comes. */
  open(path: string): Promise<IncomingMessage>;
  close(): void;
}

export const PLATFORM = '/api/platform/v1';
const LIMIT_MS = 120_000;

export function createCaller(base: string, serviceKey: string): Caller {
  const agent = new Agent({ keepAlive: true });
  const { hostname, port } = new URL(base);
  const send = (method: string, path: string, headers: Record<string, string | number>, bytes?: Buffer) => new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing = request({ agent, hostname, port, method, path, headers: { 'x-api-key': serviceKey, ...headers } }, resolve);
    outgoing.once('error', reject).setTimeout(LIMIT_MS, () => outgoing.destroy(new Error(`${method} ${path}: no answer within ${LIMIT_MS / 1000} s`)));
    outgoing.end(bytes);
  });
  return {
    async call(method, path, body, { contentType = 'application/json', key = randomUUID() } = {}) {
      const bytes = body === undefined || Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
      const headers = { ...(method === 'GET' ? {} : { 'idempotency-key': key }), ...(bytes ? { 'content-type': contentType, 'content-length': bytes.length } : {}) };
      const from = performance.now();
      const response = await send(method, path, headers, bytes);
      const parts: Buffer[] = [];
      for await (const part of response) parts.push(part as Buffer);
      const ms = performance.now() - from;
      const text = Buffer.concat(parts).toString();
      if (response.statusCode! >= 300) throw new Error(`${method} ${path}: ${response.statusCode} ${text.slice(0, 500)}`);
      return { status: response.statusCode!, body: JSON.parse(text) as Answer['body'], ms };
    },
    async open(path) {
      const response = await send('GET', path, { accept: 'text/event-stream' });
      if (response.statusCode !== 200) throw new Error(`GET ${path}: ${response.statusCode}`);
      return response;
    },
    close: () => agent.destroy(),
  };
}
