import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answerAll, KEY, newGatewayBench, PATHS, request, WIRES } from './gateway.fixture.ts';
import type { GatewayBench } from './gateway.fixture.ts';
import { runToken } from '../runs/index.ts';

let b: GatewayBench;
const logged: string[] = [];
beforeAll(async () => {
  b = await newGatewayBench();
  b.s.service.ctx.log = pino(
    { level: 'trace' },
    {
      write: (line: string) => {
        logged.push(line);
      },
    },
  );
});
afterAll(async () => {
  await b?.close();
});

const body = request('anthropic', 10);
const secret = () => b.s.service.ctx.secretKey;
const untouched = async (work: () => Promise<void>) => {
  const before = b.upstream.seen.length;
  await work();
  expect(b.upstream.seen.length).toBe(before);
};

describe('the socket', () => {
  test('is in a folder of this user alone', () => {
    expect(statSync(dirname(b.gateway.socketPath)).mode & 0o777).toBe(0o700);
    expect(statSync(b.gateway.socketPath).isSocket()).toBe(true);
  });

  test.each([
    'GET / HTTP/1.1\r\n\r\n',
    'task run_1\n',
    `task ${'run_'.padEnd(30, '0')}x\n`,
    'x'.repeat(200),
    'task \n',
    '\n',
  ])('is closed to what begins with %j', async (line) => {
    const socket = connect(b.gateway.socketPath);
    socket.on('error', () => {});
    socket.write(line);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
    });
    await once(socket, 'close');
    expect(Buffer.concat(chunks).toString()).toBe('');
  });

  test('takes the line and the call in any pieces, and further calls on the same connection', async () => {
    b.upstream.answers(answerAll);
    const run = await b.run();
    const text = JSON.stringify(body);
    const call = `POST /acme/v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: ${runToken(secret(), run.id)}\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
    for (const cuts of [[3], [36, 40], [40, 300], []]) {
      const socket = connect(b.gateway.socketPath);
      socket.setNoDelay(true);
      let got = '';
      socket.setEncoding('utf8').on('data', (piece: string) => {
        got += piece;
      });
      const bytes = `task ${run.id}\n${call}${call}`;
      let at = 0;
      for (const cut of [...cuts, bytes.length]) {
        socket.write(bytes.slice(at, cut));
        at = cut;
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
      }
      while ((got.match(/HTTP\/1\.1 200/g) ?? []).length < 2) await once(socket, 'data');
      socket.destroy();
    }
  });
});

describe('401', () => {
  test('without the token of the very run whose connection it is', () =>
    untouched(async () => {
      const [run, other] = [await b.run(), await b.run()];
      for (const [token, as] of [
        [null, run.id],
        ['x', run.id],
        [runToken(secret(), other.id), run.id],
        [runToken(secret(), run.id), other.id],
        [runToken(Buffer.from('another secret'), run.id), run.id],
        [`${runToken(secret(), run.id)}x`, run.id],
      ] as const) {
        for (const wire of WIRES) {
          const answer = await b.call(run, PATHS[wire], body, { token, as });
          expect([answer.status, answer.body.error.message]).toEqual([401, "The token is not this run's."]);
        }
      }
      expect((await b.call({ id: 'run_00000000000000000000000000' }, PATHS.anthropic, body)).status).toBe(
        401,
      );
    }));

  test('without a key of a provider that needs one: says where it is set, and the run hears of it', () =>
    untouched(async () => {
      const run = await b.run({ modelId: 'keyless/priced' });
      const answer = await b.call(run, '/keyless/v1/messages', body);
      const message =
        'The organization has no key of the model provider keyless. Set it with PUT /api/model-keys/keyless.';
      expect([answer.status, answer.body]).toEqual([
        401,
        { type: 'error', error: { type: 'authentication_error', message } },
      ]);
      expect((await b.look(run)).run.model_failure).toEqual({ code: 'model_error', message, count: 1 });
    }));
});

describe('403 and 404', () => {
  test("another provider than the run's model's", () =>
    untouched(async () => {
      const run = await b.run();
      for (const name of ['other', 'open', 'nobody'])
        expect((await b.call(run, `/${name}/v1/messages`, body)).status).toBe(403);
      expect((await b.call(await b.run({ modelId: 'nobody/x' }), '/nobody/v1/messages', body)).status).toBe(
        404,
      );
    }));

  test('a run that has ended, waits for its stop, or has not begun', () =>
    untouched(async () => {
      const { db } = b.s.service.ctx;
      for (const change of [
        { status: 'completed' as const },
        { status: 'queued' as const },
        { cancel_requested_at: new Date() },
      ]) {
        const run = await b.run();
        await db.updateTable('runs').set(change).where('id', '=', run.id).execute();
        expect((await b.call(run, PATHS.anthropic, body)).status).toBe(403);
      }
    }));

  test('other paths and methods', () =>
    untouched(async () => {
      const run = await b.run();
      for (const path of [
        '/acme/v1/files',
        '/acme/v1/messages/batches',
        '/acme/v1/messages/',
        '/acme/v1/../v1/files',
        '/acme/v1/embeddings',
        '/v1/messages',
        '/acme//v1/messages',
        '/%61cme/v1/messages',
        '/',
      ])
        expect((await b.call(run, path, body)).status, path).toBe(404);
      expect((await b.call(run, PATHS.anthropic, undefined, { method: 'GET' })).status).toBe(404);
      expect((await b.call(run, PATHS.anthropic, undefined, { method: 'DELETE' })).status).toBe(404);
    }));

  test('a wire that the provider does not speak', () =>
    untouched(async () => {
      b.s.service.ctx.config.providers.single = {
        baseUrl: b.upstream.baseUrl,
        wires: ['openai-chat'],
        key: 'none',
      };
      const answer = await b.call(await b.run({ modelId: 'single/x' }), '/single/v1/messages', body);
      expect([answer.status, answer.body.error.message]).toEqual([
        404,
        'The provider single does not speak anthropic. It speaks openai-chat.',
      ]);
    }));
});

test('413: more than 32 MiB, 400: what is no JSON object', () =>
  untouched(async () => {
    const run = await b.run();
    const huge = await b.call(run, PATHS.anthropic, '{', {
      headers: { 'content-length': String(32 * 1024 * 1024 + 1) },
    });
    expect([huge.status, huge.headers.connection, huge.body.error.type]).toEqual([
      413,
      'close',
      'request_too_large',
    ]);
    for (const text of [
      '',
      '[1]',
      'null',
      '{"model":',
      '"x"',
      '{"model":5}',
      '{"model":"a b"}',
      `{"model":"${'x'.repeat(201)}"}`,
      '{"model":"priced","max_tokens":0}',
      '{"model":"priced","max_tokens":1.5}',
      '{"model":"priced","max_tokens":1e300}',
      '{"model":"priced","max_tokens":"9"}',
      `{"model":"priced","messages":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
    ]) {
      expect((await b.call(run, PATHS.anthropic, text)).status, text.slice(0, 50)).toBe(400);
    }
  }));

