import { mkdirSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Host } from '../sandbox/host.ts';
import { TaskSockets } from '../sandbox/sockets.ts';
import { scratch } from '../runner.fixture.ts';
import type { Reach } from './policy.ts';
import { EgressProxy, type Refused } from './proxy.ts';
import { listening, PUBLIC, testOutside, tlsServer, type TestOutside } from './outside.fixture.ts';

const base = scratch();
mkdirSync(join(base, 'w'));
const HOSTS = ['good.example', '*.wild.example', 'bücher.example'];
const PUBLIC_V6 = '2606:4700::1111';
afterEach(() => {
  vi.useRealTimers();
});

interface Way {
  path: string;
  refused: Refused[];
  proxy: EgressProxy;
  outside: TestOutside;
  sockets: TaskSockets;
}

/** A task's proxy, on a socket. */
async function open(
  outside: TestOutside,
  { proxy = new EgressProxy(outside), ...reach }: { proxy?: EgressProxy } & Partial<Reach> = {},
): Promise<Way> {
  const sockets = new TaskSockets({ base, uid: null } as Host);
  onTestFinished(() => sockets.close());
  const refused: Refused[] = [];
  const name = await proxy.open(sockets, { hosts: HOSTS, privateHosts: [], endpoints: [], ...reach }, (one) =>
    refused.push(one),
  );
  return { path: join(sockets.binds[0]!.host, name), refused, proxy, outside, sockets };
}

/** An internet without hosts: a dial is a mistake of the proxy, or finds that nothing answers. */
const nowhere = (
  names: TestOutside['names'] = {
    'good.example': [PUBLIC],
    'a.wild.example': [PUBLIC],
    'xn--bcher-kva.example': [PUBLIC],
  },
): TestOutside => testOutside(1, names);

function visit({ path }: Way): Socket {
  const socket = connect({ path }).on('error', () => {});
  onTestFinished(() => {
    socket.destroy();
  });
  return socket;
}

/** Everything that arrives after these bytes until the connection ends. */
async function said(way: Way, ...parts: (string | Buffer)[]): Promise<string> {
  const socket = visit(way);
  for (const part of parts) socket.write(part);
  return told(socket);
}

async function told(socket: Socket): Promise<string> {
  const all: Buffer[] = [];
  socket.on('data', (part: Buffer) => all.push(part)).resume();
  if (!socket.closed)
    await new Promise((resolve) => {
      socket.once('close', resolve);
    });
  return Buffer.concat(all).toString('latin1');
}

const ask = (target: string): string => `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`;

/** A tunnel that the proxy has accepted. */
async function tunnel(way: Way, target: string): Promise<Socket> {
  const socket = visit(way);
  socket.write(ask(target));
  const head = await new Promise<string>((resolve) => {
    socket.once('data', (part: Buffer) => {
      socket.pause();
      resolve(part.toString());
    });
  });
  expect(head).toBe('HTTP/1.1 200 Connection established\r\n\r\n');
  return socket;
}

