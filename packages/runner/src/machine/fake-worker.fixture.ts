import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import type { Forget, RegistrationRequest } from '../registration.ts';
import { createTlsServer, TlsCredentials, type TlsFiles } from '../tls/index.ts';

export const NOTHING: Forget = { tasks: [], workspaces: [], groups: [] };

/** A worker's listener for runners, which says what it is told to say. */
export interface FakeWorker {
  port: number;
  /** Each registration, the newest last. */
  calls: { bootId: string; request: RegistrationRequest }[];
  /** Ids that said goodbye. */
  left: string[];
  leaseSeconds: number;
  /** For the next answers. */
  forget: Forget;
  /** Instead of an acceptance. */
  refusal: { status: number; code: string } | null;
  /** What comes through the gateway: the connections after their upgrade. */
  onGateway: (socket: Socket) => void;
}

export async function fakeWorker(files: TlsFiles, leaseSeconds = 60): Promise<FakeWorker> {
  const worker: FakeWorker = {
    port: 0,
    calls: [],
    left: [],
    leaseSeconds,
    forget: NOTHING,
    refusal: null,
    onGateway: (socket) => socket.destroy(),
  };
  const server = createTlsServer({ tls: new TlsCredentials(files), roles: ['runner'] }, (req, res) => {
    void (async () => {
      const bootId = req.url!.slice('/runners/'.length);
      const body = await text(req);
      const { refusal } = worker;
      if (req.method === 'DELETE') {
        worker.left.push(bootId);
        return void res.writeHead(204).end();
      }
      if (refusal)
        return void res
          .writeHead(refusal.status)
          .end(JSON.stringify({ error: { code: refusal.code, message: 'It refuses.' } }));
      worker.calls.push({ bootId, request: JSON.parse(body) as RegistrationRequest });
      res.end(JSON.stringify({ leaseSeconds: worker.leaseSeconds, forget: worker.forget }));
    })();
  });
  server.on('upgrade', (_req, socket: Socket) => {
    socket.on('error', () => socket.destroy());
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: tcp\r\n\r\n');
    worker.onGateway(socket);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  worker.port = (server.address() as AddressInfo).port;
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return worker;
}

/** A TCP proxy that can lose every packet from one moment on, without ending a connection. */
export interface Partition {
  port: number;
  isCut: boolean;
}

export async function partition(port: number): Promise<Partition> {
  const sockets = new Set<Socket>();
  const cut: Partition = { port: 0, isCut: false };
  const server: Server = createServer((one) => {
    const other = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [one, other],
      [other, one],
    ] as const) {
      sockets.add(from);
      from
        .on('data', (part) => {
          if (!cut.isCut) to.write(part);
        })
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(from);
          if (!cut.isCut) to.destroy();
        });
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  cut.port = (server.address() as AddressInfo).port;
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return cut;
}

/** A port of this machine that nothing listens on. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
