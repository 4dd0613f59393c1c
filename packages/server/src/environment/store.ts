/** The only writer of `variables`. */
import { sql } from 'kysely';
import type { Insertable } from 'kysely';
import type { Database, VariableRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { sealedColumn } from '../sealed-rows.ts';
import { PURPOSE } from './values.ts';

/** Inserts it, or sets all of the one that has its id. */
export async function saveVariable(tx: Tx, row: Insertable<Database['variables']>): Promise<VariableRow> {
  return tx.db
    .insertInto('variables')
    .values(row)
    .onConflict((oc) =>
      oc.column('id').doUpdateSet(({ ref }) => ({
        value_sealed: ref('excluded.value_sealed'),
        byte_size: ref('excluded.byte_size'),
        is_secret: ref('excluded.is_secret'),
        targets: ref('excluded.targets'),
        updated_at: sql<Date>`greatest(now(), variables.updated_at + interval '1 millisecond')`,
      })),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function removeVariable(tx: Tx, id: string): Promise<void> {
  await tx.db.deleteFrom('variables').where('id', '=', id).execute();
}

export async function deleteProjectVariables(tx: Tx, projectId: string): Promise<void> {
  await tx.db.deleteFrom('variables').where('project_id', '=', projectId).execute();
}

/** Those of its projects, too. */
export async function deleteOrganizationVariables(tx: Tx, orgId: string): Promise<void> {
  await tx.db.deleteFrom('variables').where('org_id', '=', orgId).execute();
}

export const sealedVariables = sealedColumn(
  { table: 'variables', column: 'value_sealed' },
  { what: 'environment variables', purpose: PURPOSE },
);
