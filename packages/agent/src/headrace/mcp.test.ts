import { createServer, request as ask, type IncomingMessage, type Server } from 'node:http';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Bench, script } from './headrace.fixture.ts';

/** A small MCP server on stdio: one JSON message per line. The HTTP server shares `answer`. */
const ANSWER = `function answer({ id, method, params }) {
  const tool = (name) => ({ name, description: 'The tool ' + name, inputSchema: { type: 'object', properties: { text: { type: 'string' } } } });
  const results = {
    initialize: () => ({ protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'small', version: '1' } }),
    'tools/list': () => ({ tools: [tool('echo'), tool('fail it'), tool('picture'), ...Array.from({ length: 200 }, (_, i) => tool('more' + i))] }),
    'tools/call': () => ({
      echo: { content: [{ type: 'text', text: 'echo of ' + params.arguments?.text + ' with ' + (process.env.MCP_SECRET ?? 'nothing') + ' and ' + (process.env.HEADRACE_TOKEN ?? 'no token') }] },
      'fail it': { isError: true, content: [{ type: 'text', text: 'it failed' }] },
      picture: { content: [{ type: 'image', mimeType: 'image/png', data: 'AAAA' }] },
    })[params.name],
  };
  if (id === undefined) return undefined;
  const result = results[method]?.();
  return { jsonrpc: '2.0', id, ...(result ? { result } : { error: { code: -32601, message: 'no ' + method } }) };
}
`;
const STDIO = `${ANSWER}
let text = '';
process.stdin.on('data', (part) => {
  const lines = (text + part).split('\\n');
  text = lines.pop();
  for (const line of lines) { const reply = answer(JSON.parse(line)); if (reply) console.log(JSON.stringify(reply)); }
});
`;

let bench: Bench;
let server: Server;
let url = '';
const seen: { method: string | undefined; headers: IncomingMessage['headers'] }[] = [];
beforeAll(async () => {
  bench = await Bench.open();
  bench.write('mcp.cjs', STDIO, bench.folder);
  const answer = runInNewContext(`${ANSWER}\nanswer`, { process: { env: { MCP_SECRET: 'http' } } }) as (
    message: object,
  ) => object | undefined;
  server = createServer((request, response) => {
    seen.push({ method: request.method, headers: request.headers });
    if (request.headers['x-key'] !== 'k') return void response.writeHead(403).end();
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const parts: Buffer[] = [];
    request
      .on('data', (part: Buffer) => parts.push(part))
      .on('end', () => {
        const reply = answer(JSON.parse(Buffer.concat(parts).toString()) as object);
        if (!reply) response.writeHead(202).end();
        else if (JSON.stringify(reply).includes('echo of'))
          response
            .writeHead(200, { 'content-type': 'text/event-stream' })
            .end(`event: message\ndata: ${JSON.stringify(reply)}\n\n`);
        else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply));
      });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  url = `http://127.0.0.1:${(server.address() as { port: number }).port}/mcp/x`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await bench.close();
});

const stdio = (name: string, command = process.execPath) => ({
  name,
  command,
  args: [join(bench.folder, 'mcp.cjs')],
  env: [{ name: 'MCP_SECRET', value: 'stdio' }],
});
const http = (name: string, key = 'k') => ({
  type: 'http',
  name,
  url,
  headers: [{ name: 'x-key', value: key }],
});
const toolNames = (): string[] =>
  (bench.model.calls.at(-1)!.body.tools as { name: string }[]).map(({ name }) => name);

describe('the tools of MCP servers', () => {
  it('are offered by server and name, asked for, and made', async () => {
    const agent = await (await bench.start()).open([stdio('my files'), http('web')]);
    agent.allow = ({ title }) => title !== 'web: picture';
    await agent.prompt(
      script([
        {
          call: [
            { tool: 'my_files__echo', input: { text: 'one' } },
            { tool: 'web__echo', input: { text: 'two' } },
            { tool: 'web__fail_it', input: {} },
            { tool: 'my_files__picture', input: {} },
            { tool: 'web__picture', input: {} },
          ],
        },
      ]),
    );
    expect(
      agent.calls.map(({ name, title, output, statuses }) => [name, title, output, statuses.at(-1)]),
    ).toEqual([
      ['my_files__echo', 'my files: echo', 'echo of one with stdio and no token', 'completed'],
      ['web__echo', 'web: echo', 'echo of two with http and no token', 'completed'],
      ['web__fail_it', 'web: fail it', 'it failed', 'failed'],
      ['my_files__picture', 'my files: picture', '[an image, shown in the next message]', 'completed'],
      ['web__picture', 'web: picture', expect.stringContaining('denied'), 'failed'],
    ]);
    expect(JSON.stringify(bench.model.calls.at(-1)!.body.messages)).toContain('"data":"AAAA"');
    expect(toolNames().length).toBeLessThanOrEqual(110);
    expect(new Set(toolNames()).size).toBe(toolNames().length);
  });

  it('that cannot be reached are told once, and the turn goes on', async () => {
    const agent = await (
      await bench.start()
    ).open([stdio('gone', '/nowhere/server'), http('closed', 'wrong'), http('web')]);
    expect(await agent.prompt('Hello')).toEqual({ stopReason: 'end_turn' });
    expect(agent.thoughts).toMatch(/MCP server not available: gone \(.*ENOENT.*\)/);
    expect(agent.thoughts).toMatch(/MCP server not available: closed \(.*403.*\)/);
    expect(toolNames()).toContain('web__echo');
    expect(bench.model.calls.at(-1)!.body.system[0].text).toMatch(
      /Tools that are missing in this turn: gone/,
    );
  });
});

describe('with a socket to the gateway', () => {
  it("the model and the gateway's MCP servers are reached by it, whatever the address says", async () => {
    const paths: string[] = [];
    const socketPath = join(bench.folder, 'gateway.sock');
    const gateway = createServer((request, response) => {
      paths.push(request.url!);
      const target = request.url!.startsWith('/mcp/') ? server : bench.model;
      const base = target === server ? new URL(url).origin : bench.model.url;
      const path = request.url!.replace(/^\/anthropic/, '');
      request.pipe(
        ask(`${base}${path}`, { method: request.method, headers: request.headers }, (answer) => {
          response.writeHead(answer.statusCode!, answer.headers);
          answer.pipe(response);
        }),
      );
    });
    await new Promise<void>((resolve) => {
      gateway.listen(socketPath, resolve);
    });
    try {
      const agent = await bench.start({
        env: { HEADRACE_GATEWAY: 'http://127.0.0.1:9/anthropic/v1', HEADRACE_GATEWAY_SOCKET: socketPath },
      });
      await agent.open([{ ...http('web'), url: 'http://127.0.0.1:9/mcp/x' }]);
      await agent.prompt(script([{ call: [{ tool: 'web__echo', input: { text: 'three' } }] }]));
      expect(agent.calls[0]!.output).toBe('echo of three with http and no token');
      expect(paths).toContain('/anthropic/v1/messages');
      expect(paths).toContain('/mcp/x');
    } finally {
      gateway.closeAllConnections();
      gateway.close();
    }
  });
});
