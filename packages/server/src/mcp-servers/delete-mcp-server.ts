import { audit } from '../audit/index.ts';
import { write } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { loadMcpServer } from './policy.ts';
import { McpServer } from './schemas.ts';
import { removeMcpServer } from './store.ts';
import { mcpServerView } from './view.ts';

export const deleteMcpServer = write({
  name: 'mcpServers.deleteMcpServer',
  summary: 'Delete an MCP server',
  description: 'Its secrets are deleted with it. From now on, calls to it by running agents are refused.',
  access: { permissions: ['mcpServer:delete'] },
  responses: { 200: Ok({ mcpServer: McpServer }) },
  async handle(tx, call) {
    const row = await loadMcpServer(tx.db, call.principal, call.params.mcpServerId!, 'update');
    await removeMcpServer(tx, row.id);
    await audit(tx, call, 'mcp_server.deleted', row.id);
    return { status: 200, body: { ok: true, mcpServer: mcpServerView(row) } };
  },
});
