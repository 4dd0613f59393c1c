import type { Db } from '../db/database.ts';

/**
 * The operator gives or takes an organization's access to /api/platform. Returns false where there is no
 * such organization. Running processes notice within a second (access.ts).
 */
export async function setPlatformApi(db: Db, orgId: string, value: boolean): Promise<boolean> {
  const updated = await db
    .updateTable('organizations')
    .set({ platform_api: value })
    .where('id', '=', orgId)
    .where('deleted_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  return updated !== undefined;
}
