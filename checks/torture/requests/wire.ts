/**
 * HTTP/1.1 over bare sockets: requests that no client would send go out byte by byte, and nothing of an
 * answer is mended on its way in. Sockets are kept alive and used in turn; one that was sent a broken
 * request is never used again.
 */
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Request {
  method: string;
  /** The path with its query, as it goes out. */
  target: string;
  headers: [name: string, value: string][];
  body?: Buffer;
  /** Sent in place of all that is above. */
  raw?: Buffer;
  /** Ends the sending side behind the request. */
  halfClose?: boolean;
}

export interface Answer {
  status: number;
  /** By name in lower case. */
  headers: Map<string, string[]>;
  body: Buffer;
  /** Why there is no (whole) answer. */
  fault?: string;
}

export interface Wire {
  send(request: Request): Promise<Answer>;
  close(): void;
}

const LIMIT_MS = 60_000;
/** An event stream with nothing to replay says nothing more for 15 seconds. */
const STREAM_MS = 250;
const LONGEST_BODY = 256 * 1024 * 1024;

export function openWire(base: string): Wire {
  const { hostname, port, host } = new URL(base);
  const idle: Socket[] = [];
  const all = new Set<Socket>();

  async function opened(): Promise<Socket> {
    for (let socket = idle.pop(); socket; socket = idle.pop()) if (!socket.destroyed) return socket;
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    all.add(socket);
    socket.once('close', () => all.delete(socket)).on('error', () => {});
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve).once('error', reject);
    });
    return socket;
  }

  return {
    async send(request) {
      const isBroken = request.raw !== undefined || request.halfClose === true;
      const bytes = request.raw ?? bytesOf(request, host);
      // A kept-alive socket may be closed just as it is used; only then nothing has come of the answer.
      for (let attempt = 1; ; attempt++) {
        const socket = await opened();
        const { answer, isReusable } = await exchange(
          socket,
          bytes,
          request.method,
          request.halfClose ?? false,
        );
        if (isReusable && !isBroken) idle.push(socket);
        else socket.destroy();
        if (answer.status !== 0 || isBroken || attempt === 3) return answer;
        await sleep(20);
      }
    },
    close() {
      for (const socket of all) socket.destroy();
    },
  };
}

function bytesOf({ method, target, headers, body }: Request, host: string): Buffer {
  const named = new Set(headers.map(([name]) => name.toLowerCase()));
  const own: [string, string][] = [
    ['host', host],
    ...(body !== undefined && !named.has('content-length') && !named.has('transfer-encoding')
      ? [['content-length', String(body.length)] as [string, string]]
      : []),
  ];
  const lines = [...own, ...headers].map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.concat([
    Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines}\r\n`, 'latin1'),
    body ?? Buffer.alloc(0),
  ]);
}

/** Sends the bytes and reads one answer. */
function exchange(
  socket: Socket,
  bytes: Buffer,
  method: string,
  halfClose: boolean,
): Promise<{ answer: Answer; isReusable: boolean }> {
  return new Promise((resolve) => {
    let received = Buffer.alloc(0);
    let head: { answer: Answer; start: number } | undefined;
    let streamTimer: NodeJS.Timeout | undefined;
    const limit = setTimeout(() => done(`no whole answer within ${LIMIT_MS / 1000} s`), LIMIT_MS);
    const done = (fault?: string, isReusable = false) => {
      clearTimeout(limit);
      clearTimeout(streamTimer);
      socket.off('data', take).off('close', closed).off('end', closed);
      const answer = head?.answer ?? { status: 0, headers: new Map(), body: Buffer.alloc(0) };
      resolve({ answer: fault === undefined ? answer : { ...answer, fault }, isReusable });
    };
    const look = () => {
      head ??= readHead(received);
      if (!head) return;
      const { answer, start } = head;
      const rest = received.subarray(start);
      // A feed goes on for ever; what streams the answer to a write ends.
      if (method === 'GET' && answer.headers.get('content-type')?.[0]?.startsWith('text/event-stream')) {
        answer.body = dechunked(rest).body;
        if (answer.body.toString().split('\n\n').length > 3) return done();
        streamTimer ??= setTimeout(() => done(), STREAM_MS);
        return;
      }
      const end = bodyEnd(answer, method, rest);
      if (end) {
        answer.body = end.body;
        done(
          end.fault,
          !answer.headers.get('connection')?.some((value) => value.toLowerCase() === 'close') && end.isWhole,
        );
      }
    };
    const take = (part: Buffer) => {
      received = Buffer.concat([received, part]);
      if (received.length > LONGEST_BODY) return done('an answer without end');
      look();
    };
    const closed = () => {
      if (
        head &&
        !head.answer.headers.has('content-length') &&
        !head.answer.headers.has('transfer-encoding')
      ) {
        head.answer.body = received.subarray(head.start);
        return done();
      }
      done(
        head ? 'the connection was closed within the answer' : 'the connection was closed without an answer',
      );
    };
    socket.on('data', take).once('close', closed).once('end', closed);
    socket.write(bytes);
    if (halfClose) socket.end();
  });
}

/** The head of the first answer that is none of 1xx. */
function readHead(received: Buffer): { answer: Answer; start: number } | undefined {
  let from = 0;
  for (;;) {
    const end = received.indexOf('\r\n\r\n', from);
    if (end < 0) return undefined;
    const [statusLine, ...lines] = received.toString('latin1', from, end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine!)?.[1] ?? Number.NaN);
    const headers = new Map<string, string[]>();
    for (const line of lines) {
      const colon = line.indexOf(':');
      const name = line.slice(0, colon).toLowerCase();
      headers.set(name, [...(headers.get(name) ?? []), line.slice(colon + 1).trim()]);
    }
    from = end + 4;
    if (status < 100 || status >= 200)
      return { answer: { status, headers, body: Buffer.alloc(0) }, start: from };
  }
}

function bodyEnd(
  answer: Answer,
  method: string,
  rest: Buffer,
): { body: Buffer; isWhole: boolean; fault?: string } | undefined {
  if (method === 'HEAD' || answer.status === 204 || answer.status === 304)
    return {
      body: Buffer.alloc(0),
      isWhole: rest.length === 0,
      ...(rest.length ? { fault: 'a body where there is none' } : {}),
    };
  const length = answer.headers.get('content-length')?.[0];
  if (length !== undefined)
    return rest.length < Number(length)
      ? undefined
      : { body: rest.subarray(0, Number(length)), isWhole: rest.length === Number(length) };
  if (!answer.headers.get('transfer-encoding')?.includes('chunked')) return undefined;
  const { body, isWhole } = dechunked(rest);
  return isWhole ? { body, isWhole } : undefined;
}

function dechunked(rest: Buffer): { body: Buffer; isWhole: boolean } {
  const pieces: Buffer[] = [];
  for (let at = 0; ;) {
    const line = rest.indexOf('\r\n', at);
    const size = line < 0 ? Number.NaN : Number.parseInt(rest.toString('latin1', at, line), 16);
    if (Number.isNaN(size) || rest.length < line + 2 + size + 2)
      return { body: Buffer.concat(pieces), isWhole: false };
    if (size === 0) return { body: Buffer.concat(pieces), isWhole: true };
    pieces.push(rest.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
}
