/**
 * What passes through the proxy and what does not: WebSockets, framing, cookies, slow and misbehaving
 * servers, requests within requests.
 */
import { createServer, request } from 'node:http';
import type { ClientRequest } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { Agent, WebSocket } from 'undici';
import { afterAll, describe, expect, test } from 'vitest';
import { startTestServer } from '../service.fixture.ts';
import { newBench, until, visit } from './previews.fixture.ts';
import { HostProxy } from './proxy.ts';

const server = await startTestServer();
afterAll(() => server.close());
const { ctx } = server.service;
const status = ctx.runnerStatus();
if (!status?.ok)
  process.stderr.write(`SKIPPED, no sandbox can be made here: ${status?.missing.join('; ')}\n`);
const bench = status?.ok ? await newBench(server) : undefined!;
const shared = status?.ok ? await bench.ready() : undefined!;

/**
 * A WebSocket server by RFC 6455: says `hello`, answers each text in capitals, and takes small frames only.
 */
const ECHO = `import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
const frame = (opcode, body) => Buffer.concat([Buffer.from([0x80 | opcode, ...(body.length < 126 ? [body.length] : [126, body.length >> 8, body.length & 255])]), body]);
createServer().on('upgrade', (req, socket, head) => {
  const accept = createHash('sha1').update(req.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest('base64');
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Accept: ' + accept + '\\r\\nSec-WebSocket-Protocol: ' + req.headers['sec-websocket-protocol'] + '\\r\\n\\r\\n');
  socket.write(frame(1, Buffer.from('hello ' + req.url)));
  let data = head;
  socket.on('data', (part) => {
    data = Buffer.concat([data, part]);
    for (;;) {
      if (data.length < 2) return;
      let length = data[1] & 127, at = 2;
      if (length === 126) { if (data.length < 4) return; length = data.readUInt16BE(2); at = 4; }
      if (data.length < at + 4 + length) return;
      const mask = data.subarray(at, at + 4), body = Buffer.from(data.subarray(at + 4, at + 4 + length)).map((byte, i) => byte ^ mask[i % 4]), opcode = data[0] & 15;
      data = data.subarray(at + 4 + length);
      if (opcode === 1) socket.write(frame(1, Buffer.from(body.toString().toUpperCase())));
      if (opcode === 8) socket.end(frame(8, body));
    }
  });
}).listen(3210);
`;

/** Sends text over one raw connection; returns all that comes back until it is closed. */
async function raw(text: string): Promise<string> {
  const socket = connect(Number(new URL(server.base).port), '127.0.0.1')
    .setEncoding('latin1')
    .on('error', () => {});
  let said = '';
  socket.write(text);
  for await (const part of socket) said += part as string;
  return said;
}
const host = () => new URL(shared.url).host;

