import { json } from '../db/schema.ts';
import type { KeptAside, ProjectRow } from '../db/schema.ts';
import { appendEvent } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { newId } from '../ids.ts';
import { sameEntry } from '../trees/tree.ts';
import type { Tree } from '../trees/tree.ts';
import { scopeOf } from '../projects/index.ts';
import { encodeDelta, encodeManifest, manifestOf, sourceSha256, totalBytes } from '../trees/manifest.ts';
import { summarizeIndex } from '../trees/pack.ts';
import { comparePaths } from '../trees/paths.ts';
import { stagedTooLong } from './stage.ts';
import type { Staged } from './stage.ts';
import { commitObject } from './objects.ts';
import { findManifestDepth, findStored, insertBlobs, insertPack, insertSourceRow } from './store.ts';
import type { SourceRow } from './store.ts';
import { keepTree, loadTree } from './load-tree.ts';

/** Files that the import worker has encoded and measured already. */
export interface EncodedTree {
  readonly manifest: Tree;
  manifestBytes: Buffer;
  sourceSha256: string;
  byteSize: number;
  fileCount: number;
}

interface NewSource {
  /** The files. Every content is in the project or in `staged`. */
  tree: Tree | EncodedTree;
  /** Ids of sources of the project; the manifest is stored as a delta to the first where that is smaller. */
  parents: string[];
  origin: SourceRow['origin'];
  threadId: string | null;
  runId: string | null;
  message: string | null;
  staged: Staged;
  /** The commit whose files these are. */
  commit?: {
    sha: string;
    branch: string | null;
    /** As many as an answer shows. */
    keptAside: KeptAside[];
    keptAsideCount: number;
  };
}

/** After so many deltas a full manifest follows. */
const MAX_DEPTH = 50;
const HASH_BYTES = 32;

/**
 * Stores a source version and publishes `platform.source.imported`. The caller holds the project row. Throws
 * 503 `source_storage_unavailable` when the staged object was cleaned up before.
 */
export async function insertSource(
  tx: Tx,
  project: Pick<ProjectRow, 'org_id' | 'id' | 'kind'>,
  source: NewSource,
): Promise<SourceRow> {
  await commitStaged(tx, project, source.staged);
  const encoded = 'manifest' in source.tree ? source.tree : measure(source.tree);
  const row = await insertSourceRow(tx, {
    org_id: project.org_id,
    id: newId('src'),
    project_id: project.id,
    thread_id: source.threadId,
    run_id: source.runId,
    parent_source_ids: source.parents,
    origin: source.origin,
    sha256: encoded.sourceSha256,
    byte_size: encoded.byteSize,
    file_count: encoded.fileCount,
    message: source.message,
    ...(source.commit
      ? {
          commit_sha: source.commit.sha,
          commit_branch: source.commit.branch,
          kept_aside: json(source.commit.keptAside),
          kept_aside_count: source.commit.keptAsideCount,
        }
      : {}),
    ...(await manifestColumns(tx, project.id, encoded, source)),
  });
  // An import's files are not decoded here yet, unless its parent's were needed.
  if (!('manifest' in source.tree) || source.parents.length > 0)
    tx.afterCommit.push(() => keepTree(row.id, encoded.manifest));
  appendEvent(
    tx,
    { ...scopeOf(project), threadId: source.threadId, runId: source.runId },
    'platform.source.imported',
    { id: row.id, sha256: row.sha256, byteSize: row.byte_size, fileCount: row.file_count },
  );
  return row;
}

/**
 * Makes staged contents the project's, before a source refers to them or without one. Throws as insertSource.
 */
export async function commitStaged(
  tx: Tx,
  project: Pick<ProjectRow, 'org_id' | 'id'>,
  staged: Staged,
): Promise<void> {
  if (!staged) return;
  await commitPack(tx, project, staged);
  await insertBlobs(tx, project.id, staged.packId, summarizeIndex(staged.index).hashes);
}

/**
 * Makes a staged pack the project's. The caller decides which contents are looked for in it. Throws as
 * insertSource.
 */
export async function commitPack(
  tx: Tx,
  project: Pick<ProjectRow, 'org_id' | 'id'>,
  { packId, objectKey, byteSize, index }: NonNullable<Staged>,
): Promise<void> {
  if (!(await commitObject(tx, objectKey))) throw stagedTooLong();
  await insertPack(tx, {
    org_id: project.org_id,
    id: packId,
    project_id: project.id,
    object_key: objectKey,
    byte_size: byteSize,
    index,
  });
}

type MeasuredTree = Omit<EncodedTree, 'manifestBytes'> & Partial<Pick<EncodedTree, 'manifestBytes'>>;

function measure(tree: Tree): MeasuredTree {
  const manifest = inOrder(tree);
  return {
    manifest,
    sourceSha256: sourceSha256(manifest),
    byteSize: totalBytes(manifest),
    fileCount: manifest.size,
  };
}

/** Sorts a tree that is not in order: its hash would be one that no client can compute. */
function inOrder(tree: Tree): Tree {
  let before: string | undefined;
  for (const path of tree.keys()) {
    if (before !== undefined && comparePaths(before, path) > 0)
      return manifestOf([...tree].map(([at, entry]) => ({ path: at, ...entry })));
    before = path;
  }
  return tree;
}

async function manifestColumns(
  tx: Tx,
  projectId: string,
  encoded: MeasuredTree,
  { parents: [parentId] }: NewSource,
): Promise<{ manifest: Buffer; manifest_base: string | null; manifest_depth: number }> {
  const full = () => ({
    manifest: encoded.manifestBytes ?? encodeManifest(encoded.manifest),
    manifest_base: null,
    manifest_depth: 0,
  });
  if (parentId === undefined) return full();
  const depth = await findManifestDepth(tx, projectId, parentId);
  const parentTree = await loadTree(tx, parentId);
  await assertStored(tx, projectId, parentTree, encoded.manifest);
  if (depth >= MAX_DEPTH) return full();
  const delta = encodeDelta(parentTree, encoded.manifest);
  const asDelta = { manifest: delta, manifest_base: parentId, manifest_depth: depth + 1 };
  // A full manifest has at least this many bytes of hashes; it need not be made to know that it is larger.
  if (delta.length * 2 <= encoded.fileCount * HASH_BYTES) return asDelta;
  const whole = full();
  return delta.length * 2 > whole.manifest.length ? whole : asDelta;
}

/** A missing content would otherwise be noticed only when it is read. */
async function assertStored(tx: Tx, projectId: string, parent: Tree, tree: Tree): Promise<void> {
  const fresh = new Set(
    [...tree].flatMap(([path, entry]) => (sameEntry(parent.get(path), entry) ? [] : [entry.sha256])),
  );
  const stored = await findStored(tx.db, projectId, [...fresh]);
  if (stored.size < fresh.size)
    throw new Error(`${fresh.size - stored.size} contents of a new source were not staged`);
}
