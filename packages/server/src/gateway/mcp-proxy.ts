/**
 * Calls of a run's agent to its MCP servers (streamable HTTP). Only MCP's headers pass, in both directions;
 * the server's stored headers are added here, so that they are in no sandbox. The answer is relayed as it
 * arrives, as fast as the agent reads it.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { PrivateAddressError } from '@headrace/runner/addresses';
import { Agent, request } from 'undici';
import type { Dispatcher } from 'undici';
import type { Context } from '../context.ts';
import type { RunRow } from '../db/schema.ts';
import { mcpTarget } from '../mcp-servers/index.ts';
import { publicConnector } from '../public-connector.ts';
import { McpFailure, readBody, refuse, requestHeaders, responseHeaders } from './mcp-proxy-message.ts';

const CONNECT_MS = 10_000;
/** A tool may work for long before it answers; a client reconnects to a silent stream of notifications. */
const LIMITS = { headersTimeout: 5 * 60_000, bodyTimeout: 15 * 60_000 };
/** One agent's calls and streams at once, to all its servers. */
const OPEN_OF_RUN = 64;
const METHODS = ['POST', 'GET', 'DELETE'];

interface Asked {
  /** The run that the gateway has authenticated. */
  run: Pick<RunRow, 'id' | 'org_id' | 'project_id'>;
  serverId: string;
  /** Milliseconds until an answer begins, and between its parts. */
  limits?: typeof LIMITS;
}

const open = new Map<string, number>();
/** By whether private addresses are allowed. Neither follows redirects. */
const dispatchers = new Map<boolean, Agent>();

function dispatcher(allowPrivate: boolean): Agent {
  const known = dispatchers.get(allowPrivate);
  if (known) return known;
  const made = new Agent({ connect: allowPrivate ? { timeout: CONNECT_MS } : publicConnector(CONNECT_MS) });
  dispatchers.set(allowPrivate, made);
  return made;
}

/**
 * Answers `req` on `res` in any case; resolves when the answer has ended. A call ends with the agent's
 * connection, and with the process.
 */
export async function proxyMcp(
  ctx: Pick<Context, 'db' | 'secretKey' | 'log' | 'config' | 'shutdown'>,
  { run, serverId, limits = LIMITS }: Asked,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  // An abort costs an exception with its stack, so there is none where the answer has ended.
  res.once('close', () => {
    if (!res.writableFinished) gone.abort();
  });
  const count = (open.get(run.id) ?? 0) + 1;
  open.set(run.id, count);
  try {
    if (!METHODS.includes(req.method!))
      throw new McpFailure(405, 'method_not_allowed', 'MCP takes POST, GET and DELETE.');
    if (count > OPEN_OF_RUN)
      throw new McpFailure(
        429,
        'rate_limited',
        `A run has at most ${OPEN_OF_RUN} calls of MCP servers at once.`,
      );
    await relay(
      ctx,
      { run, serverId, limits },
      { req, res, signal: AbortSignal.any([gone.signal, ctx.shutdown]) },
    );
  } catch (error) {
    const failure = error instanceof McpFailure ? error : failureOf(error);
    // Causes may contain addresses and a server's words: only their kind is logged.
    if (!gone.signal.aborted && failure.status >= 500)
      ctx.log.warn(
        { runId: run.id, mcpServerId: serverId, status: failure.status, reason: codeOf(error) },
        'a call of an MCP server failed',
      );
    refuse(res, failure);
  } finally {
    if (open.get(run.id) === 1) open.delete(run.id);
    else open.set(run.id, open.get(run.id)! - 1);
  }
}

async function relay(
  ctx: Pick<Context, 'db' | 'secretKey' | 'config'>,
  { run, serverId, limits }: Required<Asked>,
  { req, res, signal }: { req: IncomingMessage; res: ServerResponse; signal: AbortSignal },
): Promise<void> {
  const server = await mcpTarget(ctx, { org_id: run.org_id, id: run.project_id }, serverId);
  if (!server) throw new McpFailure(404, 'mcp_server_not_found', 'This run has no such MCP server.');
  const body = req.method === 'POST' ? await readBody(req) : null;
  const answer = await request(server.url, {
    ...limits,
    method: req.method as Dispatcher.HttpMethod,
    body,
    signal,
    dispatcher: dispatcher(ctx.config.mcpAllowPrivate),
    headers: { ...requestHeaders(req.headers), ...server.headers },
  });
  const refusal = refusalOf(answer.statusCode);
  if (refusal) {
    // A short body is read to its end, so that the connection can be used again.
    await answer.body.dump({ limit: 65_536, signal }).catch(() => undefined);
    throw refusal;
  }
  res.writeHead(answer.statusCode, responseHeaders(answer.headers));
  // Events may take long; any other body is sent together with its headers.
  if (isStream(answer.headers)) res.flushHeaders();
  // A stream that breaks is cut for the agent as well: pipeline destroys both.
  await pipeline(answer.body, res).catch(() => undefined);
}

/** Answers that only the service can act on: the agent has no other address and no other credential to try. */
function refusalOf(status: number): McpFailure | null {
  if (status === 401)
    return new McpFailure(
      502,
      'mcp_server_unauthorized',
      'The MCP server refused its stored headers. Somebody has to set them anew.',
    );
  if (status >= 300 && status < 400)
    return new McpFailure(
      502,
      'mcp_server_redirects',
      'The MCP server redirects, which is not followed. Somebody has to set its final URL.',
    );
  return null;
}

const isStream = (headers: IncomingHttpHeaders) =>
  /^text\/event-stream/i.test(String(headers['content-type']));
const codeOf = (error: unknown) => (error as { code?: string }).code ?? (error as Error).name;

function failureOf(error: unknown): McpFailure {
  if (error instanceof PrivateAddressError)
    return new McpFailure(
      502,
      'mcp_server_refused',
      'The MCP server has a loopback, private, link-local or metadata address, which is not allowed.',
    );
  if (/TIMEOUT/.test(codeOf(error)))
    return new McpFailure(504, 'mcp_server_timeout', 'The MCP server did not answer in time.');
  return new McpFailure(502, 'mcp_server_unavailable', 'The MCP server cannot be reached.');
}
