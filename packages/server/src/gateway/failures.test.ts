import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answerAll, newGatewayBench, PATHS, request } from './gateway.fixture.ts';
import type { GatewayBench } from './gateway.fixture.ts';
import { isUnreached, openUpstream } from './upstream.ts';

let b: GatewayBench;
beforeAll(async () => {
  b = await newGatewayBench({ headersMs: 1_000 });
});
afterAll(async () => {
  await b?.close();
});

const body = request('anthropic', 10);
const error =
  (status: number, headers = {}) =>
  (res: Parameters<Parameters<GatewayBench['upstream']['answers']>[0]>[0]) =>
    res
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end('{"type":"error","error":{"type":"x","message":"not now"}}');
const attempts = async (run: Awaited<ReturnType<GatewayBench['run']>>) => {
  const before = b.upstream.seen.length;
  const answer = await b.call(run, PATHS.anthropic, body);
  return { answer, count: b.upstream.seen.length - before };
};

describe('repetitions', () => {
  test.each([429, 500, 502, 503, 504, 529])('%i is tried three times, then told as it is', async (status) => {
    b.upstream.answers(error(status));
    const run = await b.run({ limit: 100_000 });
    const { answer, count } = await attempts(run);
    expect([count, answer.status, answer.headers['x-should-retry'], answer.text]).toEqual([
      3,
      status,
      'false',
      '{"type":"error","error":{"type":"x","message":"not now"}}',
    ]);
    expect(await b.look(run)).toMatchObject({
      run: {
        cost_micros: 0,
        model_failure: {
          code: 'model_error',
          message: `The model provider acme answered ${status}: not now`,
          count: 1,
        },
      },
      thread: { spent: 0, reserved: 0 },
      outcomes: ['refused'],
    });
  });

  test.each([400, 401, 403, 404, 413, 422])('%i is not repeated', async (status) => {
    b.upstream.answers(error(status));
    const { answer, count } = await attempts(await b.run());
    expect([count, answer.status]).toEqual([1, status]);
  });

  test('a call that succeeds at last is no failure; retry-after is respected', async () => {
    b.upstream.answers((res, seen) =>
      b.upstream.seen.length - before < 3 ? error(429, { 'retry-after': '1' })(res) : answerAll(res, seen),
    );
    const before = b.upstream.seen.length;
    const run = await b.run();
    const at = Date.now();
    const { answer, count } = await attempts(run);
    expect([count, answer.status, (await b.look(run)).run.model_failure]).toEqual([3, 200, null]);
    expect(Date.now() - at).toBeGreaterThanOrEqual(2_000);
  });

  test("a longer wait is the agent's to know", async () => {
    b.upstream.answers(error(429, { 'retry-after': '6' }));
    const { answer, count } = await attempts(await b.run());
    expect([count, answer.status, answer.headers['retry-after']]).toEqual([1, 429, '6']);
  });

  test('a provider that is not there', async () => {
    b.s.service.ctx.config.providers.gone = {
      baseUrl: 'http://127.0.0.1:1/v1',
      wires: ['anthropic'],
      key: 'none',
    };
    const run = await b.run({ modelId: 'gone/x' });
    const answer = await b.call(run, '/gone/v1/messages', body);
    expect([answer.status, answer.body.error.message]).toEqual([
      502,
      'The model provider gone could not be reached.',
    ]);
    expect(await b.look(run)).toMatchObject({
      run: { cost_micros: 0, model_failure: { code: 'model_error' } },
      outcomes: ['unreachable'],
    });
  });
});

test('a call that ended before it was made has not been seen', async () => {
  const upstream = openUpstream({ connectMs: 1_000, headersMs: 1_000, idleMs: 1_000 });
  const before = b.upstream.seen.length;
  expect(
    await upstream
      .send({
        url: `${b.upstream.baseUrl}/messages`,
        method: 'POST',
        headers: {},
        body: '{}',
        signal: AbortSignal.abort(),
      })
      .catch(isUnreached),
  ).toBe(true);
  expect(b.upstream.seen.length).toBe(before);
  await upstream.close();
});

test('a connection that breaks before an answer is not repeated, as nobody knows what the provider did: it is charged', async () => {
  b.upstream.answers((res) => res.destroy());
  const run = await b.run({ limit: 100_000 });
  const { answer, count } = await attempts(run);
  const look = await b.look(run);
  expect([
    count,
    answer.status,
    look.run.model_failure?.message,
    look.thread.spent > 0,
    look.thread.reserved,
  ]).toEqual([1, 502, 'The model provider acme broke off the connection', true, 0]);
});

test('a provider that never answers', async () => {
  b.upstream.answers(() => {});
  const run = await b.run();
  expect((await b.call(run, PATHS.anthropic, body)).status).toBe(502);
  expect((await b.look(run)).run.model_failure?.message).toBe(
    'The model provider acme broke off the connection',
  );
});

test('redirects are not followed; pages and huge answers become errors of the wire', async () => {
  b.upstream.answers((res) => res.writeHead(302, { location: 'http://127.0.0.1:1/' }).end());
  const redirected = await b.call(await b.run(), PATHS.anthropic, body);
  expect([redirected.status, redirected.body.error.message]).toEqual([
    502,
    'The model provider acme answered 302',
  ]);
  b.upstream.answers((res) =>
    res.writeHead(403, { 'content-type': 'text/html' }).end('<html>Blocked</html>'),
  );
  const run = await b.run();
  const page = await b.call(run, PATHS.anthropic, body);
  expect([page.status, page.body]).toEqual([
    403,
    {
      type: 'error',
      error: {
        type: 'permission_error',
        message: 'The model provider acme answered 403: <html>Blocked</html>',
      },
    },
  ]);
  b.upstream.answers((res) =>
    res.writeHead(400, { 'content-type': 'application/json' }).end(`"${'x'.repeat(100_000)}\0"`),
  );
  const huge = await b.call(run, PATHS.anthropic, body);
  expect([huge.status, huge.body.error.message]).toEqual([400, 'The model provider acme answered 400']);
  b.upstream.answers((res) =>
    res
      .writeHead(400, { 'content-type': 'application/json' })
      .end(JSON.stringify({ error: { message: `${'y'.repeat(1000)}\0` } })),
  );
  await b.call(run, PATHS.anthropic, body);
  expect((await b.look(run)).run.model_failure!.message.length).toBeLessThanOrEqual(500);
});

test('each failed call wakes the worker that drives the run', async () => {
  b.upstream.answers(error(400));
  const run = await b.run();
  const heard: string[] = [];
  const stop = b.s.service.ctx.bus.listen('control', (threadId) => {
    heard.push(threadId);
  });
  await b.call(run, PATHS.anthropic, body);
  stop();
  expect(heard).toContain(run.threadId);
});

test('at most sixteen calls of a run are under way at once', async () => {
  const run = await b.run();
  let open = 0;
  let most = 0;
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let reached = () => {};
  const sixteen = new Promise<void>((resolve) => {
    reached = resolve;
  });
  b.upstream.answers(async (res, seen) => {
    open++;
    most = Math.max(most, open);
    if (open === 16) reached();
    await released;
    answerAll(res, seen);
    open--;
  });
  const calls = Array.from({ length: 24 }, () => b.call(run, PATHS.anthropic, { ...body, stream: true }));
  await sixteen;
  release();
  expect((await Promise.all(calls)).map((answer) => answer.status)).toEqual(calls.map(() => 200));
  expect(most).toBe(16);
});
