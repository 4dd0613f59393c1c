import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answerAll, COST, newGatewayBench, PATHS, request, sse, WIRES } from './gateway.fixture.ts';
import type { GatewayBench } from './gateway.fixture.ts';

let b: GatewayBench;
beforeAll(async () => {
  b = await newGatewayBench({ idleMs: 1_000 });
});
afterAll(async () => {
  await b?.close();
});

const settled = async (run: Parameters<GatewayBench['look']>[0]) => {
  const end = Date.now() + 5_000;
  for (;;) {
    const look = await b.look(run);
    if (look.outcomes.length && look.outcomes.every((one) => one !== null)) return b.look(run);
    if (Date.now() > end) throw new Error('no settlement in 5 s');
  }
};

describe.each(WIRES)('%s', (wire) => {
  test.each([true, false])(
    'an answer is passed on as it is, and settled before its end (stream: %s)',
    async (stream) => {
      let sent = '';
      b.upstream.answers((res, seen) => {
        const write = res.write.bind(res);
        res.write = ((chunk: string) => {
          sent += chunk;
          return write(chunk);
        }) as typeof res.write;
        const end = res.end.bind(res);
        res.end = ((chunk?: string) => {
          sent += chunk ?? '';
          return end(chunk);
        }) as typeof res.end;
        answerAll(res, seen);
      });
      const run = await b.run({ limit: 100_000 });
      const answer = await b.call(run, PATHS[wire], request(wire, 300, { stream }));
      expect([answer.status, answer.headers['content-type'], answer.text]).toEqual([
        200,
        stream ? 'text/event-stream' : 'application/json',
        sent,
      ]);
      expect(await b.look(run)).toEqual({
        run: {
          input_tokens: 100,
          output_tokens: 50,
          cached_tokens: 40,
          cost_micros: COST,
          model_failure: null,
        },
        thread: { spent: COST, reserved: 0 },
        project: { spent: COST, reserved: 0 },
        outcomes: ['ok'],
      });
    },
  );

  test('pieces go on as they come', async () => {
    let go = () => {};
    const seen = new Promise<void>((resolve) => {
      go = resolve;
    });
    b.upstream.answers(async (res, one) => {
      sse(res, ': first\n\n');
      await seen;
      answerAll(res, one);
    });
    const answer = await b.call(await b.run(), PATHS[wire], request(wire, 300, { stream: true }), {
      onPiece: (text) => {
        if (text.includes('first')) go();
      },
    });
    expect([answer.status, answer.complete]).toEqual([200, true]);
  });

  test('a stream that is cut ends with an error of its wire, and the most that it can have been is charged', async () => {
    b.upstream.answers((res) => {
      sse(res, ...PIECES[wire]);
      setImmediate(() => res.destroy());
    });
    const run = await b.run({ limit: 100_000 });
    const answer = await b.call(run, PATHS[wire], request(wire, 300, { stream: true }));
    expect(answer.text).toContain(
      wire === 'anthropic'
        ? 'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"The model provider acme broke off its answer."}}'
        : wire === 'openai-chat'
          ? 'data: {"error":{"message":"The model provider acme broke off its answer."'
          : 'event: error\ndata: {"type":"error","code":"upstream_error","message":"The model provider acme broke off its answer."',
    );
    const look = await b.look(run);
    expect(look).toMatchObject({
      run: {
        model_failure: {
          code: 'model_error',
          message: 'The model provider acme broke off its answer',
          count: 1,
        },
      },
      outcomes: ['cut'],
    });
    // Anthropic reports the input at once, and hides no thinking that was not asked for: what counts is the
    // text's bytes and the start of its block. The others may have thought unseen.
    if (wire === 'anthropic')
      expect(look.run).toMatchObject({ input_tokens: 100, output_tokens: 64 + 5, cost_micros: 100 + 2 * 69 });
    else expect(look.run).toMatchObject({ output_tokens: 300, cost_micros: look.thread.spent });
    expect(look.thread.reserved).toBe(0);
  });

  test('an agent that goes away ends the call at the provider; it is charged, and no failure of the model', async () => {
    let gone = () => {};
    const isGone = new Promise<void>((resolve) => {
      gone = resolve;
    });
    b.upstream.answers((res) => {
      res.once('close', gone);
      sse(res, ...PIECES[wire]);
    });
    const run = await b.run({ limit: 100_000 });
    await b.call(run, PATHS[wire], request(wire, 300, { stream: true }), { onPiece: () => true });
    await isGone;
    const look = await settled(run);
    expect(look).toMatchObject({
      run: { model_failure: null },
      thread: { reserved: 0 },
      outcomes: ['disconnected'],
    });
    expect(look.thread.spent).toBe(wire === 'anthropic' ? 100 + 2 * 69 : look.run.input_tokens + 2 * 300);
  });

  test('a stream far beyond its maximum is cut', async () => {
    b.upstream.answers((res) => {
      sse(res, PIECES[wire][0]);
      const more = () => {
        while (!res.destroyed && res.write(`data: ${JSON.stringify(PIECES[wire].at(-1))}\n\n`));
      };
      res.on('drain', more);
      more();
    });
    const run = await b.run({ limit: 100_000 });
    const answer = await b.call(run, PATHS[wire], request(wire, 20, { stream: true }));
    expect(answer.text).toContain('went on beyond the maximum of its output and was cut');
    const look = await b.look(run);
    expect(look.outcomes).toEqual(['overrun']);
    expect(look.run.output_tokens).toBe(20);
  });

  test("an error inside of a stream is the model's", async () => {
    b.upstream.answers((res) => {
      sse(
        res,
        wire === 'openai-chat'
          ? { error: { message: 'Overloaded' } }
          : wire === 'anthropic'
            ? { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
            : { type: 'error', message: 'Overloaded' },
      );
      res.end();
    });
    const run = await b.run();
    const answer = await b.call(run, PATHS[wire], request(wire, 300, { stream: true }));
    expect(answer.text.match(/Overloaded/g)).toHaveLength(1);
    expect((await b.look(run)).run.model_failure?.message).toBe(
      'The model provider acme broke off its answer: Overloaded',
    );
  });
});

/** The start of a stream of each wire: the input that Anthropic reports, and a text of five bytes. */
const PIECES: Record<(typeof WIRES)[number], unknown[]> = {
  anthropic: [
    { type: 'message_start', message: { usage: { input_tokens: 100, output_tokens: 1 } } },
    { type: 'content_block_delta', delta: { type: 'text_delta', text: 'hello' } },
  ],
  'openai-chat': [{ choices: [{ delta: { content: 'hello' } }] }],
  'openai-responses': [{ type: 'response.output_text.delta', delta: 'hello' }],
};

describe('answers that are none', () => {
  const ask = async (answer: (res: ServerResponse) => void, stream: boolean) => {
    b.upstream.answers(answer);
    const run = await b.run({ limit: 100_000 });
    return {
      answer: await b.call(run, PATHS.anthropic, request('anthropic', 300, { stream })),
      look: await b.look(run),
    };
  };

  test.each([
    [
      'no JSON',
      false,
      (res: ServerResponse) => res.writeHead(200, { 'content-type': 'application/json' }).end('<html>'),
      'answered with what is no JSON object',
    ],
    [
      'no content type',
      true,
      (res: ServerResponse) => res.writeHead(200).end('{}'),
      'answered with the content type (none)',
    ],
    [
      'a page',
      true,
      (res: ServerResponse) => res.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
      'answered with the content type text/html',
    ],
    [
      'compressed',
      false,
      (res: ServerResponse) =>
        res.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end('x'),
      'answered with the content type application/json',
    ],
    [
      'half of it',
      false,
      (res: ServerResponse) => {
        res.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 }).write('{');
        setImmediate(() => res.destroy());
      },
      'broke off its answer',
    ],
    [
      'nothing more',
      false,
      (res: ServerResponse) => {
        res.writeHead(200, { 'content-type': 'application/json' }).write('{');
      },
      'broke off its answer',
    ],
  ])('%s', async (_, stream, answering, problem) => {
    const { answer, look } = await ask(answering, stream);
    expect([answer.status, answer.headers['x-should-retry'], answer.body]).toEqual([
      502,
      'false',
      { type: 'error', error: { type: 'api_error', message: `The model provider acme ${problem}.` } },
    ]);
    expect(look.run.model_failure).toEqual({
      code: 'model_error',
      message: `The model provider acme ${problem}`,
      count: 1,
    });
    expect([look.thread.reserved, look.thread.spent > 0]).toEqual([0, true]);
  });

  test('events that are no JSON', async () => {
    const { answer, look } = await ask((res) => {
      sse(res, 'data: what\n\n', 'data: [DONE]\n\n');
      res.end();
    }, true);
    expect([answer.status, look.run.model_failure?.message]).toEqual([
      200,
      'The model provider acme ended its answer: sent what is no JSON',
    ]);
  });
});

test("a call that goes well ends a row of failures; the gateway's end settles what is under way", async () => {
  const run = await b.run();
  b.upstream.answers((res) =>
    res.writeHead(400, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}'),
  );
  for (let i = 0; i < 2; i++) await b.call(run, PATHS.anthropic, request('anthropic', 10));
  expect((await b.look(run)).run.model_failure?.count).toBe(2);
  b.upstream.answers(answerAll);
  await b.call(run, PATHS.anthropic, request('anthropic', 10));
  expect((await b.look(run)).run.model_failure).toBe(null);
  const other = await b.run({ limit: 100_000 });
  let begun = () => {};
  const hasBegun = new Promise<void>((resolve) => {
    begun = resolve;
  });
  b.upstream.answers((res) => {
    sse(res, PIECES.anthropic[0]);
  });
  const open = b.call(other, PATHS.anthropic, request('anthropic', 300, { stream: true }), {
    onPiece: () => {
      begun();
    },
  });
  await hasBegun;
  await b.gateway.close();
  expect((await open).complete).toBe(false);
  expect(await b.look(other)).toMatchObject({
    thread: { reserved: 0 },
    outcomes: ['closed'],
    run: { input_tokens: 100, model_failure: null },
  });
});
