/**
 * `headrace backup`: one consistent point of database and objects, while the service runs.
 *
 *   hold     no object is deleted from here on (db/advisory-locks.ts)
 *   dump     all tables in one snapshot: the point
 *   copy     the objects that the snapshot names; they were put before the transactions that name them. Then the
 *            repositories, as they are by now: what the snapshot knows of their branches has come before
 *   manifest written last: without it, the folder is no backup
 */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import pg from 'pg';
import { lastBackupFile } from '../data-folder.ts';
import { DELETION_LOCK } from '../db/advisory-locks.ts';
import { copyRepository } from '../scm/index.ts';
import { writeSecretKeys } from '../secret-keys.ts';
import type { SecretKeys } from '../secret-keys.ts';
import { createLocalStore } from '../storage/local-store.ts';
import { ObjectNotFoundError } from '../storage/object-store.ts';
import type { ReadableStore } from '../storage/open-store.ts';
import { dumpDatabase } from './dump-database.ts';
import type { Named, StoredKey } from './dump-database.ts';
import { FORMAT, manifestFile, objectsFolder } from './manifest.ts';
import type { Manifest } from './manifest.ts';

const COPIES = 4;
const MAX_LISTED = 1_000;
/** A round that deletes objects ends long before. */
const HOLD_LIMIT = '120s';

export interface BackupSource {
  connection: pg.ClientConfig;
  store: ReadableStore;
  /** Of the service, where its repositories lie. */
  dataDir: string;
  secretKeys: SecretKeys;
  version: string;
}

/** Throws an error for the operator where the folder is not empty, and what database and store throw. */
export async function backUp(source: BackupSource, folder: string): Promise<Manifest> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if ((await readdir(folder)).length > 0)
    throw new Error(`${folder} is not empty: name a folder for each backup`);
  const client = new pg.Client(source.connection);
  // What breaks fails the statement under way or the next one.
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query(`set lock_timeout = '${HOLD_LIMIT}'; set idle_in_transaction_session_timeout = 0`);
    await client.query('select pg_advisory_lock($1)', [DELETION_LOCK]);
    const { dump, named } = await dumpDatabase(client, folder);
    const objects = await copyObjects(source.store, folder, named.keys);
    // A lost connection freed the hold: what was deleted since may be missing.
    await client.query('select 1');
    const repositories = await copyRepositories(source, folder, named.repositories);
    await writeSecretKeys(folder, source.secretKeys);
    const manifest: Manifest = { format: FORMAT, version: source.version, ...dump, objects, repositories };
    await writeFile(manifestFile(folder), `${JSON.stringify(manifest, null, 2)}\n`, {
      flag: 'wx',
      mode: 0o600,
      flush: true,
    });
    // A backup from another machine than the service's may see no data folder: that takes nothing from it.
    await writeFile(lastBackupFile(source.dataDir), `${manifest.point.at}\n`, { mode: 0o600 }).catch(
      () => {},
    );
    return manifest;
  } finally {
    await client.end().catch(() => {});
  }
}

/** One that is damaged is named, and does not end the backup of the others. */
async function copyRepositories(
  { dataDir }: Pick<BackupSource, 'dataDir'>,
  folder: string,
  repositories: Named['repositories'],
): Promise<Manifest['repositories']> {
  const damaged: string[] = [];
  const copied: Named['repositories'] = [];
  await eachAtOnce(repositories, async ({ id, defaultBranch }) => {
    try {
      await copyRepository({ dataDir }, { dataDir: folder }, { id, default_branch: defaultBranch });
      copied.push({ id, defaultBranch });
    } catch (error) {
      if (isOfDisk(error)) throw error;
      damaged.push(`${id}: ${(error as Error).message}`);
    }
  });
  return { copied, damaged: damaged.sort().slice(0, MAX_LISTED) };
}

const isOfDisk = (error: unknown) =>
  ['ENOSPC', 'EROFS', 'EDQUOT', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '');

async function copyObjects(
  store: ReadableStore,
  folder: string,
  keys: readonly StoredKey[],
): Promise<Manifest['objects']> {
  const copies = await createLocalStore(objectsFolder(folder));
  const objects: Manifest['objects'] = { count: 0, bytes: 0, missing: [] };
  await eachAtOnce(keys, async ({ key, needed }) => {
    const info = await copyObject(store, copies, key);
    if (info) {
      objects.count++;
      objects.bytes += info.byteSize;
    } else if (needed && objects.missing.length < MAX_LISTED) objects.missing.push(key);
  });
  return objects;
}

/** Null when the store does not have it. */
async function copyObject(
  from: ReadableStore,
  to: Awaited<ReturnType<typeof createLocalStore>>,
  key: string,
) {
  try {
    await to.put(key, await from.getStream(key));
  } catch (error) {
    if (error instanceof ObjectNotFoundError) return null;
    throw error;
  }
  return to.head(key);
}

/** Runs `work` for each item, COPIES at once; after a failure none is begun. */
export async function eachAtOnce<T>(items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  const rest = items[Symbol.iterator]();
  const failed = new AbortController();
  const worker = async () => {
    for (let next = rest.next(); !next.done && !failed.signal.aborted; next = rest.next())
      await work(next.value).catch((error: unknown) => {
        failed.abort();
        throw error;
      });
  };
  await Promise.all(Array.from({ length: COPIES }, worker));
}
