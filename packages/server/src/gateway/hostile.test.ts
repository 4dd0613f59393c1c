/** Agents and providers that are hostile, or behave as if they were. */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sealModelKey } from '../usage/model-keys.ts';
import { answerAll, newGatewayBench, PATHS, request, sse } from './gateway.fixture.ts';
import type { GatewayBench, Run } from './gateway.fixture.ts';
import { runToken } from '../runs/index.ts';

let b: GatewayBench;
beforeAll(async () => {
  b = await newGatewayBench({ idleMs: 1_000, headersMs: 10_000, requestMs: 1_000 });
});
afterAll(async () => {
  await b?.close();
});

const MIB = 1024 * 1024;
const MESSAGES = PATHS.anthropic;
const head = (run: Run, line: string, headers: Record<string, string | number> = {}) =>
  `${line} HTTP/1.1\r\nhost: gateway\r\nx-api-key: ${runToken(b.s.service.ctx.secretKey, run.id)}\r\n${Object.entries(
    headers,
  )
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;
const post = (run: Run, body: unknown) => {
  const text = JSON.stringify(body);
  return `${head(run, `POST ${MESSAGES}`, { 'content-length': Buffer.byteLength(text) })}${text}`;
};

interface Open {
  socket: Socket;
  /** What had arrived when the connection ended. */
  closed: Promise<string>;
}

function open(run: Run, bytes: string): Open {
  const socket = connect(b.gateway.socketPath);
  let got = '';
  const closed = new Promise<string>((resolve) => {
    socket
      .on('error', () => {})
      .on('data', (chunk) => {
        got += chunk.toString();
      })
      .once('close', () => {
        resolve(got);
      });
  });
  socket.write(`task ${run.id}\n${bytes}`);
  return { socket, closed };
}

const settled = (run: Run) =>
  expect
    .poll(
      async () => {
        const { outcomes } = await b.look(run);
        return outcomes.length > 0 && outcomes.every((one) => one !== null);
      },
      { timeout: 8_000 },
    )
    .toBe(true);

describe('an agent', () => {
  test('that sends its headers or its body too slowly gets an error and is cut off', async () => {
    const run = await b.run();
    for (const bytes of [
      'POST / HTTP/1.1\r\nhost:',
      `${head(run, `POST ${MESSAGES}`, { 'content-length': 100 })}{`,
    ]) {
      expect(await open(run, bytes).closed).toMatch(/^HTTP\/1\.1 408 /);
    }
  });

  test('that does not wait for answers is cut off, and may come again', async () => {
    const run = await b.run();
    const { closed } = open(run, head(run, 'GET /nothing').repeat(2_000));
    expect((await closed).split('HTTP/1.1 ').length).toBeLessThan(200);
    expect((await b.call(run, '/nothing')).status).toBe(404);
  });

  test('cannot have what is costly to parse parsed', async () => {
    const run = await b.run();
    const started = performance.now();
    for (const [values, said] of [
      ['{},'.repeat(10 * MIB), 'The body has more than 200000 values.'],
      ['['.repeat(1_000), 'The body is nested deeper than 500 levels.'],
    ]) {
      const answer = await b.call(run, MESSAGES, `{"model":"priced","metadata":[${values}`);
      expect([answer.status, answer.body.error.message]).toEqual([400, said]);
    }
    expect(performance.now() - started).toBeLessThan(3_000);
    b.upstream.answers(answerAll);
    const text = { role: 'user', content: '{"a":[1,2,3]}, \\" '.repeat(100_000) };
    expect((await b.call(run, MESSAGES, request('anthropic', 10, { messages: [text] }))).status).toBe(200);
    expect(b.upstream.seen.at(-1)!.body.messages).toEqual([text]);
  });

  test('gets an error for a body that is too large, with and without a content-length', async () => {
    const run = await b.run();
    const { closed } = open(
      run,
      `${head(run, `POST ${MESSAGES}`, { 'transfer-encoding': 'chunked' })}${(5 * MIB).toString(16)}\r\n${' '.repeat(5 * MIB)}\r\n0\r\n\r\n`,
    );
    expect(await closed).toMatch(/^HTTP\/1\.1 413 [^]*The body has more than 4 MiB, and no content-length/);
  });

  test('reaches nothing by other forms of a request', async () => {
    const run = await b.run();
    const before = b.upstream.seen.length;
    const upgrade = { connection: 'upgrade', upgrade: 'websocket' };
    for (const [line, headers, answer] of [
      [`POST http://127.0.0.1:1${MESSAGES}`, {}, /^HTTP\/1\.1 404 /],
      ['CONNECT 127.0.0.1:80', {}, /^$/],
      ['GET /', upgrade, /^HTTP\/1\.1 404 /],
      [`POST ${MESSAGES}`, { 'content-length': 2, 'transfer-encoding': 'chunked' }, /^HTTP\/1\.1 400 /],
      [`POST ${MESSAGES}`, { 'content-length': '2, 3' }, /^HTTP\/1\.1 400 /],
      [`POST ${MESSAGES}`, { 'x-long': 'x'.repeat(20_000) }, /^HTTP\/1\.1 431 /],
      [`POST ${MESSAGES}\ttask run_x`, {}, /^HTTP\/1\.1 400 /],
    ] as const) {
      const { socket, closed } = open(run, head(run, line, headers));
      const first = new Promise<string>((resolve) => {
        socket.once('data', (chunk) => {
          resolve(chunk.toString());
        });
      });
      expect(await Promise.race([first, closed]), line).toMatch(answer);
      socket.destroy();
    }
    expect(b.upstream.seen.length).toBe(before);
  });

  test('holds up no other run, however many calls it and its like keep open', async () => {
    const runs = await Promise.all(Array.from({ length: 17 }, () => b.run()));
    let asked = 0;
    b.upstream.answers((res, seen) => {
      if (seen.body.max_tokens === 10) answerAll(res, seen);
      else asked++;
    });
    const sockets = runs.flatMap((run) =>
      Array.from({ length: 16 }, () => open(run, post(run, request('anthropic', 11))).socket),
    );
    await expect.poll(() => asked, { timeout: 8_000 }).toBeGreaterThanOrEqual(256);
    const started = performance.now();
    expect((await b.call(await b.run(), MESSAGES, request('anthropic', 10))).status).toBe(200);
    expect(performance.now() - started).toBeLessThan(4_000);
    for (const socket of sockets) socket.destroy();
  });

  test('that goes away from a whole answer is charged what that may have cost', async () => {
    const run = await b.run({ limit: 100_000 });
    const asked = new Promise<void>((resolve) => {
      b.upstream.answers(() => {
        resolve();
      });
    });
    const { socket } = open(run, post(run, request('anthropic', 300)));
    await asked;
    socket.destroy();
    await settled(run);
    expect(await b.look(run)).toMatchObject({
      outcomes: ['disconnected'],
      run: { output_tokens: 300 },
      thread: { reserved: 0 },
    });
  });

  test('that goes away between two attempts is charged nothing', async () => {
    const run = await b.run({ limit: 100_000 });
    const refused = new Promise<void>((resolve) => {
      b.upstream.answers((res) => {
        res.writeHead(429, { 'retry-after': '3' }).end(resolve);
      });
    });
    const { socket } = open(run, post(run, request('anthropic', 300)));
    await refused;
    await new Promise((resolve) => {
      setTimeout(resolve, 300);
    });
    socket.destroy();
    await settled(run);
    expect(await b.look(run)).toMatchObject({
      outcomes: ['disconnected'],
      thread: { spent: 0, reserved: 0 },
    });
  });

  test('that asks again before an answer, and goes away from both, leaves no call open', async () => {
    const run = await b.run({ limit: 100_000 });
    let asked = 0;
    const both = new Promise<void>((resolve) => {
      b.upstream.answers((res) => {
        sse(res, { type: 'message_start', message: { usage: { input_tokens: 100, output_tokens: 1 } } });
        const timer = setInterval(() => {
          res.write(': x\n\n');
        }, 100);
        res.once('close', () => {
          clearInterval(timer);
        });
        if (++asked === 2) resolve();
      });
    });
    const call = post(run, request('anthropic', 300, { stream: true }));
    const { socket } = open(run, call + call);
    await both;
    socket.destroy();
    await settled(run);
    expect(await b.look(run)).toMatchObject({
      outcomes: ['disconnected', 'disconnected'],
      thread: { reserved: 0 },
    });
  });

  test('that reads nothing of a stream does not hold its provider, and is charged what that may have sent', async () => {
    const run = await b.run({ limit: 100_000 });
    b.upstream.answers((res) => {
      sse(res, { type: 'message_start', message: { usage: { input_tokens: 100, output_tokens: 1 } } });
      const more = () => {
        while (!res.destroyed && res.write(`: ${'x'.repeat(10_000)}\n\n`));
      };
      res.on('drain', more);
      more();
    });
    const { socket } = open(run, post(run, request('anthropic', 300, { stream: true })));
    socket.pause();
    await settled(run);
    socket.destroy();
    expect(await b.look(run)).toMatchObject({
      outcomes: ['disconnected'],
      run: { output_tokens: 300 },
      thread: { reserved: 0 },
    });
  });
});

