/** Answers a visitor where no preview can. */
import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ApiError } from '../http/errors.ts';

/**
 * Sends browsers a page, which reloads itself while the preview starts, and everybody else the error's usual
 * shape.
 */
export function refuseRequest(request: IncomingMessage, response: ServerResponse, error: ApiError): void {
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
    'x-content-type-options': 'nosniff',
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}

export function refuseUpgrade(socket: Duplex, error: ApiError): void {
  const body = JSON.stringify(error.body(randomUUID()));
  socket.end(
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
