/**
 * Loading a server = being allowed to see it: its organization, and for a key that is restricted to
 * projects, that all of the server's projects are among them. A server of the whole organization, or one
 * that reaches further, is one that does not exist for such a key.
 */
import { sql } from 'kysely';
import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import type { Principal } from '../http/principal.ts';
import type { Db } from '../db/database.ts';
import type { Database, McpServerRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { invalid, notFound } from '../http/errors.ts';
import { loadProject } from '../projects/index.ts';

/** The servers that a caller sees. */
export const seenBy =
  (principal: Principal) =>
  (eb: ExpressionBuilder<Database, 'mcp_servers'>): Expression<SqlBool> =>
    eb.and([
      eb('org_id', '=', principal.orgId),
      ...(principal.projectIds === null
        ? []
        : [sql<boolean>`project_ids <@ ${[...principal.projectIds]}::text[]`]),
    ]);

export async function loadMcpServer(
  db: Db | Tx['db'],
  principal: Principal,
  id: string,
  lock: 'none' | 'update' = 'none',
): Promise<McpServerRow> {
  let query = db.selectFrom('mcp_servers').selectAll().where(seenBy(principal)).where('id', '=', id);
  if (lock === 'update') query = query.forUpdate();
  const server = await query.executeTakeFirst();
  if (!server) throw notFound('mcp_server');
  return server;
}

/**
 * The projects that a server is to have, each once: known ones that the caller sees. A restricted key makes
 * no server of the whole organization.
 */
export async function requireProjects(
  tx: Tx,
  call: { principal: Principal; api: 'direct' | 'platform'; params: Record<string, string> },
  projectIds: string[] | null,
): Promise<string[] | null> {
  if (projectIds === null) {
    if (call.principal.projectIds !== null)
      throw invalid({ path: '/projectIds', message: 'is required: this key is restricted to projects' });
    return null;
  }
  const distinct = [...new Set(projectIds)];
  for (const id of distinct) await loadProject(tx.db, call, 'none', id);
  return distinct;
}