describe('a provider', () => {
  const whole = async (body: string, headers: Record<string, string> = {}) => {
    b.upstream.answers((res) =>
      res.writeHead(200, { 'content-type': 'application/json', ...headers }).end(body),
    );
    const run = await b.run({ limit: 100_000 });
    return { answer: await b.call(run, MESSAGES, request('anthropic', 300)), look: await b.look(run) };
  };

  test.each([
    ['no usage', '{"content":[]}', 64 + 14],
    ['a usage that is none', '{"usage":{"input_tokens":-5,"output_tokens":1e999}}', 64 + 51],
    ['half a usage', '{"usage":{"input_tokens":7}}', 64 + 28],
    ['what is no object', '[]', 300],
  ])('that tells %s is taken at its most', async (_, text, output) => {
    const { look } = await whole(text);
    expect([look.run.output_tokens, look.thread.spent, look.thread.reserved]).toEqual([
      output,
      look.run.input_tokens + 2 * output,
      0,
    ]);
    expect(look.run.input_tokens).toBeGreaterThan(2_000);
  });

  test('whose answer breaks off is taken at its most', async () => {
    b.upstream.answers((res) => {
      res.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 }).write('{');
      setImmediate(() => res.destroy());
    });
    const run = await b.run({ limit: 100_000 });
    expect((await b.call(run, MESSAGES, request('anthropic', 300))).status).toBe(502);
    expect((await b.look(run)).run.output_tokens).toBe(300);
  });

  test('whose headers have no end does no harm', async () => {
    const { answer } = await whole('{}', { 'x-long': 'x'.repeat(100_000) });
    expect([answer.status, answer.body.error.message]).toEqual([
      502,
      'The model provider acme broke off the connection.',
    ]);
  });

  test('whose stream has no ends of lines is cut', async () => {
    b.upstream.answers((res) => {
      sse(res, 'data: ');
      for (let i = 0; i < 33; i++) res.write('x'.repeat(MIB));
    });
    const run = await b.run({ limit: 100_000 });
    const answer = await b.call(run, MESSAGES, request('anthropic', 300, { stream: true }));
    expect(answer.text.slice(-200)).toContain('sent an event without an end');
    expect((await b.look(run)).outcomes).toEqual(['nonsense']);
  });

  test('is not called with a key that is none, and charges nothing for it', async () => {
    const { ctx } = b.s.service;
    const store = (key: string) =>
      ctx.db
        .updateTable('model_keys')
        .set({ key_sealed: sealModelKey(ctx.secretKey, b.orgId, 'other', key) })
        .where('provider', '=', 'other')
        .execute();
    await store('sk-with-a-line-end\n');
    const before = b.upstream.seen.length;
    const run = await b.run({ modelId: 'other/x' });
    expect((await b.call(run, '/other/v1/messages', request('anthropic', 300))).status).toBe(502);
    expect([
      b.upstream.seen.length,
      (await b.look(run)).outcomes,
      (await b.look(run)).run.output_tokens,
    ]).toEqual([before, ['unreachable'], 0]);
  });
});

test('the end of the gateway does not wait for a body that is under way', async () => {
  const run = await b.run();
  const { socket, closed } = open(run, `${head(run, `POST ${MESSAGES}`, { 'content-length': 100 })}{`);
  await once(socket, 'connect');
  await new Promise((resolve) => {
    setTimeout(resolve, 100);
  });
  const started = performance.now();
  await b.gateway.close();
  expect(await closed).toBe('');
  expect(performance.now() - started).toBeLessThan(900);
});
