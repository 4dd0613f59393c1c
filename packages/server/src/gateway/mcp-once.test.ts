import { createServer } from 'node:http';
import { createMCPClient } from '@ai-sdk/mcp';
import { test } from 'vitest';
import { startTestServer } from '../test-server.ts';
import { proxyMcp } from './mcp-proxy.ts';
test('once', async () => {
  const s = await startTestServer({ HEADRACE_ROLES: 'api', HEADRACE_MCP_ALLOW_PRIVATE: '1' });
  const seen: string[] = [];
  const behind = createServer((req, res) => { void (async () => {
    let body = ''; for await (const p of req) body += String(p);
    seen.push(`${req.method} ${req.headers.authorization} ${req.headers['mcp-session-id']} ${req.headers['mcp-protocol-version']} ${body.slice(0, 60)}`);
    if (req.method === 'GET') return void res.writeHead(405).end();
    if (req.method === 'DELETE') return void res.writeHead(200).end();
    const m = JSON.parse(body);
    if (m.id === undefined) return void res.writeHead(202).end();
    const result = m.method === 'initialize' ? { protocolVersion: m.params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } }
      : m.method === 'tools/list' ? { tools: [{ name: 'add', inputSchema: { type: 'object', properties: {} } }] } : { content: [{ type: 'text', text: 'three' }] };
    if (m.method === 'tools/call') { res.writeHead(200, { 'content-type': 'text/event-stream' }); res.end(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id: m.id, result })}\n\n`); }
    else res.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'S1' }).end(JSON.stringify({ jsonrpc: '2.0', id: m.id, result }));
  })(); });
  await new Promise<void>((r) => { behind.listen(0, '127.0.0.1', r); });
  const org = (await s.service.ctx.db.selectFrom('organizations').select('id').executeTakeFirstOrThrow()).id;
  const project = (await s.call('POST', '/api/projects', { name: 'n' })).body.project.id;
  const id = (await s.call('POST', '/api/mcp-servers', { name: 'n', transport: 'http', url: `http://127.0.0.1:${(behind.address() as any).port}/mcp`, headers: { authorization: 'Bearer real' } })).body.mcpServer.id;
  const front = createServer((req, res) => { void proxyMcp(s.service.ctx, { run: { id: 'run_1', org_id: org, project_id: project }, serverId: req.url!.slice(5) }, req, res); });
  await new Promise<void>((r) => { front.listen(0, '127.0.0.1', r); });
  const client = await createMCPClient({ transport: { type: 'http', url: `http://127.0.0.1:${(front.address() as any).port}/mcp/${id}`, headers: { authorization: 'Bearer token' } } });
  const tools = await client.tools();
  console.log(Object.keys(tools), JSON.stringify(await (tools.add as any).execute({}, { toolCallId: '1', messages: [] })));
  await client.close();
  console.log(seen.join('\n'));
  const times: number[] = [];
  const url = `http://127.0.0.1:${(front.address() as any).port}/mcp/${id}`, direct = `http://127.0.0.1:${(behind.address() as any).port}/mcp`;
  for (const [name, u] of [['direct', direct], ['proxy', url], ['direct', direct], ['proxy', url]] as const) {
    times.length = 0;
    for (let i = 0; i < 300; i++) { const t = performance.now(); await (await fetch(u, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' })).text(); times.push(performance.now() - t); }
    times.sort((a, b) => a - b); console.log(name, 'p50', times[150]!.toFixed(2), 'p95', times[285]!.toFixed(2));
  }
  front.closeAllConnections(); front.close(); behind.closeAllConnections(); behind.close(); await s.close();
}, 60000);
