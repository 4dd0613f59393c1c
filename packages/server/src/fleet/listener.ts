/**
 * Where runners reach a worker, over mTLS and with the role `runner` alone: they register, and join agents to the model
 * gateway. @headrace/runner/registration has the protocol.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import { BOOT_ID_PATTERN, LEASE_SECONDS, RegistrationRequest, speaks } from '@headrace/runner/registration';
import type { Registration } from '@headrace/runner/registration';
import { addressText, createTlsServer, TlsCredentials } from '@headrace/runner/tls';
import { Compile } from 'typebox/schema';
import type { Context } from '../context.ts';
import type { MachinesConfig } from '../machines-config.ts';
import { recordLeaving } from '../runner/store.ts';
import { Reports } from './reports.ts';

/** Of a report: a hundred thousand ids have less. */
const MOST_BYTES = 16 * 1024 * 1024;
const REQUEST_MS = 30_000;
const HEADERS_MS = 10_000;
/** Runners report every few seconds, each over one connection: a late report is to find it open. */
const KEEP_ALIVE_MS = 60_000;

const schema = Compile(RegistrationRequest);
const PATH = new RegExp(`^/runners/(${BOOT_ID_PATTERN.slice(1, -1)})$`);

interface Answer {
  status: number;
  body?: object;
}

const refusal = (status: number, code: string, message: string): Answer => ({
  status,
  body: { error: { code, message } },
});

export interface Listener {
  close(): void;
}

/** `accept` takes a connection of a sandbox, which begins with the line that names its task. */
export async function startListener(
  ctx: Context,
  { tls, workerListen }: MachinesConfig,
  accept: (socket: Socket) => void,
): Promise<Listener> {
  const measures = ctx.config.organizationBounds.workspaceBytes !== null;
  const reports = new Reports(ctx.db, measures);
  const server = createTlsServer(
    {
      tls: new TlsCredentials(tls),
      roles: ['runner'],
      requestTimeout: REQUEST_MS,
      headersTimeout: HEADERS_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      onRefused: (reason) => ctx.log.warn({ reason }, 'a peer was refused at the listener for runners'),
    },
    (req, res) => void answer(ctx, reports, req, res),
  );
  server.on('upgrade', (req: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    if (req.url !== '/gateway' || req.headers.upgrade !== 'tcp')
      return void socket.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: tcp\r\n\r\n');
    if (head.length > 0) socket.unshift(head);
    accept(socket as Socket);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(workerListen.port, workerListen.host, resolve);
  });
  ctx.log.info({ address: addressText(workerListen) }, 'listening for runners');
  return {
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function answer(
  ctx: Context,
  reports: Reports,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const { status, body } = await route(ctx, reports, req).catch((err: unknown) => {
    ctx.log.debug({ err }, 'a report of a runner was not recorded');
    return refusal(503, 'unavailable', 'The report was not recorded. Send it again.');
  });
  if (!req.complete) res.setHeader('connection', 'close');
  res.statusCode = status;
  if (body === undefined) res.end();
  else res.setHeader('content-type', 'application/json').end(JSON.stringify(body));
}

async function route(ctx: Context, reports: Reports, req: IncomingMessage): Promise<Answer> {
  const bootId = PATH.exec(req.url ?? '')?.[1];
  if (bootId === undefined || (req.method !== 'PUT' && req.method !== 'DELETE'))
    return refusal(404, 'not_found', 'There is no such route.');
  if (req.method === 'DELETE') {
    await recordLeaving(ctx.db, bootId);
    return { status: 204 };
  }
  const report = await readReport(req);
  if ('status' in report && 'body' in report) return report;
  const request = report as RegistrationRequest;
  if (!speaks(request.protocol))
    return refusal(
      409,
      'unsupported_protocol',
      'No version of the protocol is spoken by both. Run releases that are at most one apart.',
    );
  const forget = await reports.take({ ...request, bootId });
  if (!forget)
    return refusal(409, 'gone', 'The runner counts as gone: it ends all that it has and registers anew.');
  return {
    status: 200,
    body: { leaseSeconds: LEASE_SECONDS, forget, measures: reports.measures } satisfies Registration,
  };
}

async function readReport(req: IncomingMessage): Promise<RegistrationRequest | Answer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of req) {
    bytes += (part as Buffer).length;
    if (bytes > MOST_BYTES) return refusal(413, 'too_large', 'The report is too large.');
    parts.push(part as Buffer);
  }
  let value: unknown;
  try {
    value = JSON.parse(Buffer.concat(parts).toString());
  } catch {
    return refusal(400, 'invalid_request', 'The report is not JSON.');
  }
  if (schema.Check(value)) return value;
  const [fault] = schema.Errors(value)[1];
  return refusal(
    400,
    'invalid_request',
    `${fault?.instancePath ?? ''} ${fault?.message ?? 'is invalid'}`.trim(),
  );
}
