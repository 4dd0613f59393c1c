import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { createClient } from './client.ts';
import type { Client } from './client.ts';
import { HeadraceError, UncertainError, WaitTimeoutError } from './errors.ts';
import type { ClientOptions } from './http.ts';
import { loopback, refusal, sendJson } from './loopback.fixture.ts';

const APP = { ok: true, app: { id: 'prj_1' } };

describe('a call', () => {
  test('that is refused for now is made again with the same key and body', async () => {
    await using server = await loopback((response, _, number) => {
      if (number === 1) sendJson(response, 503, refusal('unavailable'), { 'retry-after': '0' });
      else if (number === 2) sendJson(response, 429, refusal('rate_limited'), { 'retry-after': '0' });
      else sendJson(response, 201, APP);
    });
    expect(await server.client.apps.create({ name: 'Garden' })).toEqual({ id: 'prj_1' });
    expect(server.seen.map((s) => s.body)).toEqual(Array(3).fill('{"name":"Garden"}'));
    expect(new Set(server.seen.map((s) => s.headers['idempotency-key'])).size).toBe(1);
    expect(server.seen[0]!.headers['x-api-key']).toBe('hrk_test');
    await server.client.apps.create({ name: 'Garden' });
    expect(server.seen[3]!.headers['idempotency-key']).not.toBe(server.seen[0]!.headers['idempotency-key']);
  });

  test('whose connection is lost is made again, also when it is lost during the answer', async () => {
    await using server = await loopback((response, _, number) => {
      if (number === 1) response.destroy();
      else if (number === 2)
        response.writeHead(201, { 'content-length': '500' }).write('{"ok":', () => response.destroy());
      else sendJson(response, 201, APP);
    });
    expect(await server.client.apps.create({ name: 'Garden' })).toEqual({ id: 'prj_1' });
    expect(new Set(server.seen.map((s) => s.headers['idempotency-key'])).size).toBe(1);
  });

  test('that is still in progress is asked for again', async () => {
    await using server = await loopback((response, _, number) =>
      sendJson(
        response,
        number === 1 ? 409 : 201,
        number === 1 ? refusal('request_in_progress', { operationId: 'op_1' }) : APP,
      ),
    );
    await server.client.apps.create({ name: 'Garden' });
    expect(server.seen).toHaveLength(2);
  });

  test('that imports an archive sends it as it is, and returns what was left out', async () => {
    const answer = { ok: true, source: { id: 'src_1' }, warnings: [{ path: 'l', reason: 'symbolic link' }] };
    await using server = await loopback((response) => sendJson(response, 201, answer));
    const imported = await server.client.sources.import('prj_1', Buffer.from('tar'), {
      message: 'First',
      links: 'skip',
    });
    expect(imported).toEqual({ source: answer.source, warnings: answer.warnings });
    expect(server.seen[0]).toMatchObject({
      url: '/api/platform/v1/apps/prj_1/sources?message=First&links=skip',
      headers: { 'content-type': 'application/gzip' },
      body: 'tar',
    });
  });

  test('gives up after six attempts', async () => {
    await using server = await loopback((response) =>
      sendJson(response, 503, refusal('unavailable'), { 'retry-after': '0' }),
    );
    await expect(server.client.apps.get('prj_1')).rejects.toMatchObject({ status: 503, code: 'unavailable' });
    expect(server.seen).toHaveLength(6);
  });

  test('does not wait for a Retry-After of hours', async () => {
    await using server = await loopback((response) =>
      sendJson(response, 429, refusal('rate_limited'), { 'retry-after': '7200' }),
    );
    await expect(server.client.apps.get('prj_1')).rejects.toMatchObject({ status: 429 });
    expect(server.seen).toHaveLength(1);
  });

  test('that is wrong is not made again; the error tells where', async () => {
    const fields = [{ path: '/name', message: 'is too long' }];
    await using server = await loopback((response) =>
      sendJson(response, 400, refusal('invalid_request', { fields })),
    );
    const error = await server.client.apps.create({ name: 'x' }).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(HeadraceError);
    expect(error).toMatchObject({
      status: 400,
      code: 'invalid_request',
      fields,
      requestId: 'req-1',
      message: 'No. (/name: is too long)',
    });
    expect(server.seen).toHaveLength(1);
  });

  test('answered by something else is an error with its status', async () => {
    await using server = await loopback((response) =>
      response.writeHead(500, { 'content-type': 'text/html' }).end('<h1>Oops</h1>'),
    );
    await expect(server.client.apps.get('prj_1')).rejects.toMatchObject({
      status: 500,
      code: 'invalid_response',
    });
  });

  test('an apply names its key in the body', async () => {
    await using server = await loopback((response) =>
      sendJson(response, 202, { ok: true, apply: { id: 'apl_1' } }),
    );
    await server.client.applies.create('prj_1', 'thr_1', { expectedSourceId: 'src_1' });
    expect(JSON.parse(server.seen[0]!.body)).toMatchObject({
      clientOperationId: server.seen[0]!.headers['idempotency-key'],
    });
  });
});

