/**
 * Verifies everything that is stored: every object is there, every content has its hash, every source has the
 * files that it was stored with. Reads only, and may run while the service does.
 */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import type { ReadableStore } from '../../storage/open-store.ts';
import { verifyArtifacts } from './artifacts.ts';
import { Findings } from './findings.ts';
import type { Finding } from './findings.ts';
import { findOrphans, verifyUnused } from './orphans.ts';
import { verifyProject } from './project.ts';
import { forEachOf, Slots } from './run.ts';
import { verifySkills } from './skills.ts';
import type { Tally, Verification } from './run.ts';

export { MAX_LISTED } from './findings.ts';
export type { Finding } from './findings.ts';
export type { Tally } from './run.ts';

interface VerifyOptions {
  /** Null: all. */
  projectId: string | null;
  /** Objects, and projects, that are read at once. */
  concurrency: number;
  /** Updated while it works. */
  tally?: Tally;
}

export interface StorageReport extends Omit<Tally, 'totalBytes'> {
  sound: boolean;
  seconds: number;
  /** Hashed, of contents as they are before packing. */
  mibPerSecond: number;
  /** All of them, also those that are not listed. */
  damage: number;
  warnings: number;
  /** Of the objects that are warned of. */
  warningBytes: number;
  counts: Findings['counts'];
  /** Damage, at most MAX_LISTED; then warnings, at most MAX_LISTED. */
  findings: Finding[];
  warningFindings: Finding[];
}

const PAGE = 500;

export const newTally = (): Tally => ({
  projects: 0,
  sources: 0,
  packs: 0,
  artifacts: 0,
  contents: 0,
  hashedBytes: 0,
  bytes: 0,
  totalBytes: 0,
});

/** Throws `StorageUnavailableError` where the store is away, and what the database throws. */
export async function verifyStorage(
  { db, store }: { db: Db; store: ReadableStore },
  { projectId, concurrency, tally = newTally() }: VerifyOptions,
): Promise<StorageReport> {
  const started = performance.now();
  const run: Verification = {
    db,
    store,
    concurrency,
    slots: new Slots(concurrency),
    tally,
    findings: new Findings(),
  };
  tally.totalBytes = await registeredBytes(db, projectId);
  await forEachOf(projectId === null ? liveProjects(db) : [projectId], concurrency, (id) =>
    verifyProject(run, id),
  );
  await verifyArtifacts(run, projectId);
  await verifySkills(run, projectId);
  await verifyUnused(run, projectId);
  await findOrphans(run, projectId);
  const seconds = (performance.now() - started) / 1000;
  const { totalBytes: _, ...counts } = tally;
  const { damageCount, warningCount, warningBytes, listed, warnings } = run.findings;
  return {
    sound: damageCount === 0,
    ...counts,
    seconds: round(seconds),
    mibPerSecond: round(tally.hashedBytes / 1024 ** 2 / seconds),
    damage: damageCount,
    warnings: warningCount,
    warningBytes,
    counts: run.findings.counts,
    findings: listed,
    warningFindings: warnings,
  };
}

const round = (n: number) => Math.round(n * 100) / 100;

async function* liveProjects(db: Db): AsyncGenerator<string> {
  for (let after = ''; ;) {
    const rows = await db
      .selectFrom('projects')
      .select('id')
      .where('deleted_at', 'is', null)
      .where('id', '>', after)
      .orderBy('id')
      .limit(PAGE)
      .execute();
    for (const { id } of rows) yield id;
    if (rows.length < PAGE) return;
    after = rows.at(-1)!.id;
  }
}

async function registeredBytes(db: Db, projectId: string | null): Promise<number> {
  const {
    rows: [row],
  } = await sql<{ bytes: number }>`
    select (coalesce(sum(byte_size), 0))::bigint as bytes from (
      select project_id, byte_size from packs union all select project_id, artifact_byte_size from builds where artifact_key is not null
    ) as stored join projects p on p.id = stored.project_id where p.deleted_at is null and (${projectId}::text is null or p.id = ${projectId})`.execute(
    db,
  );
  return row!.bytes;
}
