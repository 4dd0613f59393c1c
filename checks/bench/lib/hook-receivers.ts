/** Receivers of webhooks in this process, and subscriptions to them. */
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller } from '../../harness/http.ts';
import type { Setup } from './benchmark.ts';

export type Behaviour = 'quick' | 'slow' | 'silent' | 'closed';

const SLOW_MS = 1_000;
const LIMIT_MS = 60_000;

export interface HookReceiver {
  subscriptionId: string;
  /** Event → the time when its first request began to arrive, on this process's monotonic clock. */
  begun: Map<string, number>;
  /** Resolves when it has received this many events. */
  hasBegun(count: number): Promise<void>;
}

const ANSWERS: Record<Behaviour, (response: ServerResponse) => void> = {
  quick: (response) => void response.writeHead(204).end(),
  slow: (response) => void sleep(SLOW_MS).then(() => response.writeHead(204).end()),
  silent: () => {},
  closed: () => {},
};

export async function subscribe(
  setup: Setup,
  service: Caller,
  behaviour: Behaviour,
  projectId: string,
): Promise<HookReceiver> {
  const begun = new Map<string, number>();
  const server = createServer((request, response) => {
    const id = String(request.headers['webhook-id']);
    if (!begun.has(id)) begun.set(id, performance.now());
    request.resume().once('end', () => ANSWERS[behaviour](response));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as { port: number };
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  setup.atEnd(close);
  if (behaviour === 'closed') close();
  const { subscription } = (
    await service.call('POST', '/api/webhooks', { url: `http://127.0.0.1:${port}/`, types: [], projectId })
  ).body;
  return {
    subscriptionId: subscription.id as string,
    begun,
    async hasBegun(count) {
      for (const deadline = Date.now() + LIMIT_MS; begun.size < count; await sleep(5))
        if (Date.now() > deadline) throw new Error(`${begun.size} of ${count} deliveries began in time`);
    },
  };
}
