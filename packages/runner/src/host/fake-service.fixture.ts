import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, constants, type ClientHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import type { JournalEntry } from '../protocol.ts';
import { HOST_ID_HEADER, HOST_NAME_HEADER, HOST_PROTOCOL } from './protocol.ts';
import { sessionStream } from './session-stream.ts';

export const TOKEN = `hrh_${'t'.repeat(40)}`;

export interface Answer {
  status: number;
  body: Buffer;
  json: any;
}

interface Ask {
  method?: string;
  body?: unknown;
  raw?: Buffer | string;
  headers?: Record<string, string>;
}

/** One connection of a host, seen from the service. */
export class Line {
  readonly socket: WebSocket;
  readonly session: ClientHttp2Session;

  constructor(socket: WebSocket) {
    this.socket = socket;
    this.session = connect('http://host', { createConnection: () => sessionStream(socket) });
    this.session.on('error', () => {});
    socket.once('close', () => this.session.destroy());
  }

  /** Rejects when the connection ends first. */
  async ask(path: string, { method = 'GET', body, raw, headers = {} }: Ask = {}): Promise<Answer> {
    const content = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const stream = this.session.request(
      { ...headers, [constants.HTTP2_HEADER_METHOD]: method, [constants.HTTP2_HEADER_PATH]: path },
      { endStream: content === undefined },
    );
    const parts: Buffer[] = [];
    stream.on('error', () => {});
    stream.on('data', (part: Buffer) => parts.push(part));
    if (content !== undefined) stream.end(content);
    const [[head]] = await Promise.all([once(stream, 'response'), once(stream, 'end')]);
    const all = Buffer.concat(parts);
    const isJson =
      String(head['content-type']).includes('json') && !String(head['content-type']).includes('nd');
    return {
      status: Number(head[':status']),
      body: all,
      json: isJson ? JSON.parse(all.toString()) : undefined,
    };
  }

  put = (path: string, body: unknown): Promise<Answer> => this.ask(path, { method: 'PUT', body });
  post = (path: string, body: unknown = {}): Promise<Answer> => this.ask(path, { method: 'POST', body });

  /** The entries of a journal until its end, or until `enough`. */
  async journal(id: string, enough: (entry: JournalEntry) => boolean = () => false, from = 0) {
    const stream = this.session.request({ ':path': `/tasks/${id}/journal?from=${from}` });
    const entries: JournalEntry[] = [];
    let rest = '';
    for await (const part of stream.setEncoding('utf8')) {
      const lines = (rest + String(part)).split('\n');
      rest = lines.pop()!;
      for (const line of lines.filter(Boolean)) {
        const entry = JSON.parse(line) as JournalEntry;
        entries.push(entry);
        if (enough(entry)) {
          stream.close();
          return entries;
        }
      }
    }
    return entries;
  }
}

/** A service that takes the hosts of one token. */
export async function fakeService() {
  const server = createServer((_, res) => res.writeHead(404).end());
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => HOST_PROTOCOL });
  const lines: Line[] = [];
  const waiting: ((line: Line) => void)[] = [];
  let refusal = 0,
    refusalMs = 0;
  sockets.on('headers', (headers) => {
    headers.push(`${HOST_ID_HEADER}: hst_test`, `${HOST_NAME_HEADER}: Test%20host`);
  });
  server.on('upgrade', (req, socket, head) => {
    const status = refusal || (req.headers.authorization === `Bearer ${TOKEN}` ? 0 : 401);
    const words = `HTTP/1.1 ${status} No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`;
    if (status) return setTimeout(() => socket.end(words), refusalMs);
    return sockets.handleUpgrade(req, socket, head, (ws) => {
      const line = new Line(ws);
      const wake = waiting.shift();
      if (wake) wake(line);
      else lines.push(line);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The next connection that was not taken yet. */
    line: (): Promise<Line> => {
      const line = lines.shift();
      return line ? Promise.resolve(line) : new Promise((resolve) => waiting.push(resolve));
    },
    /** Nobody waits for a connection any more. */
    giveUp() {
      waiting.length = 0;
    },
    /** From now on this status instead of 101, after so long; 0 for none. */
    refuse(status: number, afterMs = 0) {
      refusal = status;
      refusalMs = afterMs;
    },
    close() {
      for (const socket of sockets.clients) socket.terminate();
      server.close();
      server.closeAllConnections();
    },
  };
}
