import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { scratch } from '../test-support.ts';
import type { Runner } from './routes.ts';
import { makeServer } from './server.ts';

const folder = scratch();

/** A server in a preview that says nothing and ends nothing, as one of WebSockets may. */
async function silentServer(): Promise<{ dial: () => Promise<Socket>; live: () => number }> {
  let live = 0;
  const server = createServer((socket) => { live++; socket.on('error', () => {}).on('close', () => { live--; }).resume(); });
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  onTestFinished(() => { server.close(); });
  const { port } = server.address() as AddressInfo;
  return { live: () => live, dial: () => new Promise((resolve) => { const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () => resolve(socket)); }) };
}

test('a visitor who leaves before the preview was reached, or after, leaves no connection to it', async () => {
  const inside = await silentServer();
  let asked = 0;
  const gone = Promise.withResolvers<void>();
  const task = { connect: async () => { if (asked++ === 0) await gone.promise; return inside.dial(); } };
  const { server, use } = makeServer({ tasks: { get: () => task } } as unknown as Runner);
  await new Promise<void>((resolve) => { server.listen(join(folder, 'runner'), resolve); });
  onTestFinished(() => { server.close(); });
  const visit = (): Socket => {
    const visitor = connect(join(folder, 'runner')).on('error', () => {});
    visitor.write('GET /tasks/prv_1/connect HTTP/1.1\r\nHost: runner\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n');
    return visitor;
  };
  const early = visit();
  await expect.poll(() => asked).toBe(1);
  early.destroy();
  await expect.poll(() => use.underWay).toBe(0);
  gone.resolve();
  const late = visit();
  await new Promise((resolve) => { late.once('data', resolve); });
  late.destroy();
  await expect.poll(inside.live).toBe(0);
});
