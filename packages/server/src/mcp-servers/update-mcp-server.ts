import { audit } from '../audit/index.ts';
import { write } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { define } from './definition.ts';
import { loadMcpServer, requireProjects } from './policy.ts';
import { McpServer, McpServerChange } from './schemas.ts';
import { sealSecrets } from './secrets.ts';
import { saveMcpServer } from './store.ts';
import { mcpServerView } from './view.ts';

export const updateMcpServer = write({
  name: 'mcpServers.updateMcpServer',
  summary: 'Change an MCP server',
  description:
    'Changes only what it names. `headers` and `env` are replaced as a whole; a `url` of another origin requires new headers. The change applies to the next calls of running agents, and to commands from the next run.',
  access: { permissions: ['mcpServer:update'] },
  body: McpServerChange,
  responses: { 200: Ok({ mcpServer: McpServer }) },
  async handle(tx, call) {
    const { ctx, principal, params, body } = call;
    const before = await loadMcpServer(tx.db, principal, params.mcpServerId!, 'update');
    const { secrets, ...columns } = define(before, body, ctx.config.mcpAllowPrivate);
    const project_ids =
      body.projectIds === undefined ? before.project_ids : await requireProjects(tx, call, body.projectIds);
    const row = await saveMcpServer(tx, before.id, {
      ...columns,
      ...(secrets === undefined ? {} : sealSecrets(ctx.secretKey, { ...before, ...columns }, secrets)),
      name: body.name ?? before.name,
      project_ids,
    });
    await audit(tx, call, 'mcp_server.updated', row.id);
    return { status: 200, body: { ok: true, mcpServer: mcpServerView(row) } };
  },
});
