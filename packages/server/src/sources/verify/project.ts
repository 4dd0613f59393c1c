/**
 * Verifies one project: the bytes of its packs, then its rows against them. A fault is a suspicion until the
 * database was asked again: a running service replaces packs and deletes projects while this reads.
 */
import { confirmContents, confirmFindings } from './confirm.ts';
import type { LostContent } from './confirm.ts';
import type { Finding, Use } from './findings.ts';
import { findUses } from './needs.ts';
import { verifyPack } from './pack.ts';
import { readPlacements } from './placements.ts';
import { findLostReferences, findUnregistered, isLive } from './rows.ts';
import { forEachOf } from './run.ts';
import type { Verification } from './run.ts';
import { verifyCandidates, verifySource } from './sources.ts';
import type { RowsVerification, Suspects } from './sources.ts';
import { sourceIds, SourceTrees } from './trees.ts';

/** Repacking brings new packs while the old ones are read. */
const MAX_ROUNDS = 5;

/** Damage only where contents are lost by it. */
const OF_PACKS: ReadonlySet<Finding['kind']> = new Set([
  'object_missing',
  'object_size',
  'pack_damaged',
  'pack_index',
]);

/** Adds to `run.findings`. Throws `StorageUnavailableError`, and what the database throws. */
export async function verifyProject(run: Verification, projectId: string): Promise<void> {
  const suspects: Suspects = { findings: [], damaged: new Map(), missing: new Map() };
  // Before the placements: a source that is stored later is not looked for in older rows.
  const ids = await sourceIds(run.db, projectId);
  await verifyPacks(run, projectId, suspects);
  const trees = new SourceTrees(run.db, projectId);
  const placements = await readPlacements(run.db, projectId);
  const rows: RowsVerification = { run, projectId, trees, placements, suspects };
  await verifyRows(rows, ids);
  suspects.findings.push(
    ...(await findUnregistered(run.db, projectId)),
    ...(await findLostReferences(run.db, projectId)),
  );
  await addConfirmed(rows, ids);
  run.tally.projects++;
}

async function verifyPacks(run: Verification, projectId: string, suspects: Suspects): Promise<void> {
  const seen = new Set<string>();
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const fresh = (
      await run.db
        .selectFrom('packs')
        .select('id')
        .where('project_id', '=', projectId)
        .orderBy('id')
        .execute()
    ).filter(({ id }) => !seen.has(id));
    if (fresh.length === 0) return;
    await forEachOf(fresh, run.concurrency, async ({ id }) => {
      seen.add(id);
      await run.slots.run(() => verifyPackRow(run, projectId, id, suspects));
    });
  }
}

async function verifyPackRow(
  run: Verification,
  projectId: string,
  id: string,
  { findings, damaged }: Suspects,
): Promise<void> {
  const pack = await run.db
    .selectFrom('packs')
    .select(['id', 'object_key', 'byte_size', 'index'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (!pack) return;
  const result = await verifyPack(run, pack);
  for (const fault of result.faults)
    findings.push({ ...fault, projectId, packId: id, objectKey: pack.object_key });
  if (result.contents.size > 0) damaged.set(id, result.contents);
  run.tally.packs++;
}

async function verifyRows(rows: RowsVerification, ids: readonly string[]): Promise<void> {
  for (const sha256 of rows.placements.misplaced())
    rows.suspects.missing.set(sha256, 'The pack that it is said to be in does not have it.');
  for (const id of ids) await verifySource(rows, id);
  await verifyCandidates(rows);
}

/** Adds the suspicions that are still true to the findings. */
async function addConfirmed(
  { run, projectId, trees, suspects }: RowsVerification,
  ids: readonly string[],
): Promise<void> {
  const confirmed = await confirmFindings(run.db, suspects.findings);
  const lost = await confirmContents(run.db, projectId, suspects);
  if (confirmed.length + lost.length === 0) return;
  const listed = lost.slice(0, run.findings.room);
  const uses = await findUses(
    trees,
    ids,
    listed.map((content) => content.sha256),
  );
  // Last, so that it holds for all of it.
  if (!(await isLive(run.db, projectId))) return;
  const losing = new Set(lost.map((content) => content.packId));
  for (const finding of confirmed) {
    if (!OF_PACKS.has(finding.kind) || losing.has(finding.packId!)) run.findings.add(finding);
    else
      run.findings.warn({
        ...finding,
        message: `${finding.message} Everything that is looked for in it is sound.`,
      });
  }
  for (const content of listed)
    run.findings.add(contentFinding(projectId, content, uses.get(content.sha256)!));
  for (const { kind } of lost.slice(listed.length)) run.findings.count(kind);
}

function contentFinding(
  projectId: string,
  { sha256, kind, message, packId }: LostContent,
  neededBy: Use[],
): Finding {
  return {
    kind,
    message: neededBy.length === 0 ? `${message} No source needs it.` : message,
    projectId,
    ...(packId === null ? {} : { packId }),
    ...neededBy[0],
    sha256,
    neededBy,
  };
}
