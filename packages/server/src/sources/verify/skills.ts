/** Whether the stored archives of skills are registered, and have the size and hash that their rows say. */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { archiveFault } from './artifacts.ts';
import type { Finding } from './findings.ts';
import { unregistered } from './rows.ts';
import { forEachOf } from './run.ts';
import type { Verification } from './run.ts';

interface Skill {
  id: string;
  project_id: string | null;
  archive_key: string;
  archive_sha256: string;
  archive_byte_size: number;
  is_known: boolean;
  is_kept: boolean;
}

const PAGE = 500;

/** Of everything, or of one project's. Adds to `run.findings`; throws as verifyProject. */
export async function verifySkills(run: Verification, projectId: string | null): Promise<void> {
  await forEachOf(skills(run.db, projectId), run.concurrency, (skill) =>
    run.slots.run(async () => {
      const suspected = await verifySkill(run, skill);
      if (suspected.length > 0 && (await isStillSo(run.db, skill)))
        for (const finding of suspected) run.findings.add(finding);
    }),
  );
}

async function* skills(db: Db, projectId: string | null): AsyncGenerator<Skill> {
  for (let after = ''; ;) {
    const { rows } = await sql<Skill>`
      select s.id, s.project_id, s.archive_key, s.archive_sha256, s.archive_byte_size, o.key is not null as is_known,
        o.committed_at is not null and o.delete_after is null as is_kept
      from skills s left join objects o on o.key = s.archive_key
      where s.id > ${after} and (${projectId}::text is null or s.project_id = ${projectId}) order by s.id limit ${PAGE}`.execute(
      db,
    );
    yield* rows;
    if (rows.length < PAGE) return;
    after = rows.at(-1)!.id;
  }
}

async function verifySkill(run: Verification, skill: Skill): Promise<Finding[]> {
  const about = { projectId: skill.project_id, objectKey: skill.archive_key };
  const fault = await archiveFault(run, skill.archive_key, {
    sha256: skill.archive_sha256,
    byteSize: skill.archive_byte_size,
  });
  run.tally.artifacts++;
  return [
    ...(skill.is_kept
      ? []
      : [{ kind: 'object_unregistered' as const, message: unregistered(skill.is_known), ...about }]),
    ...(fault ? [{ ...fault, ...about }] : []),
  ];
}

/** One that was replaced or deleted meanwhile needs its archive no more. */
async function isStillSo(db: Db, { id, archive_key: key }: Skill): Promise<boolean> {
  const row = await db.selectFrom('skills').select('archive_key').where('id', '=', id).executeTakeFirst();
  return row?.archive_key === key;
}
