import { read } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { loadMcpServer } from './policy.ts';
import { McpServer } from './schemas.ts';
import { mcpServerView } from './view.ts';

export const getMcpServer = read({
  name: 'mcpServers.getMcpServer',
  summary: 'Get an MCP server',
  access: { permissions: ['mcpServer:read'] },
  responses: { 200: Ok({ mcpServer: McpServer }) },
  handle: async ({ ctx, principal, params }) => ({
    status: 200,
    body: { ok: true, mcpServer: mcpServerView(await loadMcpServer(ctx.db, principal, params.mcpServerId!)) },
  }),
});
