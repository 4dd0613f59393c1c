/**
 * Asks the database again about suspicions: packs that were replaced and sources that were deleted in between
 * are no damage.
 */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import type { Finding } from './findings.ts';
import { findPlaces } from './placements.ts';
import { batchesOf } from './run.ts';
import type { Suspects } from './sources.ts';

const BATCH = 1_000;
/** Tables whose row a finding is about, by the member that names it. */
const ROWS = {
  packId: ['packs', 'id'],
  sourceId: ['sources', 'id'],
  applyId: ['repair_candidates', 'apply_id'],
} as const;
/** Found by one statement. */
const CERTAIN: ReadonlySet<Finding['kind']> = new Set(['reference_missing', 'object_unregistered']);

export async function confirmFindings(db: Db, findings: readonly Finding[]): Promise<Finding[]> {
  const confirmed = findings.filter(({ kind }) => CERTAIN.has(kind));
  for (const finding of findings)
    if (!CERTAIN.has(finding.kind) && (await stillThere(db, finding))) confirmed.push(finding);
  return confirmed;
}

async function stillThere(db: Db, finding: Finding): Promise<boolean> {
  for (const [member, [table, column]] of Object.entries(ROWS)) {
    const id = finding[member as keyof typeof ROWS];
    if (id === undefined) continue;
    const { rows } = await sql`select from ${sql.table(table)} where ${sql.ref(column)} = ${id}`.execute(db);
    if (rows.length === 0) return false;
  }
  return true;
}

export interface LostContent {
  sha256: string;
  kind: 'content_damaged' | 'content_missing';
  message: string;
  /** The pack that its row names; null where it has no row. */
  packId: string | null;
}

/** Contents that are damaged where they are looked for, or that are looked for nowhere. */
export async function confirmContents(
  db: Db,
  projectId: string,
  { damaged, missing }: Pick<Suspects, 'damaged' | 'missing'>,
): Promise<LostContent[]> {
  const lost: LostContent[] = [];
  const suspected = new Set(
    [...damaged.values()].flatMap((contents) => [...contents.keys()]).concat([...missing.keys()]),
  );
  for (const batch of batchesOf(suspected, BATCH)) {
    const places = await findPlaces(db, projectId, batch);
    for (const sha256 of batch) {
      const { packId = null, isThere = false } = places.get(sha256) ?? {};
      // Damaged in a pack where it is not looked for: another one has it, too.
      const message = isThere ? damaged.get(packId!)?.get(sha256) : missing.get(sha256);
      if (message !== undefined)
        lost.push({ sha256, kind: isThere ? 'content_damaged' : 'content_missing', message, packId });
    }
  }
  return lost;
}
