/** Calls of MCP servers through the gateway, with a real server and a real client. */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { expectStatus, newAccount, tenant } from '../accounts/callers.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { proxyMcp } from './mcp-proxy.ts';

type Handler = (req: IncomingMessage, res: ServerResponse, body: string) => void;
const SECRET = 'Bearer kept-outside';
const answersJson: Handler = (_req, res) => {
  res
    .writeHead(200, {
      'content-type': 'application/json',
      'mcp-session-id': 'sess-1',
      'set-cookie': 'a=b',
      'x-inner': 'x',
      server: 'inner',
    })
    .end('{"jsonrpc":"2.0","id":1,"result":{}}');
};

let s: TestServer;
let key: string;
let run: { id: string; org_id: string; project_id: string };
let behind: Server;
let front: Server;
let handler: Handler;
let seen: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[];
/** How often something has connected to the server. */
let connections: number;
let allowPrivate: boolean;
/** What the proxy has logged. */
let logged: unknown[];
let limits: { headersTimeout: number; bodyTimeout: number } | undefined;

const portOf = (server: Server) => (server.address() as AddressInfo).port;
const listen = async (server: Server) => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
};
const closed = (server: Server) =>
  new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api', HEADRACE_MCP_ALLOW_PRIVATE: '1' });
  const made = await tenant(s);
  ({ key } = await newAccount(s, made.cookie));
  const project = expectStatus(await s.call('POST', '/api/projects', { name: 'n' }, { key }), 201).body
    .project;
  run = { id: 'run_1', org_id: made.organization.id, project_id: project.id };
  behind = await listen(
    createServer((req, res) => {
      void (async () => {
        let body = '';
        for await (const part of req) body += String(part);
        seen.push({ method: req.method!, url: req.url!, headers: req.headers, body });
        handler(req, res, body);
      })().catch(() => undefined);
    }),
  );
  behind.on('connection', () => {
    connections++;
  });
  front = await listen(
    createServer((req, res) => {
      const ctx = {
        ...s.service.ctx,
        config: { ...s.service.ctx.config, mcpAllowPrivate: allowPrivate },
        log: {
          warn: (...said: unknown[]) => {
            logged.push(said);
          },
        } as never,
      };
      void proxyMcp(
        ctx,
        { run, serverId: req.url!.slice('/mcp/'.length), ...(limits ? { limits } : {}) },
        req,
        res,
      );
    }),
  );
}, 60_000);
beforeEach(() => {
  [handler, seen, connections, allowPrivate, logged, limits] = [answersJson, [], 0, true, [], undefined];
});
afterAll(async () => {
  if (front) await closed(front);
  if (behind) await closed(behind);
  await s?.close();
});

const create = async (body: Record<string, unknown> = {}) =>
  expectStatus(
    await s.call(
      'POST',
      '/api/mcp-servers',
      {
        name: 'n',
        transport: 'http',
        url: `http://127.0.0.1:${portOf(behind)}/mcp?v=1`,
        headers: { Authorization: SECRET, 'X-Team': 'garden' },
        ...body,
      },
      { key },
    ),
    201,
  ).body.mcpServer.id as string;
/** Stores a server that the API would refuse. */
const createAt = async (url: string) => {
  const id = await create();
  await s.service.ctx.db.updateTable('mcp_servers').set({ url }).where('id', '=', id).execute();
  return id;
};
const call = (id: string, init: RequestInit = {}) =>
  fetch(`http://127.0.0.1:${portOf(front)}/mcp/${id}`, {
    method: 'POST',
    body: '{"jsonrpc":"2.0"}',
    headers: { 'content-type': 'application/json' },
    ...init,
  });
const refusal = async (answer: Response) =>
  `${answer.status} ${((await answer.json()) as { error: { code: string } }).error.code}`;

