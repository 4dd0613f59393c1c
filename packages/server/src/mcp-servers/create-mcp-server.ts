import { audit } from '../audit/index.ts';
import type { Tx } from '../db/transaction.ts';
import { ApiError } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { newId } from '../ids.ts';
import { define } from './definition.ts';
import { requireProjects } from './policy.ts';
import { McpServer, NewMcpServer } from './schemas.ts';
import { sealSecrets } from './secrets.ts';
import { insertMcpServer } from './store.ts';
import { mcpServerView } from './view.ts';

const MAX_OF_ORGANIZATION = 1000;

export const createMcpServer = write({
  name: 'mcpServers.createMcpServer',
  summary: 'Register an MCP server for agents',
  description:
    "Runs that start from now on can use it: those of `projectIds`, or of the whole organization. A run has at most 20, its project's own before the organization's, then the oldest first. `url` and `headers` belong to the transport `http`, `command` and `env` to `stdio`.",
  access: { permissions: ['mcpServer:create'] },
  body: NewMcpServer,
  responses: { 201: Ok({ mcpServer: McpServer }) },
  async handle(tx, call) {
    const { ctx, principal, body } = call;
    const { secrets, ...columns } = define(null, body, ctx.config.mcpAllowPrivate);
    const project_ids = await requireProjects(tx, call, body.projectIds ?? null);
    await requireRoom(tx, principal.orgId);
    const identity = { org_id: principal.orgId, id: newId('mcp'), ...columns };
    const row = await insertMcpServer(tx, {
      ...identity,
      ...sealSecrets(ctx.secretKey, identity, secrets ?? {}),
      name: body.name,
      project_ids,
      created_by: principal.actorId,
    });
    await audit(tx, call, 'mcp_server.created', row.id);
    return { status: 201, body: { ok: true, mcpServer: mcpServerView(row) } };
  },
});

async function requireRoom(tx: Tx, orgId: string): Promise<void> {
  const { count } = await tx.db
    .selectFrom('mcp_servers')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('org_id', '=', orgId)
    .executeTakeFirstOrThrow();
  if (count >= MAX_OF_ORGANIZATION)
    throw new ApiError(
      'conflict',
      `An organization has at most ${MAX_OF_ORGANIZATION} MCP servers. Delete one first.`,
    );
}