describe('a listed name', () => {
  test('is reached by TLS, and bytes flow both ways as fast as they are read', async () => {
    const { port, cert } = await tlsServer(['good.example'], (socket) => socket.pipe(socket));
    const way = await open(testOutside(port, { 'good.example': [PUBLIC, PUBLIC_V6] }));
    const tls = connectTls({
      socket: await tunnel(way, 'good.example:443'),
      servername: 'good.example',
      ca: cert,
    });
    const sent = Buffer.alloc(8_000_000, 'x');
    tls.write(sent.subarray(0, 5));
    await new Promise((resolve) => {
      tls.once('readable', resolve);
    });
    expect(String(tls.read())).toBe('xxxxx');
    // Nobody reads: these bytes stay in the sockets' buffers.
    tls.write(sent);
    await expect
      .poll(() => way.outside.sockets[0]!.readableLength + way.outside.sockets[0]!.writableLength)
      .toBeLessThan(1_000_000);
    let got = 0;
    tls.on('data', (part: Buffer) => {
      got += part.length;
      if (got === sent.length) tls.end();
    });
    await new Promise((resolve) => {
      tls.once('close', resolve);
    });
    expect(got).toBe(sent.length);
    expect(way.outside.dialled).toEqual([{ addresses: [PUBLIC, PUBLIC_V6], port: 443 }]);
    expect([way.refused, way.proxy.counters]).toEqual([[], { allowed: 1, refused: 0 }]);
    await expect.poll(() => way.outside.sockets[0]!.destroyed).toBe(true);
  });

  test.each([
    'GOOD.Example:443',
    'good.example.:443',
    'a.wild.example:443',
    'A.WILD.EXAMPLE.:443',
    'xn--bcher-kva.example:443',
    'XN--BCHER-KVA.example:443',
  ])('%s', async (target) => {
    const way = await open(nowhere());
    expect(await said(way, ask(target))).toMatch(/^HTTP\/1.1 504 .* does not answer\.\n$/s);
    expect([way.outside.asked, way.refused]).toEqual([[target.toLowerCase().replace(/\.?:443/, '')], []]);
  });

  test('is looked up once: what its name leads to next does not matter', async () => {
    const { port, cert } = await tlsServer(['good.example'], (socket) => socket.end('hello'));
    const answers = [[PUBLIC], ['127.0.0.1']];
    const way = await open(testOutside(port, { 'good.example': () => Promise.resolve(answers.shift()!) }));
    const tls = connectTls({
      socket: await tunnel(way, 'good.example:443'),
      servername: 'good.example',
      ca: cert,
    });
    expect(await told(tls)).toBe('hello');
    expect([way.outside.asked.length, way.outside.dialled]).toEqual([
      1,
      [{ addresses: [PUBLIC], port: 443 }],
    ]);
    expect(await said(way, ask('good.example:443'))).toMatch(/^HTTP\/1.1 403 .*not of the open internet/s);
  });

  test('that cannot be looked up, has no address, or does not answer', async () => {
    const way = await open(
      nowhere({ 'good.example': () => Promise.reject(new Error('SERVFAIL')), 'b.wild.example': [PUBLIC] }),
    );
    expect(await said(way, ask('good.example:443'))).toMatch(
      /^HTTP\/1.1 403 Refused by the setting egress: unresolved\r\n.*good.example could not be looked up/s,
    );
    expect(await said(way, ask('a.wild.example:443'))).toMatch(
      /^HTTP\/1.1 403 .*a.wild.example could not be looked up/s,
    );
    expect(await said(way, ask('b.wild.example:443'))).toMatch(
      /^HTTP\/1.1 504 .*b.wild.example does not answer/s,
    );
    expect([way.refused.map(({ host, reason }) => [host, reason]), way.proxy.counters]).toEqual([
      [
        ['good.example', 'unresolved'],
        ['a.wild.example', 'unresolved'],
      ],
      { allowed: 0, refused: 2 },
    ]);
  });
});

