/** Whether the builds' stored outputs have the size, hash and list of files that their rows say. */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import type { ManifestFile } from '../../db/schema.ts';
import { ObjectNotFoundError } from '../../storage/object-store.ts';
import type { Finding } from './findings.ts';
import { isLive, unregistered } from './rows.ts';
import { forEachOf, inspect, readRange } from './run.ts';
import type { Verification } from './run.ts';

interface Build {
  id: string;
  project_id: string;
  source_id: string;
  has_source: boolean;
  artifact_key: string | null;
  artifact_sha256: string;
  artifact_byte_size: number;
  is_known: boolean;
  is_kept: boolean;
}

const PAGE = 500;
const RANGE_BYTES = 4 * 1024 * 1024;

/**
 * Of all live projects, or of one: builds are not found by project. Adds to `run.findings`; throws as
 * verifyProject.
 */
export async function verifyArtifacts(run: Verification, projectId: string | null): Promise<void> {
  await forEachOf(builds(run.db, projectId), run.concurrency, (build) =>
    run.slots.run(async () => {
      const suspected = await verifyBuild(run, build);
      if (suspected.length > 0 && (await isStillSo(run.db, build)))
        for (const finding of suspected) run.findings.add(finding);
    }),
  );
}

async function* builds(db: Db, projectId: string | null): AsyncGenerator<Build> {
  for (let after = ''; ;) {
    const { rows } = await sql<Build>`
      select b.id, b.project_id, b.source_id, s.id is not null as has_source, b.artifact_key, b.artifact_sha256, b.artifact_byte_size, o.key is not null as is_known,
        o.committed_at is not null and o.delete_after is null as is_kept
      from builds b join projects p on p.id = b.project_id and p.deleted_at is null left join sources s on s.id = b.source_id and s.project_id = b.project_id left join objects o on o.key = b.artifact_key
      where b.id > ${after} and (b.artifact_key is not null or s.id is null) and (${projectId}::text is null or b.project_id = ${projectId}) order by b.id limit ${PAGE}`.execute(
      db,
    );
    yield* rows;
    if (rows.length < PAGE) return;
    after = rows.at(-1)!.id;
  }
}

async function verifyBuild(run: Verification, build: Build): Promise<Finding[]> {
  const about = { projectId: build.project_id, buildId: build.id };
  const findings: Finding[] = build.has_source
    ? []
    : [
        {
          kind: 'reference_missing',
          message: `It is named by the build ${build.id}, and not stored.`,
          ...about,
          sourceId: build.source_id,
        },
      ];
  if (build.artifact_key === null) return findings;
  const objectKey = build.artifact_key;
  if (!build.is_kept)
    findings.push({
      kind: 'object_unregistered',
      message: unregistered(build.is_known),
      ...about,
      objectKey,
    });
  const fault = await archiveFault(run, objectKey, {
    sha256: build.artifact_sha256,
    byteSize: build.artifact_byte_size,
  });
  if (fault) findings.push({ ...fault, ...about, objectKey });
  const wrongList = await fileListFault(run.db, build.id);
  if (wrongList !== null) findings.push({ kind: 'artifact_manifest', message: wrongList, ...about });
  run.tally.artifacts++;
  return findings;
}

/** What is wrong with the bytes of a stored archive. */
export async function archiveFault(
  run: Verification,
  key: string,
  { sha256: wanted, byteSize }: { sha256: string; byteSize: number },
): Promise<Pick<Finding, 'kind' | 'message'> | null> {
  const { fault } = await inspect(run, key, byteSize);
  if (fault) return fault;
  try {
    const sha256 = await hashOf(run, key, byteSize);
    if (sha256 === null)
      return { kind: 'object_unreadable', message: 'The object is in the store and cannot be read.' };
    return sha256 === wanted
      ? null
      : { kind: 'artifact_damaged', message: `Its SHA-256 is ${sha256}; ${wanted} was stored.` };
  } catch (error) {
    if (!(error instanceof ObjectNotFoundError)) throw error;
    return { kind: 'object_missing', message: 'The object is not in the store.' };
  }
}

async function hashOf(run: Verification, key: string, byteSize: number): Promise<string | null> {
  const hash = createHash('sha256');
  for (let start = 0; start < byteSize; start += RANGE_BYTES) {
    const bytes = await readRange(run, key, start, Math.min(start + RANGE_BYTES, byteSize));
    if (bytes === null) return null;
    hash.update(bytes);
    run.tally.hashedBytes += bytes.length;
  }
  return hash.digest('hex');
}

/** The list of files, against the counts that were stored with it. */
async function fileListFault(db: Db, buildId: string): Promise<string | null> {
  const build = await db
    .selectFrom('builds')
    .select(['manifest', 'file_count', 'output_byte_size'])
    .where('id', '=', buildId)
    .where('artifact_key', 'is not', null)
    .executeTakeFirst();
  if (!build) return null;
  const files: ManifestFile[] = Array.isArray(build.manifest) ? build.manifest : [];
  const bytes = files.reduce((sum, file) => sum + file.byteSize, 0);
  if (files.length === build.file_count && bytes === build.output_byte_size) return null;
  return `The list of the artifact's files has ${files.length} files and ${bytes} bytes; ${build.file_count} and ${build.output_byte_size} were stored.`;
}

/** A build that was cancelled meanwhile has lost its artifact, and a deleted project everything. */
async function isStillSo(db: Db, { id, project_id: projectId, artifact_key: key }: Build): Promise<boolean> {
  const row = await db.selectFrom('builds').select('artifact_key').where('id', '=', id).executeTakeFirst();
  return row?.artifact_key === key && (await isLive(db, projectId));
}
