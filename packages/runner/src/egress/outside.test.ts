import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { internet } from './outside.ts';
import { listening } from './outside.fixture.ts';

const A = 1,
  AAAA = 28,
  NAME_ERROR = 3,
  SERVER_FAILURE = 2;
type Answers = (name: string, type: number) => { code?: number; data?: Buffer[] } | undefined;

/** A DNS server on the loopback; undefined means that it stays silent. */
async function dns(answers: Answers): Promise<string> {
  const socket = createSocket('udp4', (query, from) => {
    let name = '',
      at = 12;
    for (let length = query[at]!; length > 0; length = query[at]!) {
      name += `${name && '.'}${query.toString('latin1', at + 1, at + 1 + length)}`;
      at += 1 + length;
    }
    const type = query.readUInt16BE(at + 1),
      answer = answers(name.toLowerCase(), type);
    if (!answer) return;
    const { code = 0, data = [] } = answer;
    const head = Buffer.alloc(12);
    query.copy(head, 0, 0, 2);
    head.set([0x81, 0x80 | code, 0, 1, 0, data.length], 2);
    const records = data.map((one) =>
      Buffer.concat([Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, one.length]), one]),
    );
    socket.send(Buffer.concat([head, query.subarray(12, at + 5), ...records]), from.port, from.address);
  });
  await new Promise<void>((resolve) => {
    socket.bind(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    socket.close();
  });
  return `127.0.0.1:${socket.address().port}`;
}

async function asked(answers: Answers, name: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: 100, tries: 1 });
  resolver.setServers([await dns(answers)]);
  return internet(resolver).resolve(name);
}

const V4 = Buffer.from([93, 184, 215, 14]),
  V6 = Buffer.from('26064700000000000000000000001111', 'hex');

test('a name has all addresses of both kinds, or none', async () => {
  expect(
    await asked(
      (_, type) => ({ data: type === A ? [V4, Buffer.from([10, 0, 0, 1])] : [V6] }),
      'both.example',
    ),
  ).toEqual(['93.184.215.14', '10.0.0.1', '2606:4700::1111']);
  expect(await asked((_, type) => ({ data: type === A ? [V4] : [] }), 'old.example')).toEqual([
    '93.184.215.14',
  ]);
  expect(
    await asked((_, type) => (type === AAAA ? { data: [V6] } : { code: SERVER_FAILURE }), 'half.example'),
  ).toEqual(['2606:4700::1111']);
  expect(await asked(() => ({ code: NAME_ERROR }), 'none.example')).toEqual([]);
  expect(await asked(() => ({}), 'empty.example')).toEqual([]);
});

test('who does not answer is not waited for', async () => {
  await expect(asked(() => undefined, 'silent.example')).rejects.toThrow('ETIMEOUT');
  await expect(asked(() => ({ code: SERVER_FAILURE }), 'broken.example')).rejects.toThrow('ESERVFAIL');
});

test('what is dialled are the addresses that were given, one after the other', async () => {
  const port = await listening(createServer((socket) => socket.end('hello')));
  // Nothing listens on the first two.
  const socket = await internet().dial(['127.0.0.3', '127.0.0.2', '127.0.0.1'], port);
  expect([socket.remoteAddress, socket.allowHalfOpen]).toEqual(['127.0.0.1', true]);
  expect(
    String(
      await new Promise((resolve) => {
        socket.once('data', resolve);
      }),
    ),
  ).toBe('hello');
  socket.destroy();
  await expect(internet().dial(['127.0.0.2'], port)).rejects.toThrow('ECONNREFUSED');
  await expect(internet().dial(['127.0.0.3', '127.0.0.2'], port)).rejects.toThrow();
});
