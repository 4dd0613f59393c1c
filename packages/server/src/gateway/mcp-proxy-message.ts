/** The headers and bodies of MCP calls that pass, and the answer to those that do not. */
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';

const MAX_BODY_BYTES = 4 * 1024 * 1024;
const BODY_MS = 60_000;

/**
 * MCP's headers, with those that later versions add (`mcp-…`). No credentials, no cookies, no headers of the
 * connection.
 */
const isOfMcp = (name: string) =>
  name === 'accept' || name === 'content-type' || name === 'last-event-id' || name.startsWith('mcp-');
const isAnswered = (name: string) =>
  name === 'content-type' ||
  name === 'content-encoding' ||
  name === 'cache-control' ||
  name.startsWith('mcp-');

function passing(headers: IncomingHttpHeaders, passes: (name: string) => boolean): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      passes(name) && value !== undefined ? [[name, Array.isArray(value) ? value[0]! : value]] : [],
    ),
  );
}

/** Nothing is compressed on the way: events would wait in the compressor. */
export const requestHeaders = (headers: IncomingHttpHeaders): Record<string, string> => ({
  ...passing(headers, isOfMcp),
  'accept-encoding': 'identity',
  'user-agent': 'headrace',
});
export const responseHeaders = (headers: IncomingHttpHeaders): OutgoingHttpHeaders =>
  passing(headers, isAnswered);

/** Answered with its status and, as JSON, its code and message. */
export class McpFailure extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** The whole body, at most 4 MiB, within a minute. */
export async function readBody(req: IncomingMessage): Promise<Buffer> {
  const tooLarge = () =>
    new McpFailure(413, 'request_too_large', `An MCP message has at most ${MAX_BODY_BYTES} bytes.`);
  if (Number(req.headers['content-length'] ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  const timer = setTimeout(() => req.destroy(), BODY_MS);
  try {
    const parts: Buffer[] = [];
    let size = 0;
    // The connection stays open, so that the agent can be answered that this is too large.
    for await (const part of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += part.length;
      if (size > MAX_BODY_BYTES) throw tooLarge();
      parts.push(part);
    }
    return Buffer.concat(parts);
  } finally {
    clearTimeout(timer);
  }
}

/** Refuses the call; an answer that has started is cut. The connection ends, as a body may still arrive. */
export function refuse(res: ServerResponse, { status, code, message }: McpFailure): void {
  if (res.headersSent) return void res.destroy();
  if (res.destroyed) return;
  res.writeHead(status, {
    'content-type': 'application/json',
    connection: 'close',
    ...(status === 405 ? { allow: 'GET, POST, DELETE' } : {}),
  });
  res.end(JSON.stringify({ ok: false, error: { code, message } }));
}
