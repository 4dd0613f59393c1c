/** The only writer of `skills`. */
import { sql } from 'kysely';
import type { Insertable } from 'kysely';
import type { Database, SkillRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';

/** Inserts it, or sets all of the one that has its id. */
export async function saveSkill(tx: Tx, row: Insertable<Database['skills']>): Promise<SkillRow> {
  return tx.db
    .insertInto('skills')
    .values(row)
    .onConflict((oc) =>
      oc.column('id').doUpdateSet(({ ref }) => ({
        description: ref('excluded.description'),
        file_count: ref('excluded.file_count'),
        byte_size: ref('excluded.byte_size'),
        sha256: ref('excluded.sha256'),
        archive_key: ref('excluded.archive_key'),
        archive_sha256: ref('excluded.archive_sha256'),
        archive_byte_size: ref('excluded.archive_byte_size'),
        updated_at: sql<Date>`greatest(now(), skills.updated_at + interval '1 millisecond')`,
      })),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function removeSkill(tx: Tx, id: string): Promise<void> {
  await tx.db.deleteFrom('skills').where('id', '=', id).execute();
}

/** Their objects go with all of the project's. */
export async function deleteProjectSkills(tx: Tx, projectId: string): Promise<void> {
  await tx.db.deleteFrom('skills').where('project_id', '=', projectId).execute();
}

/** Those of its projects, too; their objects go with all of the organization's. */
export async function deleteOrganizationSkills(tx: Tx, orgId: string): Promise<void> {
  await tx.db.deleteFrom('skills').where('org_id', '=', orgId).execute();
}
