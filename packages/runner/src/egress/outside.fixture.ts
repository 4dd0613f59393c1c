import { connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { onTestFinished } from 'vitest';
import type { Outside } from './outside.ts';
import { testCertificate } from './certificate.fixture.ts';

export const PUBLIC = '93.184.215.14';

/**
 * An internet whose names have the given addresses (`names` may change during a test), and where every
 * connection ends at one port of the loopback.
 */
export interface TestOutside extends Outside {
  names: Record<string, string[] | (() => Promise<string[]>)>;
  asked: string[];
  dialled: { addresses: string[]; port: number }[];
  sockets: Socket[];
}

export function testOutside(port: number, names: TestOutside['names']): TestOutside {
  const outside: TestOutside = {
    names,
    asked: [],
    dialled: [],
    sockets: [],
    async resolve(name) {
      outside.asked.push(name);
      const answer = outside.names[name] ?? [];
      return typeof answer === 'function' ? answer() : answer;
    },
    dial(addresses, to) {
      outside.dialled.push({ addresses, port: to });
      return new Promise((resolve, reject) => {
        const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () => resolve(socket));
        outside.sockets.push(socket);
        socket.once('error', reject);
      });
    },
  };
  return outside;
}

/** A TLS server on the loopback for these names, which passes each connection to `serve`. */
export async function tlsServer(
  names: string[],
  serve: (socket: TLSSocket) => void,
): Promise<{ port: number; cert: string }> {
  const { key, cert } = testCertificate(names);
  const server = createTlsServer({ key, cert }, (socket) =>
    serve(socket.on('error', () => socket.destroy())),
  );
  return { port: await listening(server), cert };
}

/** Listens on a free loopback port until the end of the test. */
export async function listening(server: Server): Promise<number> {
  const open = new Set<Socket>();
  server
    .on('connection', (socket: Socket) => {
      open.add(socket.once('close', () => open.delete(socket)));
    })
    .on('tlsClientError', () => {});
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}
