/** HTTP as fetch would not speak it: nothing is decompressed, added or followed. */
import { request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';

export interface Wired {
  status: number;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
}

/** One request on a connection of its own. */
export function wired(
  s: { base: string; key: string },
  method: string,
  path: string,
  {
    headers = {},
    body,
    key = s.key,
  }: {
    headers?: Record<string, string>;
    body?: string | Buffer;
    key?: string | null;
  } = {},
): Promise<Wired> {
  return new Promise((resolve, reject) => {
    const sent = request(
      s.base + path,
      { method, agent: false, headers: { ...(key === null ? {} : { 'x-api-key': key }), ...headers } },
      (answer) => {
        const parts: Buffer[] = [];
        answer
          .on('data', (part: Buffer) => parts.push(part))
          .on('end', () =>
            resolve({ status: answer.statusCode!, headers: answer.headers, bytes: Buffer.concat(parts) }),
          )
          .on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Sends text over a connection, and returns what comes back until it is closed. */
export async function sendRaw(s: { base: string }, text: string): Promise<string> {
  const socket = connect(Number(new URL(s.base).port), '127.0.0.1').setEncoding('latin1');
  socket.on('error', () => {}).write(text);
  let said = '';
  for await (const part of socket) said += part as string;
  return said;
}
