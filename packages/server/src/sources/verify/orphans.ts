/**
 * Objects that nothing needs: those that are registered nowhere, which nothing will ever remove, and those
 * that are kept without a use.
 */
import { sql } from 'kysely';
import type { ObjectInfo } from '../../storage/object-store.ts';
import { findUnused } from './rows.ts';
import type { Verification } from './run.ts';

const BATCH = 1_000;
/** A younger object may be part of a backup or copy that is not finished. */
const MIN_AGE_MS = 60 * 60 * 1000;

export async function findOrphans(run: Verification, projectId: string | null): Promise<void> {
  let batch: ObjectInfo[] = [];
  for await (const object of run.store.list(projectId === null ? '' : `projects/${projectId}/`)) {
    if (Date.now() - object.modifiedAt.getTime() < MIN_AGE_MS) continue;
    batch.push(object);
    if (batch.length < BATCH) continue;
    await warnOfOrphans(run, batch);
    batch = [];
  }
  await warnOfOrphans(run, batch);
}

async function warnOfOrphans({ db, store, findings }: Verification, objects: ObjectInfo[]): Promise<void> {
  const { rows } = await sql<{
    key: string;
  }>`select key from objects where key = any(${objects.map((o) => o.key)}::text[])`.execute(db);
  const registered = new Set(rows.map((r) => r.key));
  for (const { key, byteSize } of objects) {
    // Deleted between the listing and the question: registered then, and gone now.
    if (registered.has(key) || (await store.head(key)) === null) continue;
    findings.warn({
      kind: 'object_orphaned',
      message: 'The object is registered nowhere: nothing needs it, and nothing removes it.',
      projectId: /^projects\/([^/]+)\//.exec(key)?.[1] ?? null,
      objectKey: key,
      byteSize,
    });
  }
}

/** An object that is registered as kept must be there, whatever needs it. */
export async function verifyUnused(
  { db, store, findings }: Verification,
  projectId: string | null,
): Promise<void> {
  const sizes = new Map<string, number | null>();
  for (const { key } of await findUnused(db, projectId))
    sizes.set(key, (await store.head(key))?.byteSize ?? null);
  const still = sizes.size === 0 ? [] : await findUnused(db, projectId);
  for (const { key: objectKey, project_id: id } of still) {
    const byteSize = sizes.get(objectKey);
    if (byteSize === null)
      findings.add({
        kind: 'object_missing',
        message: 'The object is registered and not in the store. No pack, build or skill needs it.',
        projectId: id,
        objectKey,
      });
    else if (byteSize !== undefined)
      findings.warn({
        kind: 'object_unused',
        message: 'The object is registered as kept, and no pack, build or skill needs it.',
        projectId: id,
        objectKey,
        byteSize,
      });
  }
}