describe('200', () => {
  test("MCP's own headers pass both ways, the stored ones are added, others do not pass", async () => {
    const id = await create();
    const answer = await call(id, {
      headers: {
        authorization: 'Bearer of-the-run',
        cookie: 'c=d',
        'x-api-key': 'k',
        'x-team': 'mine',
        'x-more': 'm',
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-session-id': 'sess-0',
        'mcp-protocol-version': '2025-06-18',
        'last-event-id': '7',
        'user-agent': 'agent',
      },
    });
    expect([answer.status, await answer.text()]).toEqual([200, '{"jsonrpc":"2.0","id":1,"result":{}}']);
    const {
      connection: _,
      date: __,
      'keep-alive': ___,
      'transfer-encoding': ____,
      ...headers
    } = Object.fromEntries(answer.headers);
    expect(headers).toEqual({ 'content-type': 'application/json', 'mcp-session-id': 'sess-1' });
    const { host, connection, ...got } = seen[0]!.headers;
    expect([seen[0]!.method, seen[0]!.url, seen[0]!.body, host, connection]).toEqual([
      'POST',
      '/mcp?v=1',
      '{"jsonrpc":"2.0"}',
      `127.0.0.1:${portOf(behind)}`,
      'keep-alive',
    ]);
    expect(got).toEqual({
      authorization: SECRET,
      'x-team': 'garden',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-session-id': 'sess-0',
      'mcp-protocol-version': '2025-06-18',
      'last-event-id': '7',
      'accept-encoding': 'identity',
      'user-agent': 'headrace',
      'content-length': '17',
    });
  });

  test('GET and DELETE have no body; whatever status the server gives is passed on', async () => {
    const id = await create();
    handler = (_req, res) => {
      res.writeHead(404, { 'content-type': 'text/plain' }).end('no session');
    };
    const answers = [
      await call(id, { method: 'DELETE', body: null }),
      await call(id, { method: 'GET', body: null }),
    ];
    expect(await Promise.all(answers.map(async (answer) => [answer.status, await answer.text()]))).toEqual([
      [404, 'no session'],
      [404, 'no session'],
    ]);
    expect(seen.map(({ method, body }) => [method, body])).toEqual([
      ['DELETE', ''],
      ['GET', ''],
    ]);
    handler = (_req, res) => {
      res.writeHead(202).end();
    };
    expect((await call(id)).status).toBe(202);
  });

  test("events arrive as they are sent, and the server's stream ends with the agent's connection", async () => {
    const id = await create();
    let stream: ServerResponse;
    handler = (_req, res) => {
      stream = res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write('data: 1\n\n');
    };
    const gone = new AbortController();
    const answer = await call(id, { method: 'GET', body: null, signal: gone.signal });
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    expect([answer.headers.get('content-type'), (await reader.read()).value]).toEqual([
      'text/event-stream',
      'data: 1\n\n',
    ]);
    stream!.write('data: 2\n\n');
    expect((await reader.read()).value).toBe('data: 2\n\n');
    gone.abort();
    await once(stream!, 'close');
    expect(stream!.writableEnded).toBe(false);
  });

  test('a call that its agent gives up is given up at the server', async () => {
    const id = await create();
    const gone = new AbortController();
    const ended = new Promise<void>((resolve) => {
      handler = (_req, res) => {
        res.once('close', () => {
          resolve();
        });
        gone.abort();
      };
    });
    await expect(call(id, { signal: gone.signal })).rejects.toThrow();
    await ended;
    expect(logged).toEqual([]);
  });

  test('who does not read holds the server back', async () => {
    const id = await create();
    let sent = 0;
    let isFull = false;
    handler = (_req, res) => {
      res.writeHead(200, { 'content-type': 'application/octet-stream' });
      const more = () => {
        while (sent < 128) {
          sent++;
          if (!res.write(Buffer.alloc(1024 * 1024))) {
            isFull = true;
            res.once('drain', () => {
              isFull = false;
              more();
            });
            return;
          }
        }
        res.end();
      };
      more();
    };
    const agent = request(`http://127.0.0.1:${portOf(front)}/mcp/${id}`, { method: 'GET' });
    agent.end();
    const [answer] = (await once(agent, 'response')) as [IncomingMessage];
    // The buffers on the way are full once the count stops growing.
    let before = -1;
    await expect
      .poll(
        () => {
          const still = isFull && before === sent;
          before = sent;
          return still;
        },
        { timeout: 20_000, interval: 300 },
      )
      .toBe(true);
    expect(sent).toBeLessThan(64);
    let read = 0;
    for await (const part of answer) read += (part as Buffer).length;
    expect(read).toBe(128 * 1024 * 1024);
  }, 60_000);
});

