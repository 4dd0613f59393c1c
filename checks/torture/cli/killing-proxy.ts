/**
 * Between a command and the service: at a given write of the command it calls back, before the service has the request, or
 * when it has answered. The command gets no answer to that write.
 */
import { createServer, request as send } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface Ambush {
  /** The number of the write, from 0. */
  write: number;
  at: 'request' | 'answer';
  reached(): void;
}

export interface KillingProxy {
  base: string;
  lay(ambush: Ambush | null): void;
  close(): Promise<void>;
}

export async function startKillingProxy(target: string): Promise<KillingProxy> {
  const { hostname, port } = new URL(target);
  let ambush: Ambush | null = null;
  let writes = 0;
  const server = createServer((request, response) => {
    void (async () => {
      const isWrite = request.method !== 'GET';
      const mine = isWrite && ambush?.write === writes ? ambush : null;
      if (isWrite) writes++;
      const body = await buffer(request);
      if (mine?.at === 'request') return mine.reached();
      const answer = await forwarded(request, body, { hostname, port });
      if (mine) {
        answer.resume();
        return mine.reached();
      }
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    })().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lay(next) {
      ambush = next;
      writes = 0;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

const forwarded = (
  { method, url, headers }: IncomingMessage,
  body: Buffer,
  service: { hostname: string; port: string },
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    send({ ...service, method, path: url, headers }, resolve)
      .on('error', reject)
      .end(body);
  });
