/** The only writer of `mcp_servers`. */
import { sql } from 'kysely';
import type { Insertable, Updateable } from 'kysely';
import type { Database, McpServerRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { sealedColumn } from '../sealed-rows.ts';
import { PURPOSE } from './secrets.ts';

type McpServersTable = Database['mcp_servers'];

export async function insertMcpServer(tx: Tx, row: Insertable<McpServersTable>): Promise<McpServerRow> {
  return tx.db.insertInto('mcp_servers').values(row).returningAll().executeTakeFirstOrThrow();
}

export async function saveMcpServer(
  tx: Tx,
  id: string,
  change: Updateable<McpServersTable>,
): Promise<McpServerRow> {
  return tx.db
    .updateTable('mcp_servers')
    .set({ ...change, updated_at: sql<Date>`greatest(now(), updated_at + interval '1 millisecond')` })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function removeMcpServer(tx: Tx, id: string): Promise<void> {
  await tx.db.deleteFrom('mcp_servers').where('id', '=', id).execute();
}

export async function deleteMcpServersOf(tx: Tx, orgId: string): Promise<void> {
  await tx.db.deleteFrom('mcp_servers').where('org_id', '=', orgId).execute();
}

export const sealedMcpSecrets = sealedColumn(
  { table: 'mcp_servers', column: 'secrets_sealed' },
  { what: "MCP servers' secrets", purpose: PURPOSE },
);