describe('404 and 405', () => {
  test('a server of another organization or project, one of stdio, and one that is not there', async () => {
    const elsewhere = expectStatus(await s.call('POST', '/api/projects', { name: 'n' }, { key }), 201).body
      .project.id as string;
    const foreign = expectStatus(
      await s.call('POST', '/api/mcp-servers', {
        name: 'n',
        transport: 'http',
        url: `http://127.0.0.1:${portOf(behind)}/`,
      }),
      201,
    ).body.mcpServer.id as string;
    const none = [
      foreign,
      await create({ projectIds: [elsewhere] }),
      await create({ transport: 'stdio', url: undefined, headers: undefined, command: 'c' }),
      'mcp_x',
      '',
    ];
    expect(await Promise.all(none.map(async (id) => refusal(await call(id))))).toEqual(
      none.map(() => '404 mcp_server_not_found'),
    );
    expect(seen).toEqual([]);
    expect((await call(await create({ projectIds: [run.project_id] }))).status).toBe(200);
  });

  test('a server that was deleted meanwhile', async () => {
    const id = await create();
    expect((await call(id)).status).toBe(200);
    expectStatus(await s.call('DELETE', `/api/mcp-servers/${id}`, undefined, { key }), 200);
    expect(await refusal(await call(id))).toBe('404 mcp_server_not_found');
  });

  test('another method', async () => {
    const answer = await call(await create(), { method: 'PUT' });
    expect([answer.headers.get('allow'), await refusal(answer), seen.length]).toEqual([
      'GET, POST, DELETE',
      '405 method_not_allowed',
      0,
    ]);
  });
});

describe('413 and 429', () => {
  test('a body over 4 MiB, with and without a content-length', async () => {
    const id = await create();
    const limit = 4 * 1024 * 1024;
    expect([(await call(id, { body: 'x'.repeat(limit) })).status, seen[0]!.body.length]).toEqual([
      200,
      limit,
    ]);
    expect(await refusal(await call(id, { body: 'x'.repeat(limit + 1) }))).toBe('413 request_too_large');
    const chunked = connect(portOf(front), '127.0.0.1');
    chunked.write(
      `POST /mcp/${id} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n${(limit + 1).toString(16)}\r\n`,
    );
    chunked.write(Buffer.alloc(limit + 1));
    const [first] = (await once(chunked, 'data')) as [Buffer];
    expect(first.toString()).toMatch(/^HTTP\/1.1 413 /);
    chunked.destroy();
    expect(seen.length).toBe(1);
  });

  test('more than 64 calls of a run at once', async () => {
    const id = await create();
    handler = (_req, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    };
    const gone = new AbortController();
    const streams = await Promise.all(
      Array.from({ length: 64 }, () => call(id, { method: 'GET', body: null, signal: gone.signal })),
    );
    expect(new Set(streams.map((one) => one.status))).toEqual(new Set([200]));
    expect(await refusal(await call(id))).toBe('429 rate_limited');
    gone.abort();
    handler = answersJson;
    await expect.poll(async () => (await call(id)).status, { timeout: 5_000, interval: 20 }).toBe(200);
  });
});

