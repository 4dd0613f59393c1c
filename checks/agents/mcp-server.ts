/** A small MCP server over streamable HTTP with one tool, `jot`, which records its input. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Message {
  id?: number | string;
  method: string;
  params?: { protocolVersion?: string; arguments?: { text?: string } };
}

export async function startNotes(): Promise<{ url: string; jotted: string[]; close(): Promise<void> }> {
  const jotted: string[] = [];
  const answers: Record<string, (params: Message['params']) => object> = {
    initialize: (params) => ({
      protocolVersion: params?.protocolVersion ?? '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'notes', version: '1' },
    }),
    ping: () => ({}),
    'tools/list': () => ({
      tools: [
        {
          name: 'jot',
          description: 'Keeps a note.',
          inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
        },
      ],
    }),
    'tools/call': (params) => {
      jotted.push(String(params?.arguments?.text));
      return { content: [{ type: 'text', text: 'Kept.' }] };
    },
  };
  const server = createServer((request, response) => {
    void (async () => {
      if (request.method !== 'POST') {
        response.writeHead(405).end();
        return;
      }
      let text = '';
      for await (const part of request) text += String(part);
      const { id, method, params } = JSON.parse(text) as Message;
      if (id === undefined) {
        response.writeHead(202).end();
        return;
      }
      const told = answers[method]
        ? { result: answers[method](params) }
        : { error: { code: -32601, message: `There is no ${method}.` } };
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, ...told }));
    })().catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    jotted,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
