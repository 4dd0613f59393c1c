import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Bench, script, type Agent } from './headrace.fixture.ts';

let bench: Bench;
let count = 0;
beforeAll(async () => {
  bench = await Bench.open();
});
afterAll(() => bench.close());

const bodies = () =>
  bench.model.calls.map(
    ({ body }) => body as { messages: { role: string; content: unknown }[]; tools?: unknown[] },
  );
const isSummary = ({ tools = [] }: { tools?: unknown[] }) => tools.length === 0;

async function start(
  contextTokens: number,
): Promise<{ agent: Agent; home: string; saved: () => { role: string; content: unknown }[] }> {
  const home = bench.folderOf(`home-${++count}`);
  const agent = await (
    await bench.start({
      home,
      env: { HEADRACE_CONTEXT_TOKENS: String(contextTokens), HEADRACE_MAX_OUTPUT_TOKENS: '1000' },
    })
  ).open();
  return {
    agent,
    home,
    saved: () => JSON.parse(readFileSync(join(home, '.headrace/session.json'), 'utf8')).messages,
  };
}

/**
 * Every call has its result in the next message, and every result its call: the providers refuse anything
 * else.
 */
function expectPaired(messages: { role: string; content: unknown }[]): void {
  const ids = (message: { content: unknown } | undefined, type: string, key: string) =>
    (Array.isArray(message?.content) ? (message.content as Record<string, unknown>[]) : [])
      .filter((part) => part['type'] === type)
      .map((part) => part[key]);
  messages.forEach((message, i) => {
    if (message.role === 'assistant')
      expect(ids(messages[i + 1], 'tool_result', 'tool_use_id')).toEqual(ids(message, 'tool_use', 'id'));
    expect(ids(message, 'tool_result', 'tool_use_id')).toEqual(ids(messages[i - 1], 'tool_use', 'id'));
  });
}

describe('a long conversation', () => {
  it('is trimmed, then summarised by the model, and goes on', async () => {
    bench.write('big.txt', 'some words of a file\n'.repeat(500));
    const { agent, saved } = await start(16_000);
    const before = bench.model.calls.length;
    for (let i = 0; i < 9; i++) {
      const read = {
        say: `Step ${i}. ${'word '.repeat(600)}`,
        call: [{ tool: 'read', input: { path: 'big.txt' } }],
      };
      expect(await agent.prompt(script([read, { say: `Finished ${i}.` }], `Request ${i}.`))).toEqual({
        stopReason: 'end_turn',
      });
      expect(agent.reply).toMatch(new RegExp(`Finished ${i}\\.$`));
    }
    const asked = bodies().slice(before);
    expect(asked.some(isSummary)).toBe(true);
    expect(agent.thoughts).toContain('Older messages were summarised');
    for (const body of asked.filter((one) => !isSummary(one))) {
      expect(JSON.stringify(body.messages).length).toBeLessThan(16_000 * 4);
      expectPaired(body.messages);
    }
    const kept = JSON.stringify(saved());
    expect(kept).toContain('[The conversation before this point, summarised]');
    expect(kept).toContain('Request 8.');
    expect(kept).not.toContain('Request 0.');
    expect(await agent.prompt('Go on.')).toEqual({ stopReason: 'end_turn' });
  });

  it('gives up its large outputs first where that is enough', async () => {
    bench.write('large.txt', 'x'.repeat(60).concat('\n').repeat(600));
    const { agent, saved } = await start(20_000);
    const before = bench.model.calls.length;
    await agent.prompt(
      script([
        ...Array.from({ length: 3 }, () => ({ call: [{ tool: 'read', input: { path: 'large.txt' } }] })),
        { say: 'Read.' },
      ]),
    );
    expect(bodies().slice(before).some(isSummary)).toBe(false);
    expect(agent.thoughts).toContain('Old outputs were left out');
    expect(JSON.stringify(saved())).toContain('the rest was left out to save room');
  });

  it("goes by the provider's count where that is higher", async () => {
    const { agent } = await start(50_000);
    await agent.prompt(
      script([
        { say: 'A little.', call: [{ tool: 'list', input: {} }], inputTokens: 45_000 },
        { say: 'Done.' },
      ]),
    );
    expect(agent.thoughts).toMatch(/to make room/);
  });

  it('is compacted once when the provider says that it is too long, and asked again once', async () => {
    const home = bench.folderOf('refused');
    const agent = await (await bench.start({ home, env: { HEADRACE_GATEWAY: `${refusing.url}/v1` } })).open();
    await agent.prompt('First. '.repeat(3000));
    await agent.prompt('Second. '.repeat(3000));
    refusing.refuse = 1;
    expect(await agent.prompt('Third.')).toEqual({ stopReason: 'end_turn' });
    expect(agent.thoughts).toContain('to make room');
    refusing.refuse = 9;
    await expect(agent.prompt('Fourth.')).rejects.toThrow('answered 400: prompt is too long');
    expect(refusing.refuse).toBe(7);
  });
});

