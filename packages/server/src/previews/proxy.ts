/**
 * Previews by Host name, on the service's own listener: `<token>.<preview domain>`. Every path under such a
 * name is the preview's. One connection to the sandbox per request: what one visitor sends can never be
 * read as another's.
 */
import { randomUUID } from 'node:crypto';
import { request as httpRequest, STATUS_CODES } from 'node:http';
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Context } from '../context.ts';
import { ApiError, notFound } from '../http/errors.ts';
import type { PreviewProxy } from '../http/server.ts';
import { previewFinder } from './find-preview.ts';
import type { Shown } from './find-preview.ts';
import { toPreview, toVisitor } from './proxy-headers.ts';

/**
 * A server that says nothing for so long is taken for dead: before its answer, and within it (event streams
 * pause).
 */
const PATIENCE = { answerMs: 120_000, idleMs: 15 * 60_000 };
/** An open WebSocket may be silent; a visitor who is gone without a word is found by this. */
const KEEPALIVE_MS = 30_000;
/** Connections that one preview may have through this process. */
const MAX_OPEN = 256;
const TOKEN = /^[0-9a-hjkmnp-tv-z]{26}$/;

export function createPreviewProxy(ctx: Context, { answerMs, idleMs } = PATIENCE): PreviewProxy {
  const suffix = `.${ctx.config.previewDomain.toLowerCase()}`;
  const find = previewFinder(ctx);
  const open = new Map<string, number>();
  const ends = new Set<() => void>();
  // A stream to a visitor would keep the listener from closing.
  ctx.shutdown.addEventListener('abort', () => {
    for (const end of ends) end();
  });

  function tokenOf({ headers }: IncomingMessage): string | undefined {
    const host = (headers.host ?? '').toLowerCase().replace(/:\d*$/, '');
    const token = host.slice(0, -suffix.length);
    return host.endsWith(suffix) && TOKEN.test(token) ? token : undefined;
  }

  /** The preview that serves this request, and a connection to it. Throws ApiError. */
  async function connect(request: IncomingMessage): Promise<{ preview: Shown; upstream: Duplex }> {
    const preview = await find(tokenOf(request)!).catch((cause: unknown) => {
      throw new ApiError('unavailable', 'The database is away. Retry in a moment.', { cause });
    });
    if (!preview || preview.status === 'stopped') throw notFound('preview');
    if (preview.status === 'starting')
      throw new ApiError('unavailable', 'The preview is starting. Retry in a moment.', {
        headers: { 'retry-after': '1' },
      });
    if (preview.status === 'failed')
      throw new ApiError(
        'bad_gateway',
        'The preview has failed. Read it for its error, and create a new one.',
      );
    const count = open.get(preview.id) ?? 0;
    if (count >= MAX_OPEN)
      throw new ApiError('unavailable', 'This preview has too many open connections. Close some.', {
        headers: { 'retry-after': '1' },
      });
    open.set(preview.id, count + 1);
    const left = () => {
      const now = open.get(preview.id)! - 1;
      if (now) open.set(preview.id, now);
      else open.delete(preview.id);
    };
    try {
      const upstream = await ctx.runner.connect(preview.id);
      upstream.once('close', left);
      upstream.on('error', () => upstream.destroy());
      return { preview, upstream };
    } catch (cause) {
      left();
      throw new ApiError('bad_gateway', "The preview's server does not answer on its port.", { cause });
    }
  }

  function ask(request: IncomingMessage, upstream: Duplex, isUpgrade: boolean): ClientRequest {
    return httpRequest({
      method: request.method,
      path: pathOf(request.url!),
      headers: toPreview(request, { isUpgrade }),
      createConnection: () => upstream,
      setHost: false,
    });
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { preview, upstream } = await connect(request);
    if (response.destroyed) return void upstream.destroy();
    const end = () => {
      upstream.destroy();
      response.destroy();
      request.destroy();
    };
    ends.add(end);
    response.once('close', () => {
      upstream.destroy();
      // What is left of a body that the answer did not wait for is read and dropped: the connection would
      // stay as it is, for the next request and for the listener's end.
      request.unpipe().resume();
      if (request.complete || request.closed) ends.delete(end);
      else request.once('close', () => ends.delete(end));
    });
    const asked = ask(request, upstream, false);
    const dead = () => {
      upstream.destroy();
      if (response.headersSent) response.destroy();
      else
        refuse(request, response, new ApiError('bad_gateway', "The preview's server broke its answer off."));
    };
    asked.setTimeout(answerMs, dead);
    // An answer that is no answer to this request (an upgrade nobody asked for) ends in `close` without
    // `response`.
    asked.once('error', dead).once('close', () => {
      if (!response.headersSent) dead();
    });
    asked.once('response', (answer) => {
      asked.setTimeout(idleMs, dead);
      answer.once('error', dead).once('aborted', dead);
      try {
        response.writeHead(answer.statusCode!, toVisitor(answer, preview.frameAncestors));
      } catch {
        return dead();
      }
      answer.pipe(response);
    });
    // The body may be long in coming, or wait for the answer: Node would keep the head back for its first
    // bytes.
    if (request.headers['content-length'] ?? request.headers['transfer-encoding']) asked.flushHeaders();
    request.pipe(asked);
  }

  async function pass(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { preview, upstream } = await connect(request);
    if (socket.destroyed) return void upstream.destroy();
    const end = () => {
      upstream.destroy();
      socket.destroy();
    };
    ends.add(end);
    socket.once('close', () => {
      ends.delete(end);
      upstream.destroy();
    });
    upstream.once('close', () => socket.end());
    const asked = ask(request, upstream, true);
    asked.setTimeout(answerMs, end);
    asked.once('error', end);
    asked.once('upgrade', (answer, inside, first) => {
      asked.setTimeout(0);
      if (socket instanceof Socket) socket.setKeepAlive(true, KEEPALIVE_MS);
      socket.write(
        headOf(answer, { ...toVisitor(answer, null), connection: ['Upgrade'], upgrade: ['websocket'] }),
        'latin1',
      );
      if (first.length) socket.write(first);
      if (head.length) inside.write(head);
      socket.pipe(inside).pipe(socket);
    });
    // Refused: its answer as it is, and then an end, so that nothing further on this connection is read as
    // the preview's.
    asked.once('response', (answer) => {
      answer.once('error', end);
      socket.write(
        headOf(answer, { ...toVisitor(answer, preview.frameAncestors), connection: ['close'] }),
        'latin1',
      );
      answer.pipe(socket);
    });
    asked.end();
  }

  return {
    handles: (request) => tokenOf(request) !== undefined,
    request(request, response) {
      request.on('error', () => response.destroy());
      response.on('error', () => response.destroy());
      serve(request, response).catch((error: unknown) => refuse(request, response, asApiError(ctx, error)));
    },
    upgrade(request, socket, head) {
      socket.on('error', () => socket.destroy());
      pass(request, socket, head).catch((error: unknown) => {
        const api = asApiError(ctx, error);
        const body = JSON.stringify(api.body(randomUUID()));
        socket.end(
          `HTTP/1.1 ${api.status} ${STATUS_CODES[api.status]}\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
        );
      });
    },
  };
}

/** A request may name its target in full: the Host header has decided already. */
const pathOf = (url: string) => url.replace(/^https?:\/\/[^/?#]*/i, '').replace(/^(?!\/)/, '/');

const headOf = (answer: IncomingMessage, headers: Record<string, string[]>) =>
  `HTTP/1.1 ${answer.statusCode} ${STATUS_CODES[answer.statusCode!] ?? 'Unknown'}\r\n${Object.entries(headers)
    .flatMap(([name, values]) => values.map((value) => `${name}: ${value}\r\n`))
    .join('')}\r\n`;

function asApiError(ctx: Context, error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  ctx.log.error({ err: error }, 'a visit to a preview failed');
  return new ApiError('internal', 'Something failed on our side. Retry in a moment.', { cause: error });
}

/**
 * A page for a browser, which looks again by itself while the preview starts; the error's usual shape for
 * all others.
 */
function refuse(request: IncomingMessage, response: ServerResponse, error: ApiError): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  // An unread body would be taken for the next request.
  if (!request.complete) response.setHeader('connection', 'close');
  const isPage = (request.headers.accept ?? '').includes('text/html');
  const refresh = error.headers['retry-after'] ? '<meta http-equiv="refresh" content="1">' : '';
  const body = isPage
    ? `<!doctype html><meta charset="utf-8">${refresh}<title>Preview</title><p>${error.message}</p>\n`
    : JSON.stringify(error.body(randomUUID()));
  response.writeHead(error.status, {
    ...error.headers,
    'content-type': isPage ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}
