import { request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';

/** Headers of one hop, and those that this proxy writes itself (RFC 9110, 7.6.1). */
const HOP = new Set([
  'connection',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The headers that are passed on, as a flat list of names and values. */
function passedOn({ rawHeaders }: IncomingMessage): string[] {
  return rawHeaders.flatMap((name, i) => {
    const isOurs = HOP.has(name.toLowerCase()) || /^proxy-/i.test(name);
    return i % 2 === 1 || isOurs ? [] : [name, rawHeaders[i + 1]!];
  });
}

/**
 * Passes one request in absolute form on to the server that `outside` is connected to, and its answer back.
 * Both connections end with it. `onFailure` is called when the server gives no answer,
 * or none that can be passed on.
 */
export function forward(
  { req, res, url }: { req: IncomingMessage; res: ServerResponse; url: URL },
  outside: Socket,
  onFailure: () => void,
): void {
  const isChunked = req.headers['transfer-encoding'] !== undefined;
  const headers = ['Host', url.host, 'Connection', 'close', ...passedOn(req)];
  const passed = request({
    createConnection: () => outside,
    method: req.method,
    path: url.pathname + url.search,
    headers: isChunked ? [...headers, 'Transfer-Encoding', 'chunked'] : headers,
  });
  res.once('close', () => outside.destroy());
  passed.once('response', (answer) => {
    try {
      res.writeHead(answer.statusCode!, answer.statusMessage, [...passedOn(answer), 'Connection', 'close']);
    } catch {
      // Node reads answers that it does not write: status 099, control characters in the reason phrase.
      outside.destroy();
      return onFailure();
    }
    pipeline(answer, res, () => {
      /* either end may leave; the other one closes with it */
    });
  });
  passed.once('error', () => {
    if (res.headersSent) res.destroy();
    else onFailure();
  });
  pipeline(req, passed, () => {
    /* `error` says it */
  });
}
