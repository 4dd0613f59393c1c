/**
 * Passes calls on to the hosts whose connections this process holds: whatever drives work asks here. A process of this
 * machine asks over a unix socket; with certificates, workers and other api processes ask over mTLS, wherever they are.
 * Runners have no business here. A path begins with the id of the host, or of one of its connections.
 */
import { chmodSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { constants } from 'node:http2';
import type { ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { FENCE_HEADER, SIGN_OF_LIFE_MS } from '@headrace/runner/protocol';
import { addressText, createTlsServer, TlsCredentials } from '@headrace/runner/tls';
import type { Context } from '../context.ts';
import type { MachinesConfig } from '../machines-config.ts';
import { socketFolder, socketName } from '../runner/socket-folder.ts';
import type { HostConnection } from './connection.ts';

/** Until an answer begins: a worktree of a large repository, or its capture, takes time. */
const ANSWER_MS = 5 * 60_000;
/** Within an answer. A journal shows a sign of life. */
const SILENT_MS = 4 * SIGN_OF_LIFE_MS;
/** Of an answer in JSON, or a line of a journal. */
const ANSWER_BYTES = 64 * 1024 ** 2;

type Find = (id: string) => HostConnection | undefined;

interface Relay {
  /** For this process. */
  socket: string;
  /** For all others: the socket's path, or `host:port` over mTLS. */
  place: string;
  close(): Promise<void>;
}

export type RelayContext = Pick<Context, 'config' | 'processId' | 'log'>;

/** The socket of a process with this data folder. */
export const relaySocket = ({ config: { dataDir }, processId }: Pick<Context, 'config' | 'processId'>) =>
  join(socketFolder(dataDir), `${socketName(dataDir)}.${processId.slice(-12)}.hosts`);

export async function startRelay(ctx: RelayContext, find: Find): Promise<Relay> {
  const { machines } = ctx.config;
  const socket = relaySocket(ctx);
  // First: where its port is taken, nothing else has begun.
  const far = machines && (await startFar(ctx, machines, find));
  rmSync(socket, { force: true });
  const server = createServer({ requestTimeout: 0 }, (req, res) => pass(find, req, res));
  await listening(server, (ready) => server.listen(socket, ready));
  chmodSync(socket, 0o600);
  return {
    socket,
    place: machines ? machines.api.address : socket,
    async close() {
      await Promise.all([server, ...(far ? [far] : [])].map(closed));
      rmSync(socket, { force: true });
    },
  };
}

async function startFar({ log }: RelayContext, { tls, api }: MachinesConfig, find: Find) {
  const server = createTlsServer(
    {
      tls: new TlsCredentials(tls),
      roles: ['worker', 'api'],
      requestTimeout: 0,
      onRefused: (reason) => log.warn({ reason }, 'a peer was refused at the listener for hosts'),
    },
    (req, res) => pass(find, req, res),
  );
  await listening(server, (ready) => server.listen(api.listen.port, api.listen.host, ready));
  log.info({ address: addressText(api.listen) }, 'listening for calls to hosts');
  return server;
}

const listening = (server: Server, listen: (ready: () => void) => void) =>
  new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    listen(resolve);
  });

function closed(server: Server): Promise<unknown> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(resolve));
}

function pass(find: Find, req: IncomingMessage, res: ServerResponse): void {
  const [, id = '', path = ''] = /^\/([^/]+)(\/.*)$/.exec(req.url ?? '') ?? [];
  const connection = find(id);
  req.on('error', () => res.destroy());
  res.on('error', () => req.destroy());
  if (!connection || connection.over.signal.aborted) return refuse(res);
  const passed = ['content-type', FENCE_HEADER].flatMap((name) =>
    req.headers[name] === undefined ? [] : [[name, req.headers[name]]],
  );
  const stream = connection.session.request({
    [constants.HTTP2_HEADER_METHOD]: req.method,
    [constants.HTTP2_HEADER_PATH]: path,
    ...Object.fromEntries(passed),
  });
  // A connection that was ended on purpose has still to say why, so its streams are left alone.
  const over = () => refuse(res);
  connection.over.signal.addEventListener('abort', over, { once: true });
  res.once('close', () => {
    connection.over.signal.removeEventListener('abort', over);
    if (!connection.over.signal.aborted) stream.close(constants.NGHTTP2_CANCEL);
  });
  stream.on('error', () => refuse(res));
  stream.setTimeout(ANSWER_MS, () => refuse(res));
  stream.once('response', (headers) => answer(stream, headers, res));
  pipeline(req, stream, (error) => {
    if (error) refuse(res);
  });
}

function answer(stream: ClientHttp2Stream, headers: IncomingHttpHeaders, res: ServerResponse): void {
  if (res.headersSent) return;
  const type = headers['content-type'];
  stream.setTimeout(SILENT_MS, () => res.destroy());
  if (type?.includes('json')) bound(stream, res, type.includes('ndjson'));
  res.writeHead(
    Number(headers[constants.HTTP2_HEADER_STATUS]),
    type === undefined ? {} : { 'content-type': type },
  );
  res.flushHeaders();
  stream.pipe(res);
  // An answer that breaks off is not taken for a whole one.
  stream.once('close', () => {
    if (!res.writableEnded) res.destroy();
  });
}

/** Whoever reads it keeps it in memory, or of lines one at a time. */
function bound(stream: ClientHttp2Stream, res: ServerResponse, isLines: boolean): void {
  let bytes = 0;
  stream.on('data', (part: Buffer) => {
    const end = isLines ? part.lastIndexOf(0x0a) : -1;
    bytes = end < 0 ? bytes + part.length : part.length - end - 1;
    if (bytes > ANSWER_BYTES) res.destroy();
  });
}

function refuse(res: ServerResponse): void {
  if (res.headersSent) return void res.destroy();
  const error = { code: 'unavailable', message: 'The host is away.' };
  res.writeHead(503, { 'content-type': 'application/json', connection: 'close' });
  res.end(JSON.stringify({ error }));
}
