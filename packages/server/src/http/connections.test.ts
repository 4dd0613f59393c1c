import { EventEmitter } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { boundConnections, proxyAddresses } from './connections.ts';

const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

/** A server that takes two connections of an address. */
async function bounded(isExempt: () => boolean) {
  const refused: string[] = [];
  const server = createServer((_request, response) => response.end('served'));
  boundConnections(server, { limit: 2, isExempt, onRefusal: (address) => refused.push(address) });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => {
    server.once('listening', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const ask = async (): Promise<{ status: string; socket: Socket }> => {
    const socket = connect(port, '127.0.0.1').setEncoding('latin1');
    socket.on('error', () => {}).write(REQUEST);
    const said = await new Promise<string>((resolve) => {
      socket.once('data', (part) => resolve(String(part)));
    });
    return { status: said.split(' ')[1]!, socket };
  };
  return { ask, refused };
}

describe('connections of one address', () => {
  test('beyond the limit are refused, and one that is closed makes room', async () => {
    const { ask, refused } = await bounded(() => false);
    const [first, second, third, fourth] = [await ask(), await ask(), await ask(), await ask()];
    expect([first, second, third, fourth].map(({ status }) => status)).toEqual(['200', '200', '429', '429']);
    expect(refused).toEqual(['127.0.0.1']);
    first.socket.destroy();
    await expect.poll(async () => (await ask()).status, { timeout: 3_000, interval: 20 }).toBe('200');
  });

  test('have no limit where the address is a proxy', async () => {
    const { ask } = await bounded(() => true);
    for (let i = 0; i < 4; i++) expect((await ask()).status).toBe('200');
  });
});

test('the addresses of an IPv6 /64 network count as one', () => {
  const server = new EventEmitter();
  const refused: string[] = [];
  boundConnections(server as Server, {
    limit: 2,
    isExempt: () => false,
    onRefusal: (address) => refused.push(address),
  });
  for (const remoteAddress of ['2001:db8::1', '2001:db8::2', '2001:db8:0:1::1', '2001:db8::3'])
    server.emit('connection', { remoteAddress, once() {}, write() {}, destroySoon() {} });
  expect(refused).toEqual(['2001:db8::3']);
});

test('proxies are this machine and the trusted networks, in either form of an address', () => {
  const isProxy = proxyAddresses(['10.0.0.0/8', '2001:db8::/32', '192.0.2.7']);
  const addresses = ['127.0.0.1', '::1', '10.1.2.3', '::ffff:10.1.2.3', '2001:db8::1', '192.0.2.7'];
  expect(addresses.map(isProxy)).toEqual(addresses.map(() => true));
  expect(['192.0.2.8', '11.0.0.1', '2001:db9::1', '::ffff:11.0.0.1'].some(isProxy)).toBe(false);
});