test('calls that cost nothing pass without a reservation', async () => {
  b.upstream.answers((res) =>
    res.writeHead(200, { 'content-type': 'application/json', 'set-cookie': 'a=b' }).end('{"data":[]}'),
  );
  const run = await b.run({ limit: 0 });
  for (const [path, sent] of [
    ['/acme/v1/models', undefined],
    ['/acme/v1/messages/count_tokens', body],
  ] as const) {
    const answer = await b.call(run, path, sent);
    expect([answer.status, answer.text, answer.headers['set-cookie'], b.upstream.seen.at(-1)!.path]).toEqual([
      200,
      '{"data":[]}',
      undefined,
      path.replace('/acme', ''),
    ]);
  }
  expect((await b.look(run)).outcomes).toEqual([]);
});

test('only known headers go out, with the key in the place of the token; nothing of the account comes back', async () => {
  b.upstream.answers((res, seen) => {
    for (const [name, value] of Object.entries({
      'set-cookie': 'a=b',
      'openai-organization': 'org',
      'anthropic-organization-id': 'org',
      'request-id': 'req_1',
    }))
      res.setHeader(name, value);
    answerAll(res, seen);
  });
  const run = await b.run();
  const headers = {
    cookie: 'a=b',
    'openai-organization': 'org-x',
    'openai-project': 'p',
    'x-forwarded-for': '1.2.3.4',
    'x-custom': 'x',
    'anthropic-beta': 'interleaved-thinking-2025-05-14, fast-mode-2026-02-01,mcp-client-2025-04-04',
    'user-agent': 'agent/1',
    accept: 'text/event-stream',
  };
  const answer = await b.call(run, `${PATHS.anthropic}?beta=true&x=y`, body, { headers });
  const { host: _, connection: __, 'content-length': ___, ...sent } = b.upstream.seen.at(-1)!.headers;
  expect(sent).toEqual({
    'accept-encoding': 'identity',
    'content-type': 'application/json',
    accept: 'text/event-stream',
    'user-agent': 'agent/1',
    'anthropic-version': '2023-06-01',
    'anthropic-beta': 'interleaved-thinking-2025-05-14',
    'x-api-key': KEY,
    authorization: `Bearer ${KEY}`,
  });
  expect([
    b.upstream.seen.at(-1)!.path,
    answer.headers['request-id'],
    answer.headers['set-cookie'],
    answer.headers['anthropic-organization-id'],
    answer.headers['openai-organization'],
  ]).toEqual(['/v1/messages', 'req_1', undefined, undefined, undefined]);
  await b.call(run, PATHS['openai-chat'], request('openai-chat', 10));
  expect(b.upstream.seen.at(-1)!.headers).toMatchObject({ authorization: `Bearer ${KEY}` });
  expect(b.upstream.seen.at(-1)!.headers['x-api-key']).toBe(undefined);
  await b.call(
    await b.run({ modelId: 'open/priced' }),
    '/open/v1/chat/completions',
    request('openai-chat', 10),
  );
  expect(b.upstream.seen.at(-1)!.headers.authorization).toBe(undefined);
});

