/** The only writer of `mcp_servers`. */
import { sql } from 'kysely';
import type { Insertable, Updateable } from 'kysely';
import type { Database, McpServerRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import type { SealedRow, SealedRows } from '../sealed-rows.ts';
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

export const sealedMcpSecrets: SealedRows = {
  what: "MCP servers' secrets",
  purpose: PURPOSE,
  async read(db, after, limit) {
    const { rows } = await sql<SealedRow>`
      select id, org_id || ' ' || id as place, secrets_sealed as sealed from mcp_servers
      where secrets_sealed is not null and id > ${after} order by id limit ${limit}`.execute(db);
    return rows;
  },
  async write(db, { id, sealed: was }, sealed) {
    await db
      .updateTable('mcp_servers')
      .set({ secrets_sealed: sealed })
      .where('id', '=', id)
      .where('secrets_sealed', '=', was)
      .execute();
  },
};
