import { randomUUID } from 'node:crypto';
import { IncomingMessage, ServerResponse } from 'node:http';
import { connect, Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeServiceKey } from '../accounts/index.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { Intake } from './intake.ts';

const P = '/api/platform/v1';
const MIB = 1024 * 1024;
let s: TestServer;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api', HEADRACE_TRUSTED_PROXIES: '127.0.0.0/8' });
});
afterAll(async () => {
  await s?.close();
});

/** A POST from an address, of which only the head and `sent` bytes ever come. */
class Upload {
  said = '';
  readonly #socket: Socket;

  constructor(
    address: string,
    {
      key = s.key,
      headers = {},
      sent = '',
    }: { key?: string; headers?: Record<string, string>; sent?: string },
  ) {
    const lines = Object.entries({
      host: '127.0.0.1',
      'x-forwarded-for': address,
      'x-api-key': key,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
      ...headers,
    }).map(([name, value]) => `${name}: ${value}\r\n`);
    this.#socket = connect(Number(new URL(s.base).port), '127.0.0.1')
      .setEncoding('latin1')
      .on('error', () => {})
      .on('data', (part) => {
        this.said += String(part);
      });
    this.#socket.write(`POST ${P}/apps HTTP/1.1\r\n${lines.join('')}\r\n${sent}`);
  }

  /** The status line of the answer, once there is one. */
  answered(): Promise<string> {
    return expect
      .poll(() => this.said.split('\r\n')[0]!, { timeout: 5_000, interval: 10 })
      .not.toBe('')
      .then(() => this.said.split('\r\n')[0]!);
  }

  send(text: string): void {
    this.#socket.write(text);
  }

  end(): void {
    this.#socket.destroy();
  }
}

const CONTINUED = 'HTTP/1.1 100 Continue';
const REFUSED = 'HTTP/1.1 429 Too Many Requests';
/** Asks before it sends: told to go on, its bytes have a place. */
const asking = (address: string, bytes: number) =>
  new Upload(address, { headers: { 'content-length': String(bytes), expect: '100-continue' } });

describe('bodies under way from one address', () => {
  test('are bounded; no other address is refused, nor small bodies of this one; what ends makes room', async () => {
    const address = '203.0.113.1';
    const first = Array.from({ length: 7 }, () => asking(address, 64 * MIB));
    try {
      for (const upload of first) expect(await upload.answered()).toBe(CONTINUED);
      const next = asking(address, 2 * MIB);
      expect([await next.answered(), next.said]).toEqual([
        REFUSED,
        expect.stringMatching(/retry-after: 1\r\n[^]*"rate_limited"/i),
      ]);
      const chunked = new Upload(address, {
        headers: { 'transfer-encoding': 'chunked' },
        sent: `${(2 * MIB).toString(16)}\r\n${' '.repeat(2 * MIB)}`,
      });
      expect(await chunked.answered()).toBe(REFUSED);
      const small = new Upload(address, { headers: { 'content-length': '12' }, sent: '{"name":"n"}' });
      expect(await small.answered()).toBe('HTTP/1.1 201 Created');
      const other = asking('203.0.113.2', 64 * MIB);
      expect(await other.answered()).toBe(CONTINUED);
      for (const upload of [next, chunked, small, other, first[0]!]) upload.end();
      await expect
        .poll(
          async () => {
            const again = asking(address, 64 * MIB);
            const answer = await again.answered();
            again.end();
            return answer;
          },
          { timeout: 5_000, interval: 50 },
        )
        .toBe(CONTINUED);
    } finally {
      for (const upload of first) upload.end();
    }
  });
});

test('the addresses of an IPv6 /64 network share their room', () => {
  const intake = new Intake();
  const from = (address: string) => {
    const response = new ServerResponse(new IncomingMessage(new Socket()));
    return { response, arrival: intake.arrival(address, response.req, response) };
  };
  const first = from('2001:db8::1');
  first.arrival.take(448 * MIB);
  const take = (address: string) => () => from(address).arrival.take(2 * MIB);
  expect(take('2001:db8::2')).toThrow('Too many bytes');
  expect(take('2001:db8:0:1::1')).not.toThrow();
  first.response.emit('close');
  expect(take('2001:db8::2')).not.toThrow();
});

describe('a caller that asks before it sends', () => {
  test('sends nothing where it is refused', async () => {
    for (const [what, key, bytes, status] of [
      ['a wrong key', makeServiceKey(), 2 * MIB, '401 Unauthorized'],
      ['too large', s.key, 65 * MIB, '413 Payload Too Large'],
    ] as const) {
      const upload = new Upload('203.0.113.3', {
        key,
        headers: { 'content-length': String(bytes), expect: '100-continue' },
      });
      expect([what, await upload.answered()]).toEqual([what, `HTTP/1.1 ${status}`]);
      expect(upload.said.toLowerCase()).toContain('connection: close');
      upload.end();
    }
  });

  test('is heard to the end where it is not', async () => {
    const upload = asking('203.0.113.4', 12);
    expect(await upload.answered()).toBe(CONTINUED);
    upload.send('{"name":"n"}');
    await expect.poll(() => upload.said, { timeout: 5_000, interval: 10 }).toContain('HTTP/1.1 201 Created');
    upload.end();
  });
});