describe.skipIf(!status?.ok)('a preview', () => {
  test('speaks WebSocket with its visitors: handshake, frames both ways, and the close', async () => {
    const other = await newBench(server, ECHO);
    const { url, id } = await other.ready();
    const agent = new Agent({
      connect: {
        lookup: (_host, options, found) => {
          if (options.all) found(null, [{ address: '127.0.0.1', family: 4 }]);
          else found(null, '127.0.0.1', 4);
        },
      },
    });
    const socket = new WebSocket(`${url.replace('http', 'ws')}live?x=1`, {
      protocols: ['chat'],
      dispatcher: agent,
    });
    const heard: string[] = [];
    const closed = new Promise<number>((resolve, reject) => {
      socket.addEventListener('message', ({ data }) => {
        heard.push(data as string);
      });
      socket.addEventListener('close', ({ code }) => resolve(code));
      socket.addEventListener('error', ({ error }) => reject(error));
    });
    await Promise.race([
      closed,
      new Promise((resolve) => {
        socket.addEventListener('open', resolve);
      }),
    ]);
    const long = 'long '.repeat(5_000);
    for (const text of ['one', 'zwei ü', long]) socket.send(text);
    await until(async () => heard.length === 4, 'the answers');
    expect([socket.protocol, ...heard]).toEqual([
      'chat',
      'hello /live?x=1',
      'ONE',
      'ZWEI Ü',
      long.toUpperCase(),
    ]);
    socket.close(1000);
    expect(await closed).toBe(1000);
    await server.call('DELETE', `${other.url}/previews/${id}`);
    await agent.close();
  });

  test('is framed by whom the settings name, whatever the app says; without a setting by whom the app says', async () => {
    const headers = async () => {
      const { headers: h } = await visit(server, shared.url, '/framed');
      return [h['x-frame-options'], h['content-security-policy'], h['referrer-policy']];
    };
    expect(await headers()).toEqual([
      'DENY',
      "default-src 'self'; Frame-Ancestors 'none'; img-src *, frame-ancestors 'self', frame-ancestors 'none'",
      'origin',
    ]);
    for (const [ancestors, policy] of [
      [['https://app.example.com'], 'https://app.example.com'],
      [[], "'none'"],
    ] as const) {
      await server.call('PATCH', `${bench.url}/settings`, { preview: { frameAncestors: ancestors } });
      await until(
        async () =>
          String((await headers())[1]).endsWith(`frame-ancestors ${policy}`) &&
          (await headers())[0] === undefined,
        'the new policy',
      );
      expect(await headers()).toEqual([
        undefined,
        `default-src 'self'; img-src *, frame-ancestors ${policy}`,
        'origin',
      ]);
    }
    await server.call('PATCH', `${bench.url}/settings`, { preview: null });
  });

  test('sets no cookie beyond its own host, affects no other host, and no other host sees its address', async () => {
    const { headers } = await visit(server, shared.url, '/beyond');
    expect(headers['set-cookie']).toEqual(['a=1;Path=/;HttpOnly', 'b=domain', '__Host-c=3; Path=/; Secure']);
    expect([headers['clear-site-data'], headers['alt-svc'], headers['referrer-policy']]).toEqual([
      undefined,
      undefined,
      'same-origin',
    ]);
  });

  test('that answers before it has read a body has its answer passed on', async () => {
    const { status: code, text } = await visit(server, shared.url, '/early', {
      method: 'POST',
      body: Buffer.alloc(20_000_000),
    });
    expect([code, text]).toEqual([413, 'too large']);
  });

  test('that answers before it has read a body leaves the connection to the next request', async () => {
    const socket = connect(Number(new URL(server.base).port), '127.0.0.1').setEncoding('latin1');
    let said = '';
    socket
      .on('data', (part) => {
        said += String(part);
      })
      .write(`POST /early HTTP/1.1\r\nHost: ${host()}\r\nContent-Length: 20000000\r\n\r\n`);
    await until(async () => said.includes('too large'), 'the answer');
    // The request goes on, as that of a client that has started to send.
    socket.write(Buffer.alloc(20_000_000));
    socket.write(`GET /file HTTP/1.1\r\nHost: ${host()}\r\n\r\n`);
    await until(async () => said.includes('first'), 'the next answer');
    socket.destroy();
  });

  test('has so many connections at once, and no more', async () => {
    const { hostname, port } = new URL(server.base);
    const streams = await Promise.all(
      Array.from(
        { length: 256 },
        () =>
          new Promise<ClientRequest>((resolve, reject) => {
            const asked = request({
              host: hostname,
              port,
              path: '/stream',
              headers: { host: host() },
              agent: false,
            })
              .on('error', reject)
              .once('response', () => resolve(asked))
              .end();
          }),
      ),
    );
    const refused = await visit(server, shared.url, '/file');
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
    for (const asked of streams) asked.on('error', () => {}).destroy();
    await until(async () => (await visit(server, shared.url, '/file')).status === 200, 'room');
  });

  test('that never answers, or stops within its answer, is given up', async () => {
    const visitWith = async (patience: { answerMs: number; idleMs: number }, path: string) => {
      const proxy = new HostProxy(ctx, patience);
      const own = createServer((request, response) => proxy.request(request, response)).listen(
        0,
        '127.0.0.1',
      );
      await new Promise((resolve) => {
        own.once('listening', resolve);
      });
      return visit(
        { ...server, base: `http://127.0.0.1:${(own.address() as AddressInfo).port}` },
        shared.url,
        path,
      ).finally(() => {
        own.close();
        own.closeAllConnections();
      });
    };
    const never = await visitWith({ answerMs: 300, idleMs: 3_600_000 }, '/never');
    expect([never.status, JSON.parse(never.text).error.code]).toEqual([502, 'bad_gateway']);
    await expect(visitWith({ answerMs: 3_600_000, idleMs: 300 }, '/pause')).rejects.toThrow(
      /aborted|hang up|reset/,
    );
  });

  test("gets one request of one reading: two lengths are refused, and a next request on the connection is its own host's", async () => {
    const both = await raw(
      `POST /x HTTP/1.1\r\nHost: ${host()}\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: ${host()}\r\n\r\n`,
    );
    expect([both.split('\r\n')[0], both.includes('smuggled')]).toEqual(['HTTP/1.1 400 Bad Request', false]);
    const folded = await raw(
      `POST /x HTTP/1.1\r\nHost: ${host()}\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\nConnection: close\r\n\r\n0\r\n\r\n`,
    );
    expect(folded.split('\r\n')[0]).toBe('HTTP/1.1 400 Bad Request');
    const inner = 'GET /inner HTTP/1.1\r\nHost: x\r\n\r\n';
    const two = await raw(
      `POST /outer HTTP/1.1\r\nHost: ${host()}\r\nContent-Length: ${inner.length}\r\n\r\n${inner}GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`,
    );
    expect(two.match(/"url":"[^"]*"|"status":"ok"/g)).toEqual(['"url":"/outer"', '"status":"ok"']);
    // A length passes, even where the visitor's `Connection` names it.
    for (const method of ['GET', 'DELETE', 'POST']) {
      const hop = await raw(
        `${method} /outer HTTP/1.1\r\nHost: ${host()}\r\nConnection: close, Content-Length, Host\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`,
      );
      expect(JSON.parse(hop.slice(hop.indexOf('{')))).toMatchObject({
        method,
        url: '/outer',
        bytes: inner.length,
        headers: { host: host(), 'content-length': String(inner.length) },
      });
    }
    const upgrade = await raw(
      `GET /refused HTTP/1.1\r\nHost: ${host()}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 5\r\n\r\nhelloGET /after HTTP/1.1\r\nHost: ${host()}\r\n\r\n`,
    );
    expect([upgrade.split('\r\n')[0], upgrade.match(/HTTP\/1\.1/g)?.length]).toEqual([
      'HTTP/1.1 403 Forbidden',
      1,
    ]);
  });

  test('and its visitors keep nothing of the thread awake', async () => {
    await server.call('POST', `${bench.threadUrl}/workspace/activity`, { idleTimeoutMinutes: 5 });
    const policy = async () => (await server.call('GET', `${bench.threadUrl}/workspace/policy`)).text;
    const before = await policy();
    for (let i = 0; i < 3; i++) {
      expect((await visit(server, shared.url, '/file')).status).toBe(200);
      await bench.read(shared.id);
      await server.call('GET', `${bench.threadUrl}/previews`);
    }
    expect([await policy(), JSON.parse(before).expiresAt]).toEqual([before, expect.any(String)]);
    expect(await bench.read(shared.id)).toEqual(shared);
  });
});
