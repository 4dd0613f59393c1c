/**
 * Checks rows against each other. Each check is one statement, and so of one time: it sees a deletion or
 * repacking whole or not at all.
 */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import type { Finding } from './findings.ts';

/** The head and the records of live threads that name a source which is not stored. Builds: artifacts.ts. */
export async function findLostReferences(db: Db, projectId: string): Promise<Finding[]> {
  const { rows } = await sql<{ what: string; source_id: string }>`
    with live as materialized (select id, source_id, latest_source_id, workspace_source_id from threads where project_id = ${projectId} and deleted_at is null), named as (
      select 'the head' as what, head_source_id as source_id from projects where id = ${projectId}
      union all select 'revision ' || revision || ' of the head', source_id from head_history where project_id = ${projectId}
      union all select 'the thread ' || t.id, s.id from live t, unnest(array[t.source_id, t.latest_source_id, t.workspace_source_id]) as s(id)
      union all select 'the checkpoint ' || c.id, c.source_id from live t join checkpoints c on c.thread_id = t.id
      union all select 'the run ' || r.id, s.id from live t join runs r on r.thread_id = t.id, unnest(array[r.base_source_id, r.result_source_id]) as s(id)
      union all select 'the apply ' || a.id, s.id from applies a, unnest(array[a.base_source_id, a.draft_source_id, a.head_source_id, a.result_source_id]) as s(id) where a.project_id = ${projectId}
    ) select distinct what, source_id from named
    where source_id is not null and not exists (select from sources s where s.id = named.source_id and s.project_id = ${projectId})
      and exists (select from projects where id = ${projectId} and deleted_at is null)`.execute(db);
  return rows.map(({ what, source_id: sourceId }) => ({
    kind: 'reference_missing',
    message: `It is named by ${what}, and not stored.`,
    projectId,
    sourceId,
  }));
}

/**
 * Packs whose objects are not registered as kept: the next clean-up may remove them, or nothing ever will.
 */
export async function findUnregistered(db: Db, projectId: string): Promise<Finding[]> {
  const { rows } = await sql<{ pack_id: string; key: string; is_known: boolean }>`
    select p.id as pack_id, p.object_key as key, o.key is not null as is_known from packs p left join objects o on o.key = p.object_key
    where p.project_id = ${projectId} and (o.key is null or o.committed_at is null or o.delete_after is not null or o.project_id <> ${projectId})
      and exists (select from projects where id = ${projectId} and deleted_at is null)`.execute(db);
  return rows.map(({ pack_id: packId, key: objectKey, is_known: isKnown }) => ({
    kind: 'object_unregistered',
    message: unregistered(isKnown),
    projectId,
    packId,
    objectKey,
  }));
}

export const unregistered = (isKnown: boolean) =>
  isKnown
    ? 'The object is needed, and registered as one to be removed.'
    : 'The object is needed, and not registered: nothing will remove it with its project.';

/**
 * Objects of live projects and organizations (or of one project) that are registered as kept and that no pack, build, skill or
 * snapshot of a run names.
 */
export async function findUnused(
  db: Db,
  projectId: string | null,
): Promise<{ key: string; project_id: string | null }[]> {
  const { rows } = await sql<{ key: string; project_id: string | null }>`
    select o.key, o.project_id from objects o join organizations g on g.id = o.org_id left join projects p on p.id = o.project_id
    where p.deleted_at is null and g.deleted_at is null and o.committed_at is not null and o.delete_after is null and (${projectId}::text is null or p.id = ${projectId})
      and not exists (select from packs where object_key = o.key) and not exists (select from builds where artifact_key = o.key)
      and not exists (select from skills where archive_key = o.key)
      and not exists (select from run_snapshots where object_key = o.key)`.execute(db);
  return rows;
}

export async function isLive(db: Db, projectId: string): Promise<boolean> {
  return (
    (await db
      .selectFrom('projects')
      .select('id')
      .where('id', '=', projectId)
      .where('deleted_at', 'is', null)
      .executeTakeFirst()) !== undefined
  );
}
