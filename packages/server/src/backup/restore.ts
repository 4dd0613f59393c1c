/**
 * `headrace restore`: a backup becomes the state of an empty database and an empty store. The database is
 * marked, then objects and repositories come, then all rows in one transaction, which removes the mark: a restore that was cut
 * off left no database that a service would take.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { copyRepository } from '../scm/index.ts';
import { createLocalStore } from '../storage/local-store.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { eachAtOnce } from './backup.ts';
import { loadDatabase, claimDatabase } from './load-database.ts';
import { objectsFolder } from './manifest.ts';
import type { Manifest } from './manifest.ts';

export interface RestoreTarget {
  connection: pg.ClientConfig;
  store: ObjectStore;
  /** Where the repositories go. */
  dataDir: string;
}

export interface Restored {
  objects: number;
  repositories: number;
  /** Of the log: cursors from before the restore have expired. */
  generation: number;
}

/** Throws an error for the operator where the target is not empty, or the backup is not whole. */
export async function restore(
  { connection, store, dataDir }: RestoreTarget,
  folder: string,
  manifest: Manifest,
): Promise<Restored> {
  for await (const { key } of store.list(''))
    throw new Error(`the store of the objects is not empty: it has ${key}`);
  if ((await readdir(join(dataDir, 'repositories')).catch(() => [])).length)
    throw new Error(`${dataDir} has repositories: restore into a new data folder`);
  const copies = await createLocalStore(objectsFolder(folder));
  const keys: string[] = [];
  for await (const { key } of copies.list('')) keys.push(key);
  if (keys.length !== manifest.objects.count)
    throw new Error(
      `${objectsFolder(folder)} is not whole: it has ${keys.length} of ${manifest.objects.count} objects`,
    );
  await claimDatabase(connection, manifest);
  await eachAtOnce(keys, async (key) => store.put(key, await copies.getStream(key)));
  const repositories = manifest.repositories?.copied ?? [];
  await eachAtOnce(repositories, ({ id, defaultBranch }) =>
    copyRepository({ dataDir: folder }, { dataDir }, { id, default_branch: defaultBranch }),
  );
  return {
    objects: keys.length,
    repositories: repositories.length,
    generation: await loadDatabase(connection, folder, manifest),
  };
}
