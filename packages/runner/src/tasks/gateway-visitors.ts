import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { joinSockets } from '@headrace/agent/join-sockets.ts';
import type { GatewayDialer } from './gateways.ts';
import { SOCKETS, type TaskSockets } from '../sandbox/sockets.ts';

const CONNECTIONS = 64;
const WAIT_MS = 60_000,
  LOOK_MS = 50;
const NAME = 'gateway';
/** The model gateway's socket as a sandbox sees it. */
export const GATEWAY_SOCKET = `${SOCKETS}/${NAME}`;

/**
 * Opens a task's way to the model gateway. Each connection is joined to a worker, which learns the task's id.
 * Returns the socket's name.
 */
export async function openGateway(
  sockets: TaskSockets,
  taskId: string,
  gateways: GatewayDialer,
): Promise<string> {
  await sockets.listen(NAME, CONNECTIONS, (visitor) => void join(visitor, taskId, gateways));
  return NAME;
}

/** A visitor waits, unread, until a worker answers. */
async function join(visitor: Socket, taskId: string, gateways: GatewayDialer): Promise<void> {
  for (
    const deadline = Date.now() + WAIT_MS;
    !visitor.destroyed && Date.now() < deadline;
    await sleep(LOOK_MS)
  ) {
    const worker = await gateways.dial();
    if (!worker) continue;
    if (visitor.destroyed) return void worker.destroy();
    worker.write(`task ${taskId}\n`);
    return joinSockets(visitor, worker);
  }
  visitor.destroy();
}
