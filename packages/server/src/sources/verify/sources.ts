/** Whether the sources' manifests give what their rows say, and the contents that they name are there. */
import { sql } from 'kysely';
import type { Entry, Tree } from '../../trees/tree.ts';
import { decodeManifest, sourceSha256, totalBytes } from '../../trees/manifest.ts';
import type { Finding } from './findings.ts';
import { ManifestFault } from './trees.ts';
import type { SourceTrees } from './trees.ts';
import type { Placements } from './placements.ts';
import type { Verification } from './run.ts';

/** Suspicions, which are looked at again before they become findings. */
export interface Suspects {
  findings: Finding[];
  /** By pack: its damaged contents by SHA-256, each with its fault. */
  damaged: Map<string, ReadonlyMap<string, string>>;
  /** Contents that are needed, and in no pack: by SHA-256, each with its fault. */
  missing: Map<string, string>;
}

/** The verification of one project's rows. */
export interface RowsVerification {
  run: Verification;
  projectId: string;
  trees: SourceTrees;
  placements: Placements;
  suspects: Suspects;
}

type Where = Pick<Finding, 'projectId' | 'sourceId' | 'applyId'>;

export async function verifySource(rows: RowsVerification, sourceId: string): Promise<void> {
  const { run, projectId, trees, suspects } = rows;
  const where = { projectId, sourceId };
  const row = await run.db
    .selectFrom('sources')
    .select(['sha256', 'byte_size', 'file_count', 'manifest_base'])
    .where('id', '=', sourceId)
    .executeTakeFirst();
  if (!row) return;
  try {
    const tree = await trees.treeOf(sourceId);
    const given = { sha256: sourceSha256(tree), byte_size: totalBytes(tree), file_count: tree.size };
    if (
      given.sha256 !== row.sha256 ||
      given.byte_size !== row.byte_size ||
      given.file_count !== row.file_count
    ) {
      suspects.findings.push({
        kind: 'source_differs',
        message: `Its files give ${sizes(given)}; ${sizes(row)} were stored.`,
        ...where,
      });
    }
    const base = row.manifest_base === null ? null : await trees.treeOf(row.manifest_base);
    checkContents(rows, where, tree, base);
  } catch (error) {
    if (!(error instanceof ManifestFault)) throw error;
    suspects.findings.push({ kind: 'manifest_damaged', message: error.message, ...where });
  }
  run.tally.sources++;
}

const sizes = (s: { sha256: string; byte_size: number; file_count: number }) =>
  `${s.file_count} files, ${s.byte_size} bytes, SHA-256 ${s.sha256}`;

/** Candidates of repairs that an apply may publish have files like sources. */
export async function verifyCandidates(rows: RowsVerification): Promise<void> {
  const { run, projectId, suspects } = rows;
  const { rows: candidates } = await sql<{ apply_id: string; manifest: Buffer }>`
    select c.apply_id, c.manifest from repair_candidates c join applies a on a.id = c.apply_id where a.project_id = ${projectId}`.execute(
    run.db,
  );
  for (const { apply_id: applyId, manifest } of candidates) {
    const where = { projectId, applyId };
    try {
      checkContents(rows, where, decodeManifest(manifest), null);
    } catch (error) {
      suspects.findings.push({
        kind: 'manifest_damaged',
        message: `The manifest of its repair cannot be read: ${(error as Error).message}.`,
        ...where,
      });
    }
  }
}

/** Entries of the base are the same objects in the tree: they were looked at with it. */
function checkContents(rows: RowsVerification, where: Where, tree: Tree, base: Tree | null): void {
  for (const [path, entry] of tree) if (base?.get(path) !== entry) checkContent(rows, where, path, entry);
}

function checkContent(
  { placements, suspects: { findings, missing } }: RowsVerification,
  where: Where,
  path: string,
  { sha256, byteSize }: Entry,
): void {
  const length = placements.lengthOf(sha256);
  if (length === undefined) missing.set(sha256, 'It is in no pack of the project.');
  if (typeof length === 'number' && length !== byteSize)
    findings.push({
      kind: 'content_length',
      message: `The content ${sha256} has ${length} bytes; the manifest says ${byteSize}.`,
      path,
      ...where,
    });
}
