/**
 * `headrace restore`: a backup becomes the state of an empty database and an empty store. The database is
 * marked, then objects come, then all rows in one transaction, which removes the mark: a restore that was cut
 * off left no database that a service would take.
 */
import type pg from 'pg';
import { createLocalStore } from '../storage/local-store.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { eachAtOnce } from './backup.ts';
import { loadDatabase, claimDatabase } from './load-database.ts';
import { objectsFolder } from './manifest.ts';
import type { Manifest } from './manifest.ts';

export interface RestoreTarget {
  connection: pg.ClientConfig;
  store: ObjectStore;
}

export interface Restored {
  objects: number;
  /** Of the log: cursors from before the restore have expired. */
  generation: number;
}

/** Throws an error for the operator where the target is not empty, or the backup is not whole. */
export async function restore(
  { connection, store }: RestoreTarget,
  folder: string,
  manifest: Manifest,
): Promise<Restored> {
  for await (const { key } of store.list(''))
    throw new Error(`the store of the objects is not empty: it has ${key}`);
  const copies = await createLocalStore(objectsFolder(folder));
  const keys: string[] = [];
  for await (const { key } of copies.list('')) keys.push(key);
  if (keys.length !== manifest.objects.count)
    throw new Error(
      `${objectsFolder(folder)} is not whole: it has ${keys.length} of ${manifest.objects.count} objects`,
    );
  await claimDatabase(connection, manifest);
  await eachAtOnce(keys, async (key) => store.put(key, await copies.getStream(key)));
  return { objects: keys.length, generation: await loadDatabase(connection, folder, manifest) };
}
