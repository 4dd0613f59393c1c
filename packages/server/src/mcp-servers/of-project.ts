/** The servers that the runs of a project have. */
import { sql } from 'kysely';
import { GATEWAY_URL } from '@headrace/runner/protocol';
import type { TurnMcpServer } from '@headrace/runner/protocol';
import type { Context } from '../context.ts';
import type { McpServerRow } from '../db/schema.ts';
import { openSecrets } from './secrets.ts';

const MAX_OF_RUN = 20;

interface Project {
  org_id: string;
  id: string;
}

const covering = (db: Context['db'], project: Project) =>
  db
    .selectFrom('mcp_servers')
    .selectAll()
    .where('org_id', '=', project.org_id)
    .where(({ eb, or }) =>
      or([eb('project_ids', 'is', null), sql<boolean>`${project.id} = any(project_ids)`]),
    );

/**
 * What a run's agent gets to know of them. An http server is reached through the gateway, with the run's
 * `token`: where it is and what it is sent stays with the service. A stdio server's environment is in the
 * clear: it runs in the sandbox.
 */
export async function mcpServersOf(
  ctx: Pick<Context, 'db' | 'secretKey' | 'log'>,
  project: Project,
  token: string,
): Promise<TurnMcpServer[]> {
  const rows = await covering(ctx.db, project)
    .orderBy(sql`project_ids is null`)
    .orderBy('id')
    .limit(MAX_OF_RUN)
    .execute();
  return withOwnNames(rows.flatMap((row) => turnServer(ctx, row, token) ?? []));
}

/** Agents tell servers apart by their names. */
function withOwnNames(servers: TurnMcpServer[]): TurnMcpServer[] {
  const taken = new Set<string>();
  return servers.map((server) => {
    let { name } = server;
    for (let n = 2; taken.has(name); n++) name = `${server.name} ${n}`;
    taken.add(name);
    return { ...server, name };
  });
}

/** Null when its secrets cannot be opened: a run goes on without it. */
function turnServer(
  ctx: Pick<Context, 'secretKey' | 'log'>,
  row: McpServerRow,
  token: string,
): TurnMcpServer | null {
  if (row.transport === 'http')
    return {
      transport: 'http',
      name: row.name,
      url: `${GATEWAY_URL}/mcp/${row.id}`,
      headers: { authorization: `Bearer ${token}` },
    };
  try {
    return {
      transport: 'stdio',
      name: row.name,
      command: ['/bin/sh', '-c', row.command!],
      env: openSecrets(ctx.secretKey, row),
    };
  } catch (error) {
    ctx.log.error(
      { mcpServerId: row.id, reason: (error as Error).message },
      'the environment of an MCP server cannot be opened',
    );
    return null;
  }
}

/**
 * Where an http server is and what it is sent; null when the project has no such server. Throws as
 * openSecrets.
 */
export async function mcpTarget(
  ctx: Pick<Context, 'db' | 'secretKey'>,
  project: Project,
  serverId: string,
): Promise<{ url: string; headers: Record<string, string> } | null> {
  const row = await covering(ctx.db, project)
    .where('id', '=', serverId)
    .where('transport', '=', 'http')
    .executeTakeFirst();
  return row ? { url: row.url!, headers: openSecrets(ctx.secretKey, row) } : null;
}
