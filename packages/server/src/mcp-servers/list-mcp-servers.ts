import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { ListQuery, Page } from '../http/schemas.ts';
import { seenBy } from './policy.ts';
import { McpServer } from './schemas.ts';
import { mcpServerView } from './view.ts';

export const listMcpServers = read({
  name: 'mcpServers.listMcpServers',
  summary: 'List MCP servers, newest first',
  description: 'A key that is restricted to projects sees the servers whose projects are all among its own.',
  access: { permissions: ['mcpServer:read'] },
  query: ListQuery(),
  responses: { 200: Page('mcpServers', McpServer) },
  async handle({ ctx, principal, query }) {
    const { rows, ...rest } = await page(
      { secretKey: ctx.secretKey, query, scope: ['mcp-servers', principal.orgId] },
      (after, limit) => {
        let servers = ctx.db.selectFrom('mcp_servers').selectAll().where(seenBy(principal));
        if (after !== null) servers = servers.where('id', '<', after);
        return servers.orderBy('id', 'desc').limit(limit).execute();
      },
      (server) => server.id,
    );
    return { status: 200, body: { ok: true, mcpServers: rows.map(mcpServerView), ...rest } };
  },
});
