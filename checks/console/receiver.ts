/** A receiver of webhooks on this machine: the paths of its addresses say how it answers. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Receiver {
  /** Answers with these statuses, one after the other, and with the last one from then on. */
  at(...statuses: number[]): string;
  /** The headers of what came, oldest first, and its body. */
  received(): readonly { headers: Record<string, string>; body: string }[];
  close(): void;
}

const ANSWERS: Record<number, string> = {
  200: 'stored',
  410: 'This endpoint was closed on 1 March.',
  500: '<h1>Internal Server Error</h1>\n<script>alert(1)</script>\nTypeError: cannot read “id” of undefined\n    at handle (/srv/hooks.js:12:9)',
};

export async function startReceiver(): Promise<Receiver> {
  const received: { headers: Record<string, string>; body: string }[] = [];
  const counts = new Map<string, number>();
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += String(part);
    received.push({ headers: request.headers as Record<string, string>, body });
    const path = request.url ?? '/';
    const statuses = path.slice(1).split(',').map(Number);
    const nth = counts.get(path) ?? 0;
    counts.set(path, nth + 1);
    const status = statuses[Math.min(nth, statuses.length - 1)]!;
    response.writeHead(status, { 'content-type': 'text/plain' }).end(ANSWERS[status] ?? '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // The process of a ground may end without closing it.
  server.unref();
  const { port } = server.address() as AddressInfo;
  return {
    at: (...statuses) => `http://127.0.0.1:${port}/${statuses.join()}`,
    received: () => received,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
