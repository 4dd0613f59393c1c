/**
 * A small HTTP server for the client's tests: answers each request by a function and records the requests.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createClient } from './client.ts';
import type { Client } from './client.ts';

export interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export interface Loopback extends AsyncDisposable {
  base: string;
  client: Client;
  seen: Seen[];
}

/** `answer` is called with each request and its number, from 1. */
export async function loopback(
  answer: (response: ServerResponse, request: Seen, number: number) => void,
): Promise<Loopback> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    void receive(request, response);
  });
  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const one = {
      method: request.method!,
      url: request.url!,
      headers: request.headers,
      body: await text(request),
    };
    answer(response, one, seen.push(one));
  }
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return {
    base,
    seen,
    client: createClient({
      baseUrl: base,
      key: 'hrk_test',
    }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response
    .writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'req-1', ...headers })
    .end(JSON.stringify(body));
}

export const refusal = (code: string, rest: object = {}) => ({
  ok: false,
  error: { code, message: 'No.', requestId: 'req-1', ...rest },
});