test('a key that the provider repeats is in no answer, no failure and no log', async () => {
  b.upstream.answers((res) =>
    res
      .writeHead(401, { 'content-type': 'application/json' })
      .end(JSON.stringify({ error: { message: `Incorrect API key provided: ${KEY}` } })),
  );
  const run = await b.run();
  const answer = await b.call(run, PATHS['openai-chat'], request('openai-chat', 10));
  expect([answer.status, answer.headers['x-should-retry'], answer.body.error.message]).toEqual([
    401,
    'false',
    'Incorrect API key provided: [key]',
  ]);
  expect((await b.look(run)).run.model_failure).toEqual({
    code: 'model_error',
    message: 'The model provider acme answered 401: Incorrect API key provided: [key]',
    count: 1,
  });
  const dump = JSON.stringify(await b.s.service.ctx.db.selectFrom('model_calls').selectAll().execute());
  expect([
    logged.join('').includes(KEY),
    dump.includes(KEY),
    logged.join('').includes(runToken(secret(), run.id)),
  ]).toEqual([false, false, false]);
});

test('the socket is gone when the gateway is closed', async () => {
  const own = await newGatewayBench();
  expect(own.gateway.socketPath).not.toBe(b.gateway.socketPath);
  await own.close();
  expect(existsSync(own.gateway.socketPath)).toBe(false);
  const refused = httpRequest({ socketPath: own.gateway.socketPath, path: '/' });
  refused.end();
  await expect(once(refused, 'response')).rejects.toThrow(/ENOENT/);
});