/** A proxy of the model server that refuses this many requests with tools as too long. */
const refusing = { url: '', refuse: 0, close: () => undefined as unknown };
beforeAll(async () => {
  const server = createServer((incoming, response) => {
    const parts: Buffer[] = [];
    incoming
      .on('data', (part: Buffer) => parts.push(part))
      .on('end', () => {
        const body = Buffer.concat(parts);
        if (refusing.refuse > 0 && (JSON.parse(body.toString()) as { tools?: unknown[] }).tools?.length) {
          refusing.refuse--;
          response.writeHead(400, { 'content-type': 'application/json' }).end(
            JSON.stringify({
              type: 'error',
              error: {
                type: 'invalid_request_error',
                message: 'prompt is too long: 210000 tokens > 200000 maximum',
              },
            }),
          );
          return;
        }
        request(
          `${bench.model.url}${incoming.url}`,
          { method: incoming.method, headers: incoming.headers },
          (answer) => {
            response.writeHead(answer.statusCode!, answer.headers);
            answer.pipe(response);
          },
        ).end(body);
      });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  refusing.url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  refusing.close = () => {
    server.closeAllConnections();
    server.close();
  };
});
afterAll(() => refusing.close());

describe('a session', () => {
  it('goes on after its agent was killed in the midst of a turn', async () => {
    const { agent, home } = await start(200_000);
    const turn = agent
      .prompt(
        script([
          { say: 'One.', call: [{ tool: 'list', input: {} }] },
          { say: 'Two.', call: [{ tool: 'bash', input: { command: 'sleep 30' } }] },
        ]),
      )
      .catch(() => undefined);
    await agent.until(
      () => agent.calls.some(({ name, statuses }) => name === 'bash' && statuses.includes('in_progress')),
      'the command',
    );
    await agent.kill();
    await turn;
    const next = await bench.start({ home });
    await next.request('session/load', { sessionId: agent.sessionId, cwd: '/', mcpServers: [] });
    next.sessionId = agent.sessionId;
    expect(await next.prompt(script([{ say: 'Back.' }]))).toEqual({ stopReason: 'end_turn' });
    const { messages } = bodies().at(-1)!;
    expectPaired(messages);
    expect(JSON.stringify(messages).split('One.')).toHaveLength(3);
    expect(JSON.stringify(messages).split('Two.')).toHaveLength(2);
    expect(JSON.stringify(messages)).toContain('[This turn was interrupted.');
  });

  it('goes on with a model of another wire', async () => {
    const { agent, home } = await start(200_000);
    await agent.prompt(script([{ say: 'One.', call: [{ tool: 'list', input: {} }] }, { say: 'Two.' }]));
    for (const wire of ['openai-responses', 'openai-chat', 'anthropic'] as const) {
      const next = await bench.start({ home, wire });
      await next.request('session/load', { sessionId: agent.sessionId, cwd: '/', mcpServers: [] });
      next.sessionId = agent.sessionId;
      expect(
        await next.prompt(
          script([{ say: `By ${wire}.`, call: [{ tool: 'list', input: {} }] }, { say: 'Again.' }]),
        ),
      ).toEqual({ stopReason: 'end_turn' });
    }
    // Once in the script, and once as the answer.
    for (const part of ['One.', 'Two.', 'By openai-responses.', 'By openai-chat.', 'By anthropic.'])
      expect(JSON.stringify(bodies().at(-1)).split(part)).toHaveLength(3);
  });

  it.each([
    ['is broken', '{'],
    ["is another's", JSON.stringify({ version: 1, sessionId: 'other', messages: [] })],
    ['is of another form', JSON.stringify({ version: 99, sessionId: 'mine', messages: [] })],
  ])('is not loaded where the file %s', async (_, text) => {
    const home = bench.folderOf(`home-${++count}`);
    bench.folderOf(`home-${count}/.headrace`);
    writeFileSync(join(home, '.headrace/session.json'), text);
    const agent = await bench.start({ home });
    await expect(
      agent.request('session/load', { sessionId: 'mine', cwd: '/', mcpServers: [] }),
    ).rejects.toMatchObject({ code: -32002 });
    await agent.open();
    expect(await agent.prompt('Hello')).toEqual({ stopReason: 'end_turn' });
  });
});