/** A client of a fetch that answers each request by a function. */
function answering(
  answer: (init: RequestInit, number: number) => Response | Promise<Response>,
  options: Partial<ClientOptions> = {},
): { client: Client; sent: RequestInit[] } {
  const sent: RequestInit[] = [];
  const client = createClient({
    baseUrl: 'https://headrace.example.com',
    key: 'hrk_secret',
    fetch: async (_, init) => answer(init!, sent.push(init!)),
    ...options,
  });
  return { client, sent };
}
const failure = (call: PromiseLike<unknown>) =>
  Promise.resolve(call).then(
    () => null,
    (error: unknown) => error,
  );
const headersOf = (init: RequestInit | undefined) => init!.headers as Record<string, string>;

describe('a write', () => {
  test.each([
    [200, '<h1>Welcome</h1>'],
    [200, '{"hello":"world"}'],
    [500, '<h1>Oops</h1>'],
  ])('that something else answered with %i %s may have happened', async (status, text) => {
    const { client, sent } = answering(() => new Response(text, { status }));
    const error = await failure(client.apps.create({ name: 'A' }));
    expect(error).toBeInstanceOf(UncertainError);
    expect(error).toMatchObject({ code: 'invalid_response', status });
    expect(sent).toHaveLength(1);
  });

  test('that something else refused has not happened', async () => {
    const { client } = answering(() => new Response('<h1>Too large</h1>', { status: 413 }));
    const error = await failure(client.apps.create({ name: 'A' }));
    expect(error).not.toBeInstanceOf(UncertainError);
    expect(error).toMatchObject({ code: 'invalid_response', status: 413 });
  });

  test('is the same in each attempt, whatever becomes of the given body', async () => {
    const body = { name: 'A' };
    const { client, sent } = answering((_, number) => {
      body.name = 'B';
      if (number === 1) throw new TypeError('fetch failed');
      return Response.json(APP);
    });
    await client.apps.create(body);
    expect(sent.map((init) => init.body)).toEqual(['{"name":"A"}', '{"name":"A"}']);
  });

  test('without a key is sent once; one that only reads is sent again', async () => {
    const { client, sent } = answering(() => {
      throw new TypeError('fetch failed');
    });
    const signIn = { email: 'a@example.com', password: 'p' };
    expect(await failure(client.session.signIn(signIn))).toMatchObject({ code: 'network_error' });
    expect(sent).toHaveLength(1);
    await failure(
      client.applies.preview('prj_1', 'thr_1', { expectedSourceId: 'src_1' }, { timeoutMs: 1_500 }),
    );
    expect(sent.length).toBeGreaterThan(2);
  });

  const circle: Record<string, string> = {};
  Object.assign(circle, { circle });
  test.each([
    ['a body that is no JSON', { name: 'A', metadata: circle }, {}],
    ['a key beyond Latin-1', { name: 'A' }, { idempotencyKey: 'order … 7' }],
    ['a header with a line break', { name: 'A' }, { headers: { 'x-note': 'a\r\nx-api-key: b' } }],
  ])('with %s is not sent, and not called uncertain', async (_, body, options) => {
    const { client, sent } = answering(() => Response.json(APP));
    expect(await failure(client.apps.create(body, options))).toBeInstanceOf(TypeError);
    expect(sent).toHaveLength(0);
  });
});

