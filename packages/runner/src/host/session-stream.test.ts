import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { expect, onTestFinished, test } from 'vitest';
import { sessionStream } from './session-stream.ts';

/** The ends of one connection. */
async function pair(): Promise<[WebSocket, WebSocket]> {
  const wss = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
  await once(wss, 'listening');
  const client = new WebSocket(`ws://127.0.0.1:${(wss.address() as AddressInfo).port}`);
  onTestFinished(() => {
    client.terminate();
    wss.close();
  });
  const [[server]] = (await Promise.all([once(wss, 'connection'), once(client, 'open')])) as [
    [WebSocket],
    [],
  ];
  return [server, client];
}

test('carries bytes both ways, at the pace of their reader', async () => {
  const [server, client] = await pair();
  const [near, far] = [sessionStream(client), sessionStream(server)];
  const sent = Buffer.alloc(2_000_000, 'x');
  near.write(sent);
  await expect.poll(() => server.isPaused).toBe(true);
  let read = 0;
  for await (const part of far as AsyncIterable<Buffer>) {
    read += part.length;
    if (read === sent.length) break;
    if (read > sent.length) throw new Error('more than was sent');
  }
  // Leaving the loop destroys a stream, and with it the WebSocket.
  await expect.poll(() => client.readyState).toBe(WebSocket.CLOSED);
});

test('stays after its WebSocket, and drops what is written, until it is destroyed', async () => {
  const [server, client] = await pair();
  const stream = sessionStream(client);
  const closed = once(client, 'close');
  server.terminate();
  await closed;
  await new Promise((resolve) => stream.write('dropped', resolve));
  await new Promise((resolve) => stream.write('dropped', resolve));
  expect([stream.destroyed, stream.readableEnded]).toEqual([false, false]);
  stream.destroy();
  expect(stream.destroyed).toBe(true);
});