describe('refused, without a look-up', () => {
  test.each([
    ['other.example:443', 'not_listed'],
    ['sub.good.example:443', 'not_listed'],
    ['evilgood.example:443', 'not_listed'],
    ['wild.example:443', 'not_listed'],
    ['evilwild.example:443', 'not_listed'],
    ['good.example.evil.example:443', 'not_listed'],
    ['localhost:443', 'not_listed'],
    ['good.example..:443', 'not_listed'],
    ['*.wild.example:443', 'invalid'],
    ['bucher.example:443', 'not_listed'],
    ['127.0.0.1:443', 'address'],
    ['93.184.215.14:443', 'address'],
    ['2130706433:443', 'address'],
    ['0x7f000001:443', 'address'],
    ['0x7f.1:443', 'address'],
    ['0177.0.0.1:443', 'address'],
    ['127.1:443', 'address'],
    ['127.0.0.1.:443', 'address'],
    ['[::1]:443', 'address'],
    ['[::ffff:127.0.0.1]:443', 'address'],
    ['[2606:4700::1111]:443', 'address'],
    ['[fe80::1%25eth0]:443', 'address'],
    ['169.254.169.254:80', 'address'],
    ['good.example:22', 'port'],
    ['good.example:80', 'port'],
    ['good.example:8443', 'port'],
    ['good.example:0', 'port'],
    ['good.example:65979', 'port'],
    ['good.example', 'invalid'],
    ['good.example:', 'invalid'],
    ['good.example:https', 'invalid'],
    ['good.example:443:443', 'invalid'],
    ['::1:443', 'invalid'],
    ['user@good.example:443', 'invalid'],
    ['good.example/x:443', 'invalid'],
    ['https://good.example:443', 'invalid'],
    ['good%2eexample:443', 'invalid'],
    ['good.example#:443', 'invalid'],
    ['256.256.256.256:443', 'invalid'],
  ])('%s: %s', async (target, reason) => {
    const way = await open(nowhere());
    const answer = await said(way, ask(target));
    // What cannot be in a request line is not HTTP at all.
    if (!answer.startsWith('HTTP/1.1 400 Bad Request\r\n')) {
      expect(answer).toMatch(
        new RegExp(
          `^HTTP/1.1 403 Refused by the setting egress: ${reason}\\r\\ncontent-type: text/plain; charset=utf-8\\r\\n.*\\r\\n\\r\\nRefused by the setting egress of this project \\(${reason}\\)\\. .*\\n$`,
          's',
        ),
      );
      expect(way.refused).toEqual([
        { host: expect.any(String) as string, port: expect.any(Number) as number, reason },
      ]);
      expect(way.proxy.counters).toEqual({ allowed: 0, refused: 1 });
    }
    expect([way.outside.asked, way.outside.dialled]).toEqual([[], []]);
  });

  test('with what to change', async () => {
    const way = await open(nowhere());
    expect(await said(way, ask('other.example:443'))).toContain(
      'other.example is not in the list of hosts that this project may reach. The hosts are a setting of the project: PATCH /api/platform/v1/apps/{appId}/settings with {"egress"',
    );
    expect(way.refused).toEqual([{ host: 'other.example', port: 443, reason: 'not_listed' }]);
  });

  test('HTTP without TLS, and what is no request to a proxy', async () => {
    const way = await open(nowhere());
    expect(await said(way, 'GET http://good.example/x HTTP/1.1\r\nHost: good.example\r\n\r\n')).toMatch(
      /^HTTP\/1.1 403 Refused by the setting egress: not_tls\r\n.*Only TLS passes: use the https URL/s,
    );
    expect(way.refused).toEqual([{ host: 'good.example', port: 80, reason: 'not_tls' }]);
    expect(await said(way, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n')).toMatch(
      /^HTTP\/1.1 400 .*This is an HTTP proxy/s,
    );
    expect(
      await said(way, 'POST http://good.example/ HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello'),
    ).toMatch(/^HTTP\/1.1 403 /);
    expect(way.outside.asked).toEqual([]);
  });
});

test.each([
  [['127.0.0.1']],
  [['10.1.2.3']],
  [['192.168.1.1']],
  [['169.254.169.254']],
  [['100.100.100.200']],
  [['::1']],
  [['::ffff:10.0.0.1']],
  [['::ffff:93.184.215.14']],
  [['fe80::1']],
  [['fd00:ec2::254']],
  [['64:ff9b::a9fe:a9fe']],
  [[PUBLIC, '10.1.2.3']],
  [['10.1.2.3', PUBLIC]],
  [[PUBLIC_V6, '::1']],
  [['not an address']],
])('a listed name that leads to %j is refused, and nothing is dialled', async (addresses) => {
  const way = await open(nowhere({ 'good.example': addresses }));
  expect(await said(way, ask('good.example:443'))).toMatch(
    /^HTTP\/1.1 403 .*good.example leads to an address that is not of the open internet/s,
  );
  expect([way.outside.dialled, way.refused]).toEqual([
    [],
    [{ host: 'good.example', port: 443, reason: 'private_address' }],
  ]);
});

describe("the operator's private hosts", () => {
  test.each([['10.1.2.3'], ['127.0.0.1'], ['fd00::1']])('may have the address %s', async (address) => {
    const names = { 'good.example': [address], 'a.wild.example': [address], 'wild.example': [address] };
    const privateHosts = ['GOOD.example', '*.wild.example'];
    const hosts = ['good.example', '*.wild.example', 'wild.example'];
    const way = await open(nowhere(names), { hosts, privateHosts });
    for (const host of ['good.example', 'a.wild.example'])
      expect(await said(way, ask(`${host}:443`))).toMatch(/^HTTP\/1.1 504 /);
    expect(await said(way, ask('wild.example:443'))).toMatch(/^HTTP\/1.1 403 .*: private_address\r\n/);
    expect(way.outside.dialled).toEqual([
      { addresses: [address], port: 443 },
      { addresses: [address], port: 443 },
    ]);
  });

  test('are refused where the project does not list them', async () => {
    const way = await open(nowhere(), { hosts: [], privateHosts: ['good.example'] });
    expect(await said(way, ask('good.example:443'))).toMatch(/: not_listed\r\n/);
    expect(way.outside.asked).toEqual([]);
  });
});

describe("the operator's endpoints", () => {
  const NAMES = { 'npm.corp': ['10.0.0.1'] };
  const REACH = { hosts: [], privateHosts: ['npm.corp'] };
  const MIRROR = 'http://npm.corp:4873';

  /** A registry that repeats the requests that it gets, and a task that may reach it. */
  async function mirror(): Promise<{ way: Way; seen: string[] }> {
    const seen: string[] = [];
    const server = createHttpServer((req, res) => {
      let body = '';
      req.setEncoding('utf8').on('data', (part: string) => {
        body += part;
      });
      req.on('end', () => {
        seen.push(`${req.method} ${req.url} ${body} ${JSON.stringify(req.headers)}`);
        if (req.url === '/away') res.writeHead(302, { location: 'http://169.254.169.254/' }).end();
        else res.writeHead(200, 'Fine', { 'x-mirror': 'yes' }).end(`it had ${body.length}`);
      });
    });
    const port = await listening(server);
    const endpoints = [{ host: 'npm.corp', port: 4873, tls: false }];
    return { way: await open(testOutside(port, NAMES), { ...REACH, endpoints }), seen };
  }

  test('take a request in absolute form: with its body and headers, but not those of the hop', async () => {
    const { way, seen } = await mirror();
    const answer = await said(
      way,
      `PUT ${MIRROR}/x?y=1 HTTP/1.1\r\nHost: evil\r\nX-A: b\r\nProxy-Authorization: secret\r\nTransfer-Encoding: chunked\r\n\r\n`,
      '5\r\nhello\r\n0\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1.1 200 Fine\r\nx-mirror: yes\r\n.*it had 5/s);
    expect(seen[0]).toMatch(/^PUT \/x\?y=1 hello \{"host":"npm.corp:4873","connection":"close","x-a":"b"/);
    expect(seen[0]).not.toContain('secret');
    expect(way.outside.dialled).toEqual([{ addresses: ['10.0.0.1'], port: 4873 }]);
    expect(way.proxy.counters).toEqual({ allowed: 1, refused: 0 });
  });

  test('lead nowhere else: a redirect is the answer', async () => {
    const { way, seen } = await mirror();
    expect(await said(way, `GET ${MIRROR}/away HTTP/1.1\r\nHost: x\r\n\r\n`)).toMatch(/^HTTP\/1.1 302 /);
    expect([seen.length, way.outside.asked]).toEqual([1, ['npm.corp']]);
  });

  test('take a tunnel without TLS', async () => {
    const { way } = await mirror();
    const answer = await said(
      way,
      `${ask('npm.corp:4873')}GET /x HTTP/1.1\r\nHost: npm.corp\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1.1 200 Connection established\r\n\r\nHTTP\/1.1 200 Fine\r\n/);
  });

  test.each([
    ['another port, as a tunnel', ask('npm.corp:4874'), 'port'],
    ['TLS at its name, which is not listed', ask('npm.corp:443'), 'not_listed'],
    ['another port', 'GET http://npm.corp:80/ HTTP/1.1\r\nHost: npm.corp\r\n\r\n', 'not_tls'],
    ['another host', 'GET http://a.npm.corp:4873/ HTTP/1.1\r\nHost: npm.corp\r\n\r\n', 'not_tls'],
    ['another scheme', 'GET ftp://npm.corp:4873/ HTTP/1.1\r\nHost: npm.corp\r\n\r\n', 'not_tls'],
  ])('are just that host and port: %s', async (_name, request, reason) => {
    const { way } = await mirror();
    expect(await said(way, request)).toContain(`HTTP/1.1 403 Refused by the setting egress: ${reason}\r\n`);
    expect(way.outside.asked).toEqual([]);
  });

  test('with TLS need the handshake at any port', async () => {
    const { port, cert } = await tlsServer(['npm.corp'], (socket) => socket.end('hello'));
    const endpoints = [{ host: 'npm.corp', port: 8443, tls: true }];
    const way = await open(testOutside(port, NAMES), { ...REACH, endpoints });
    const tls = connectTls({ socket: await tunnel(way, 'npm.corp:8443'), servername: 'npm.corp', ca: cert });
    expect(await told(tls)).toBe('hello');
    const socket = await tunnel(way, 'npm.corp:8443');
    socket.write('GET / HTTP/1.1\r\n\r\n');
    await told(socket);
    expect(way.refused).toEqual([{ host: 'npm.corp', port: 8443, reason: 'server_name' }]);
  });

  test('take one request a connection: what follows it at once opens no connection', async () => {
    const { way, seen } = await mirror();
    const requests = Array.from(
      { length: 20 },
      (_, i) => `GET ${MIRROR}/${i} HTTP/1.1\r\nHost: npm.corp\r\n\r\n`,
    );
    expect(await said(way, requests.join(''))).toContain('it had 0');
    expect([seen.length, way.outside.dialled.length]).toEqual([1, 1]);
  });

  test.each(['200 f\x01ine', '099 Fine'])('whose answer cannot be passed on are 504: %j', async (status) => {
    const endpoints = [{ host: 'npm.corp', port: 4873, tls: false }];
    const port = await listening(createServer((socket) => socket.end(`HTTP/1.1 ${status}\r\n\r\nbody`)));
    const way = await open(testOutside(port, NAMES), { ...REACH, endpoints });
    expect(await said(way, `GET ${MIRROR}/ HTTP/1.1\r\nHost: x\r\n\r\n`)).toMatch(/^HTTP\/1.1 504 /);
  });

  test('that do not answer are 504, and one that breaks off ends the request', async () => {
    const endpoints = [{ host: 'npm.corp', port: 4873, tls: false }];
    const request = `GET ${MIRROR}/ HTTP/1.1\r\nHost: x\r\n\r\n`;
    expect(await said(await open(nowhere(NAMES), { ...REACH, endpoints }), request)).toMatch(
      /^HTTP\/1.1 504 /,
    );
    const port = await listening(createServer((socket) => socket.destroy()));
    const way = await open(testOutside(port, NAMES), { ...REACH, endpoints });
    expect(await said(way, request)).toMatch(/^HTTP\/1.1 504 /);
  });
});

describe('a tunnel in which is', () => {
  /** Records what a server that would answer anything receives through a tunnel. */
  async function silentServer(): Promise<{ way: Way; seen: () => string }> {
    let seen = '';
    const port = await listening(
      createServer((socket) => {
        socket
          .on('error', () => {})
          .on('data', (part: Buffer) => {
            seen += part.toString('latin1');
          });
      }),
    );
    return { way: await open(testOutside(port, { 'good.example': [PUBLIC] })), seen: () => seen };
  }
  const ALERT = '\x15\x03\x03\x00\x02\x02\x70';

  test('a handshake for another name, or for none', async () => {
    const { way, seen } = await silentServer();
    const names = [
      'evil.example',
      'sub.good.example',
      '',
      'good.example/.evil.example',
      'good.example?.evil.example',
      'good.example#',
      'good%2eexample',
      'good.exa\tmple',
      'ｇood.example',
    ];
    for (const servername of names) {
      const tls = connectTls({
        socket: await tunnel(way, 'good.example:443'),
        ...(servername && { servername }),
      });
      expect(
        await new Promise((resolve) => {
          tls.once('error', resolve);
        }),
      ).toMatchObject({ code: expect.stringContaining('UNRECOGNIZED_NAME') as string });
    }
    expect(seen()).toBe('');
    expect(way.refused).toEqual(
      names.map(() => ({ host: 'good.example', port: 443, reason: 'server_name' })),
    );
    expect(way.proxy.counters).toEqual({ allowed: 0, refused: names.length });
    await expect.poll(() => way.outside.sockets.every((socket) => socket.destroyed)).toBe(true);
  });

  test.each([
    ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['another request', ask('evil.example:443')],
    ['HTTP', 'GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n'],
    [
      'a handshake without end',
      Buffer.concat([
        Buffer.from([22, 3, 1, 0x40, 0, 1, 0xff, 0xff, 0xff]),
        Buffer.alloc(16_380),
        Buffer.from([22, 3, 1, 0x40, 0]),
      ]),
    ],
  ])('%s', async (_name, bytes) => {
    const { way, seen } = await silentServer();
    const socket = await tunnel(way, 'good.example:443');
    socket.write(bytes);
    expect(await told(socket)).toBe(ALERT);
    // Also when it arrives in one piece with the CONNECT.
    expect(await said(way, Buffer.concat([Buffer.from(ask('good.example:443')), Buffer.from(bytes)]))).toBe(
      `HTTP/1.1 200 Connection established\r\n\r\n${ALERT}`,
    );
    expect([seen(), way.refused.map(({ reason }) => reason)]).toEqual(['', ['server_name', 'server_name']]);
  });

  test('a body that the CONNECT announces: it has none', async () => {
    const { way, seen } = await silentServer();
    for (const header of [
      'Content-Length: 30',
      'Transfer-Encoding: chunked',
      'Content-Length: 5\r\nTransfer-Encoding: chunked',
    ]) {
      const answer = await said(
        way,
        `CONNECT good.example:443 HTTP/1.1\r\nHost: evil.example\r\n${header}\r\n\r\n${ask('evil.example:443')}`,
      );
      expect(
        answer.startsWith('HTTP/1.1 400 Bad Request\r\n') ||
          answer === `HTTP/1.1 200 Connection established\r\n\r\n${ALERT}`,
        answer,
      ).toBe(true);
    }
    expect([seen(), way.outside.asked.filter((name) => name !== 'good.example')]).toEqual(['', []]);
  });

  test('nothing: it is closed after a time', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { way } = await silentServer();
    const socket = await tunnel(way, 'good.example:443');
    vi.advanceTimersByTime(10_000);
    expect(await told(socket)).toBe(ALERT);
  });
});

describe('bounds', () => {
  test('a header that comes slowly is cut off', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const way = await open(nowhere());
    const socket = visit(way);
    await new Promise((resolve) => {
      socket.write('CONNECT good.example:443 HTTP/1.1\r\nX-', resolve);
    });
    for (let i = 0; i < 9; i++) {
      vi.advanceTimersByTime(1_000);
      await new Promise((resolve) => {
        socket.write('a', resolve);
      });
    }
    expect(socket.destroyed).toBe(false);
    vi.advanceTimersByTime(1_000);
    expect(await told(socket)).toBe('');
  });

  test('a header over 8 KiB, and no HTTP at all', async () => {
    const way = await open(nowhere());
    expect(await said(way, `CONNECT good.example:443 HTTP/1.1\r\nX: ${'a'.repeat(9_000)}\r\n\r\n`)).toMatch(
      /^HTTP\/1.1 431 /,
    );
    expect(await said(way, '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n')).toMatch(
      /^HTTP\/1.1 400 /,
    );
    expect(way.outside.asked).toEqual([]);
  });

  test('64 connections of a task; of 1,000 the others are closed, which is told once, and none outlives its visitor', async () => {
    let live = 0;
    const port = await listening(
      createServer((socket) => {
        live++;
        socket
          .on('error', () => {})
          .on('close', () => {
            live--;
          })
          .resume();
      }),
    );
    const way = await open(testOutside(port, { 'good.example': [PUBLIC] }));
    let refused = 0;
    const sockets = Array.from({ length: 1000 }, () => {
      const socket = connect({ path: way.path });
      socket
        .on('error', () => {})
        .once('close', () => {
          refused++;
        })
        .write(ask('good.example:443'));
      return socket.resume();
    });
    await expect.poll(() => [refused, live], { timeout: 10_000 }).toEqual([936, 64]);
    expect(way.refused).toEqual([{ host: '', port: 0, reason: 'limit' }]);
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => live).toBe(0);
    expect(way.proxy.counters).toEqual({ allowed: 0, refused: 0 });
    expect(await said(way, ask('other.example:443'))).toMatch(/^HTTP\/1.1 403 /);
  });

  test('256 names are looked up at once; one more is refused, one of them waits with it', async () => {
    let answer = (): void => {};
    const slow = new Promise<string[]>((resolve) => {
      answer = () => resolve([PUBLIC]);
    });
    const outside = nowhere(
      Object.fromEntries(Array.from({ length: 257 }, (_, i) => [`n${i}.wild.example`, () => slow])),
    );
    const proxy = new EgressProxy(outside);
    const ways = await Promise.all(Array.from({ length: 5 }, () => open(outside, { proxy })));
    const answers = Array.from({ length: 256 }, (_, i) => said(ways[i % 4]!, ask(`n${i}.wild.example:443`)));
    await expect.poll(() => outside.asked.length).toBe(256);
    const same = said(ways[4]!, ask('n0.wild.example:443'));
    expect(await said(ways[4]!, ask('n256.wild.example:443'))).toMatch(
      /^HTTP\/1.1 403 Refused by the setting egress: limit\r\n.*Try again/s,
    );
    answer();
    for (const one of [...answers, same]) expect(await one).toMatch(/^HTTP\/1.1 504 /);
    expect(outside.asked.length).toBe(256);
    expect(await said(ways[4]!, ask('n256.wild.example:443'))).toMatch(/^HTTP\/1.1 504 /);
  });

  test('a tunnel whose task ends is gone within a second, also where its server does not read', async () => {
    const live = new Set<Socket>();
    const port = await listening(
      createServer({ pauseOnConnect: true }, (socket) => {
        live.add(socket.on('error', () => {}));
      }),
    );
    const way = await open(testOutside(port, { 'good.example': [PUBLIC] }));
    const socket = await tunnel(way, 'good.example:443');
    connectTls({ socket, servername: 'good.example' }).on('error', () => {});
    await expect.poll(() => way.proxy.counters.allowed).toBe(1);
    socket.write(Buffer.alloc(16_000_000));
    await expect.poll(() => way.outside.sockets[0]!.writableLength).toBeGreaterThan(0);
    way.sockets.close();
    await expect.poll(() => way.outside.sockets[0]!.destroyed, { timeout: 3_000 }).toBe(true);
  });

  test('a tunnel that is idle ends, and one whose server goes', async () => {
    const { port, cert } = await tlsServer(['good.example'], (socket) => {
      socket.write('here');
    });
    const way = await open(testOutside(port, { 'good.example': [PUBLIC] }));
    for (const end of [(socket: Socket) => socket.emit('timeout'), (socket: Socket) => socket.destroy()]) {
      const tls = connectTls({
        socket: await tunnel(way, 'good.example:443'),
        servername: 'good.example',
        ca: cert,
      });
      tls.on('error', () => {});
      await new Promise((resolve) => {
        tls.once('data', resolve);
      });
      const socket = way.outside.sockets.at(-1)!;
      expect(socket.timeout).toBe(300_000);
      end(socket);
      await new Promise((resolve) => {
        tls.once('close', resolve);
      });
    }
  });
});