describe('a request', () => {
  test('has the headers of its call over those of the client, and the credential over both', async () => {
    const { client, sent } = answering(() => Response.json(APP), {
      headers: { 'X-Trace': 'client', 'X-Tenant': 't', Accept: 'text/plain' },
    });
    await client.apps.get('prj_1', { headers: { 'x-trace': 'call', 'X-Api-Key': 'other' } });
    expect(headersOf(sent[0])).toEqual({
      accept: 'text/plain',
      'x-trace': 'call',
      'x-tenant': 't',
      'x-api-key': 'hrk_secret',
    });
  });

  test('calls fetch without an object, as browsers ask', async () => {
    let receiver = 'none';
    const client = createClient({
      baseUrl: 'https://headrace.example.com',
      key: 'k',
      fetch: function (this: unknown) {
        receiver = typeof this;
        return Promise.resolve(Response.json(APP));
      },
    });
    await client.apps.get('prj_1');
    expect(receiver).toBe('undefined');
  });

  test('is not repeated after a redirect that a browser hides', async () => {
    const hidden = { ok: false, status: 0, type: 'opaqueredirect', body: null, headers: new Headers() };
    const { client, sent } = answering(() => hidden as Response);
    const error = await failure(client.apps.create({ name: 'A' }));
    expect(error).not.toBeInstanceOf(UncertainError);
    expect(error).toMatchObject({ code: 'invalid_response', retryable: false });
    expect(sent).toHaveLength(1);
  });

  test('may take without end', async () => {
    const { client } = answering(
      (init) =>
        new Promise((resolve, reject) => {
          init.signal!.addEventListener('abort', () => reject(new Error('aborted')));
          setTimeout(resolve, 50, Response.json(APP));
        }),
    );
    const forever = { timeoutMs: Infinity, attemptTimeoutMs: Infinity };
    expect(await client.apps.get('prj_1', forever)).toEqual(APP.app);
  });

  test("leaves nothing at its caller's signal", async () => {
    const { signal } = new AbortController();
    const { client } = answering((_, number) => {
      if (number === 1) throw new TypeError('fetch failed');
      return Response.json(APP);
    });
    await client.apps.get('prj_1', { signal });
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  test('to a list that answers something else is refused', async () => {
    const { client } = answering(() => Response.json({ ok: true, items: [] }));
    expect(await failure(client.apps.list())).toMatchObject({ code: 'invalid_response' });
  });

  test("may be refused in another system's form", async () => {
    const error = { code: 'denied', message: 'No.', fields: { name: 'x' } };
    const { client, sent } = answering(() => Response.json({ error }, { status: 403 }));
    expect(await failure(client.apps.get('prj_1'))).toMatchObject({
      status: 403,
      code: 'denied',
      fields: [],
    });
    expect(sent).toHaveLength(1);
  });
});

describe('a secret', () => {
  test.each([
    [{ key: 'hrk_se\ncret' }, '"x-api-key"'],
    [{ key: '' }, 'one of key'],
    [{ key: undefined, token: 'secret…' }, '"authorization"'],
    [{ baseUrl: 'https://user:secret@headrace.example.com' }, 'baseUrl must have no'],
    [{ baseUrl: 'https://headrace.example.com/?secret' }, 'baseUrl must have no'],
  ])('that cannot be sent is refused at once, and not shown: %#', (options, message) => {
    const create = () => answering(() => Response.json(APP), options);
    expect(create).toThrow(message);
    expect(create).not.toThrow(/secret|se\ncret/);
  });

  test('may have the line break of its file', async () => {
    const { client, sent } = answering(() => Response.json(APP), { key: 'hrk_secret\n' });
    await client.apps.get('prj_1');
    expect(headersOf(sent[0])['x-api-key']).toBe('hrk_secret');
  });
});

describe('a waiter', () => {
  const run = (status: string) =>
    Response.json({ ok: true, run: { id: 'run_1', threadId: 'thr_1', status } });
  const silent = () => new Promise<Response>(() => {});

  test('does not wait longer than its time and its signal for the first answer', async () => {
    const { client } = answering(silent);
    const get = () => client.runs.get('prj_1', 'thr_1', 'run_1');
    expect(await failure(get().done({ timeoutMs: 50 }))).toBeInstanceOf(WaitTimeoutError);
    const abort = new AbortController();
    const waiting = failure(get().done({ signal: abort.signal }));
    abort.abort(new Error('enough'));
    expect(await waiting).toMatchObject({ message: 'enough' });
    expect(getEventListeners(abort.signal, 'abort')).toHaveLength(0);
  });

  test('outlasts a service that is away for longer than a call is repeated', async () => {
    const away = () =>
      Response.json(refusal('unavailable'), { status: 503, headers: { 'retry-after': '0' } });
    const { client, sent } = answering((_, number) =>
      number === 1 ? run('running') : number < 10 ? away() : run('completed'),
    );
    const ended = await client.runs.get('prj_1', 'thr_1', 'run_1').done();
    expect(ended.status).toBe('completed');
    expect(sent).toHaveLength(10);
  });

  test('pauses between reads if the service does not hold them', async () => {
    const { client, sent } = answering(() => run('running'));
    const call = client.runs.get('prj_1', 'thr_1', 'run_1');
    expect(await failure(call.done({ timeoutMs: 400 }))).toBeInstanceOf(WaitTimeoutError);
    expect(sent.length).toBeLessThan(6);
  });

  test('lets the service wait and ends with the run', async () => {
    await using server = await loopback((response, _, number) =>
      sendJson(response, 200, {
        ok: true,
        run: { id: 'run_1', threadId: 'thr_1', status: number < 3 ? 'running' : 'failed' },
      }),
    );
    expect(await server.client.runs.get('prj_1', 'thr_1', 'run_1').done()).toMatchObject({
      status: 'failed',
    });
    const path = '/api/platform/v1/apps/prj_1/threads/thr_1/runs/run_1';
    expect(server.seen.map((s) => s.url)).toEqual([path, ...Array(2).fill(`${path}?waitSeconds=25`)]);
  });
});
