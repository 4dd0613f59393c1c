/**
 * A closed loop of requests over keep-alive connections. On bare sockets: a client as costly as the server
 * would take half of a small machine, and make every server look alike.
 */
import { connect } from 'node:net';

const LENGTH = /\r\ncontent-length: ?(\d+)/i;

interface LoadRequest {
  method: 'GET' | 'PATCH';
  path: string;
  headers: Record<string, string>;
  body?: object;
}

/**
 * Requests a second over `seconds`, with one request under way on each of `connections`. Throws on any
 * status but 200.
 */
export async function load(
  base: string,
  makeRequest: (connection: number) => LoadRequest,
  connections: number,
  seconds: number,
): Promise<number> {
  const { hostname, port, host } = new URL(base);
  const from = performance.now();
  const until = from + seconds * 1000;
  const counts = await Promise.all(
    Array.from({ length: connections }, (_, i) =>
      one(hostname, Number(port), () => wire(host, makeRequest(i)), until),
    ),
  );
  return counts.reduce((sum, count) => sum + count, 0) / ((performance.now() - from) / 1000);
}

function wire(host: string, { method, path, headers, body }: LoadRequest): string {
  const text = body === undefined ? '' : JSON.stringify(body);
  const all = {
    host,
    ...headers,
    ...(body === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) }),
  };
  return `${method} ${path} HTTP/1.1\r\n${Object.entries(all)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n${text}`;
}

/** One connection's answers until the time is over. */
function one(host: string, port: number, request: () => string, until: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true });
    let count = 0;
    let rest = '';
    socket.setEncoding('latin1').setTimeout(10_000, () => socket.destroy(new Error('no answer within 10 s')));
    socket
      .once('connect', () => socket.write(request()))
      .once('error', reject)
      .once('close', () => reject(new Error('the connection was closed')));
    socket.on('data', (part: string) => {
      rest += part;
      const head = rest.indexOf('\r\n\r\n');
      if (head < 0) return;
      const length = Number(LENGTH.exec(rest.slice(0, head))?.[1] ?? Number.NaN);
      if (!rest.startsWith('HTTP/1.1 200 ') || Number.isNaN(length))
        return void socket.destroy(new Error(`unexpected answer: ${rest.slice(0, 300)}`));
      if (rest.length < head + 4 + length) return;
      rest = '';
      count++;
      if (performance.now() < until) return void socket.write(request());
      resolve(count);
      socket.destroy();
    });
  });
}
