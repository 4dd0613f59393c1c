import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { connect } from 'node:tls';
import { expect, test } from 'vitest';
import { serverNameOf } from './client-hello.ts';

/** The first bytes from Node's own client. */
async function helloOf(options: {
  servername?: string;
  maxVersion?: 'TLSv1.2';
  ALPNProtocols?: string[];
}): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', ...options }).on(
    'error',
    () => {},
  );
  const [socket] = (await once(server, 'connection')) as [Socket];
  try {
    return (
      (await once(
        socket.on('error', () => {}),
        'data',
      )) as [Buffer]
    )[0];
  } finally {
    client.destroy();
    socket.destroy();
    server.close();
  }
}

/** The one record, split into several of this size. */
function parted(hello: Buffer, size: number): Buffer {
  const message = hello.subarray(5);
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += size) {
    const part = message.subarray(at, at + size);
    records.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 0xff]), part);
  }
  return Buffer.concat(records);
}

const HELLO = await helloOf({ servername: 'good.example' });

test('names the server, whatever the version and what else is in it', async () => {
  expect(serverNameOf(HELLO)).toBe('good.example');
  expect(serverNameOf(Buffer.concat([HELLO, Buffer.from('more')]))).toBe('good.example');
  for (const options of [{ maxVersion: 'TLSv1.2' as const }, { ALPNProtocols: ['h2', 'http/1.1'] }])
    expect(serverNameOf(await helloOf({ servername: 'a.b.example', ...options }))).toBe('a.b.example');
  expect(serverNameOf(await helloOf({}))).toBe(null);
});

test('is not known before all of it is there', () => {
  for (let length = 0; length < HELLO.length; length++)
    expect(serverNameOf(HELLO.subarray(0, length))).toBe(undefined);
});

test('may be parted over a few records, not over many', () => {
  const inParts = parted(HELLO, Math.ceil((HELLO.length - 5) / 8));
  expect(serverNameOf(inParts)).toBe('good.example');
  for (let length = 0; length < inParts.length; length++)
    expect(serverNameOf(inParts.subarray(0, length))).toBe(undefined);
  expect(serverNameOf(parted(HELLO, 3))).toBe(null);
});

test('names none where there are two, an empty one, or lengths that lie', () => {
  const at = HELLO.indexOf('good.example') - 9;
  const withBytes = (from: number, ...bytes: number[]): Buffer => {
    const copy = Buffer.from(HELLO);
    copy.set(bytes, from);
    return copy;
  };
  expect(HELLO.readUInt16BE(at)).toBe(0);
  expect(serverNameOf(withBytes(at, 0xff, 0xff))).toBe(null); // no such extension
  expect(serverNameOf(withBytes(at + 2, 0, 4))).toBe(null); // its length
  expect(serverNameOf(withBytes(at + 4, 0, 3))).toBe(null); // the list's
  expect(serverNameOf(withBytes(at + 6, 1))).toBe(null); // another kind of name
  expect(serverNameOf(withBytes(at + 7, 0, 11))).toBe(null); // the name's
  // A second extension of that kind, replacing one that every client has.
  const versions = HELLO.indexOf(Buffer.from([0, 43, 0]));
  expect(versions).toBeGreaterThan(at);
  expect(serverNameOf(withBytes(versions, 0, 0))).toBe(null);
});

test('is told from anything else', () => {
  for (const text of [
    'GET / HTTP/1.1\r\n',
    'SSH-2.0-x\r\n',
    '\x17\x03\x03\x00\x05hello',
    '\x16\x02\x01\x00\x05hello',
    '\x16\x03\x01\x00\x00',
    '\x16\x03\x01\x40\x01',
    '\x16\x03\x01\x00\x05\x02\x00\x00\x01x',
  ])
    expect(serverNameOf(Buffer.from(text, 'latin1')), text).toBe(null);
  for (let i = 0; i < 4_000; i++) {
    const changed = Buffer.from(HELLO);
    for (let n = 0; n <= i % 4; n++) changed[Math.floor(Math.random() * changed.length)] = randomBytes(1)[0]!;
    const name = serverNameOf(
      changed.subarray(0, i % 3 === 0 ? Math.floor(Math.random() * changed.length) : undefined),
    );
    expect(name === null || name === undefined || name.length === 12).toBe(true);
  }
});