describe('502', () => {
  test('a private address, when it is not allowed: nothing connects to it, given as an address or by a name', async () => {
    const port = portOf(behind);
    allowPrivate = false;
    for (const url of [
      `http://127.0.0.1:${port}/`,
      `https://127.0.0.1:${port}/`,
      `http://localhost:${port}/`,
      `http://[::1]:${port}/`,
      `http://[::ffff:127.0.0.1]:${port}/`,
      `http://0.0.0.0:${port}/`,
      'http://169.254.169.254/latest/meta-data',
    ]) {
      expect(await refusal(await call(await createAt(url))), url).toBe('502 mcp_server_refused');
    }
    expect(connections).toBe(0);
    // A connection that a service with private addresses has kept is not used by one without.
    allowPrivate = true;
    const id = await createAt(`http://localhost:${port}/`);
    expect((await call(id)).status).toBe(200);
    allowPrivate = false;
    expect(await refusal(await call(id))).toBe('502 mcp_server_refused');
  });

  test('a redirect is not followed, and its target is not revealed', async () => {
    const id = await create();
    handler = (req, res) => {
      if (req.url === '/there') return answersJson(req, res, '');
      res.writeHead(307, { location: '/there' }).end('moved to /there');
    };
    const answer = await call(id, { redirect: 'manual' });
    expect([answer.headers.get('location'), await refusal(answer), seen.length]).toEqual([
      null,
      '502 mcp_server_redirects',
      1,
    ]);
  });

  test("stored headers that are refused: not the agent's to try again", async () => {
    const id = await create();
    handler = (_req, res) => {
      res
        .writeHead(401, { 'www-authenticate': 'Bearer resource_metadata="https://x.example"' })
        .end('bad token kept-outside');
    };
    const answer = await call(id);
    expect(answer.headers.get('www-authenticate')).toBeNull();
    const text = await answer.text();
    expect([answer.status, text.includes('mcp_server_unauthorized'), text.includes('kept-outside')]).toEqual([
      502,
      true,
      false,
    ]);
  });

  test('a server that is away, or that drops the connection; the log has neither address nor secret', async () => {
    const away = await listen(createServer());
    const port = portOf(away);
    await closed(away);
    expect(await refusal(await call(await createAt(`http://127.0.0.1:${port}/?token=kept-outside`)))).toBe(
      '502 mcp_server_unavailable',
    );
    const id = await create();
    handler = (req) => {
      req.socket.destroy();
    };
    expect(await refusal(await call(id))).toBe('502 mcp_server_unavailable');
    expect(logged.length).toBe(2);
    expect(JSON.stringify(logged)).not.toMatch(/kept-outside|127\.0\.0\.1/);
    expect(JSON.stringify(logged)).toContain('ECONNREFUSED');
  });

  test('secrets that cannot be opened', async () => {
    const id = await create();
    await s.service.ctx.db
      .updateTable('mcp_servers')
      .set({ secrets_sealed: Buffer.alloc(64) })
      .where('id', '=', id)
      .execute();
    expect([await refusal(await call(id)), seen.length]).toEqual(['502 mcp_server_unavailable', 0]);
  });

  test('an answer that breaks is cut, not ended', async () => {
    const id = await create();
    handler = (_req, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write('data: 1\n\n', () => res.destroy());
    };
    const answer = await call(id);
    await expect(answer.text()).rejects.toThrow();
  });
});

describe('504', () => {
  test('a server that never begins to answer; one that falls silent is cut', async () => {
    const id = await create();
    limits = { headersTimeout: 300, bodyTimeout: 60_000 };
    handler = () => undefined;
    expect(await refusal(await call(id))).toBe('504 mcp_server_timeout');
    limits = { headersTimeout: 60_000, bodyTimeout: 300 };
    handler = (_req, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
    };
    await expect((await call(id)).text()).rejects.toThrow();
  });
});
