/** `headrace backup` and `headrace restore`. */
import { mkdir, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isServiceKey } from '@headrace/server/accounts/keys.ts';
import { backUp, readManifest, restore } from '@headrace/server/backup/index.ts';
import { VERSION } from '@headrace/server/boot.ts';
import { readConfig } from '@headrace/server/config.ts';
import type { Config } from '@headrace/server/config.ts';
import { openDatabase } from '@headrace/server/db/database.ts';
import {
  embeddedConnection,
  lockDataDir,
  startEmbeddedPostgres,
} from '@headrace/server/db/embedded/index.ts';
import { isDatabaseAway } from '@headrace/server/db/faults.ts';
import { existingSecretKeys, writeSecretKeys } from '@headrace/server/secret-keys.ts';
import { newTally, verifyStorage } from '@headrace/server/sources/verify/verify-storage.ts';
import type { StorageReport } from '@headrace/server/sources/verify/verify-storage.ts';
import { openStore, openStoreForReading } from '@headrace/server/storage/open-store.ts';
import { databaseAway } from './database.ts';
import { mebibytes, showProgress } from './progress.ts';
import { reportLines } from './storage-report.ts';
import { UsageError } from './usage-error.ts';

export const BACKUP_HELP = `headrace backup DIR [--json]
  Writes one consistent point of database, objects, repositories and secret keys to DIR, which is made, or empty. The service runs on: every write
  that was acknowledged before the point is in the backup. DIR contains the secret keys: keep it as safe as they are.
headrace restore DIR [--json]
  Makes a backup the state of a new service: of an empty data folder (HEADRACE_DATA_DIR; config.json may be there), or, with
  DATABASE_URL, of an empty database and an empty store. Then reads and hashes everything, as \`storage verify\` does. No service may
  run there. Event cursors from before the restore answer 410 cursor_expired.
Both read DATABASE_URL, HEADRACE_DATA_DIR, HEADRACE_S3_* and HEADRACE_SECRET_KEY like the service.
  --json             print one JSON document to stdout instead of lines
  exit code          0 done, 1 failed, or objects or repositories are missing or damaged, 2 wrong usage`;

const VERIFY_CONCURRENCY = 4;
/** Of the data folder, what an operator may have written before the restore. */
const OWN_FILES = ['config.json'];

export async function writeBackup(folder: string | undefined, asJson: boolean): Promise<number> {
  const to = folderOf(folder);
  const config = readConfig(process.env, isServiceKey);
  const store = await openStoreForReading(config);
  try {
    const { tables, objects, repositories, ...manifest } = await backUp(
      {
        connection:
          config.databaseUrl === null
            ? embeddedConnection(config.dataDir)
            : { connectionString: config.databaseUrl },
        store,
        dataDir: config.dataDir,
        secretKeys: await existingSecretKeys(config),
        version: VERSION,
      },
      to,
    );
    const { copied, damaged } = repositories!;
    const rows = tables.reduce((sum, table) => sum + table.rows, 0);
    const said = [
      `${to}: the state of ${manifest.point.at}`,
      `${tables.length} tables, ${rows} rows; ${objects.count} objects, ${mebibytes(objects.bytes)}; ${copied.length} repositories`,
      ...objects.missing.map((key) => `damage   object_missing  ${key}: the store does not have it`),
      ...damaged.map((one) => `damage   repository  ${one}`),
    ];
    const document = { folder: to, point: manifest.point, tables: tables.length, rows, objects };
    print(asJson, { ...document, repositories: { count: copied.length, damaged } }, said);
    return objects.missing.length + damaged.length === 0 ? 0 : 1;
  } catch (error) {
    throw isDatabaseAway(error) ? databaseAway(error, config) : error;
  } finally {
    store.close();
  }
}

export async function restoreBackup(folder: string | undefined, asJson: boolean): Promise<number> {
  const from = folderOf(folder);
  const config = readConfig(process.env, isServiceKey);
  const manifest = await readManifest(from);
  await requireKeys(config, from);
  const place = await openPlace(config, from);
  try {
    const store = await openStore(config);
    try {
      const restored = await restore(
        { connection: place.connection, store, dataDir: config.dataDir },
        from,
        manifest,
      );
      const report = await verified(place.connection, store);
      print(asJson, { folder: from, point: manifest.point, ...restored, storage: report }, [
        `${from}: the state of ${manifest.point.at} is restored`,
        ...reportLines(report),
      ]);
      return report.sound ? 0 : 1;
    } finally {
      store.close();
    }
  } catch (error) {
    throw isDatabaseAway(error) ? databaseAway(error, config) : error;
  } finally {
    await place.close();
  }
}

function folderOf(folder: string | undefined): string {
  if (!folder) throw new UsageError('Name the folder of the backup.');
  return resolve(folder);
}

function print(asJson: boolean, document: object, lines: string[]): void {
  console.log(asJson ? JSON.stringify(document, null, 2) : lines.join('\n'));
}

/** What is sealed in the backup has to open: with a key of this environment, or with the backup's own. */
async function requireKeys(config: Config, from: string): Promise<void> {
  if (config.secretKey === null) return;
  const backups = await existingSecretKeys({ secretKey: null, formerSecretKeys: [], dataDir: from });
  const { current, former } = await existingSecretKeys(config);
  const missing = [backups.current, ...backups.former].filter(
    (key) => ![current, ...former].some((own) => own.equals(key)),
  );
  if (missing.length > 0)
    throw new Error(
      `HEADRACE_SECRET_KEY is not the backup's: set it to the key in ${join(from, 'secret.key')}, or name ` +
        'the keys of the backup in HEADRACE_FORMER_SECRET_KEYS',
    );
}

interface Place {
  connection: { connectionString: string } | ReturnType<typeof embeddedConnection>;
  close(): Promise<void>;
}

/** The empty place that the backup becomes; an embedded database is made and started. */
async function openPlace(config: Config, from: string): Promise<Place> {
  if (config.databaseUrl !== null)
    return { connection: { connectionString: config.databaseUrl }, close: () => Promise.resolve() };
  await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
  const there = (await readdir(config.dataDir)).filter((name) => !OWN_FILES.includes(name));
  if (there.length > 0)
    throw new Error(
      `${config.dataDir} is not empty: it has ${there[0]!}. Restore into an empty data folder.`,
    );
  const unlock = lockDataDir(config.dataDir);
  try {
    if (config.secretKey === null)
      await writeSecretKeys(
        config.dataDir,
        await existingSecretKeys({ secretKey: null, formerSecretKeys: [], dataDir: from }),
      );
    const postgres = await startEmbeddedPostgres({
      dataDir: config.dataDir,
      log: { info: () => {}, warn: console.error, error: console.error },
    });
    return {
      connection: postgres.connection,
      async close() {
        await postgres.stop();
        unlock();
      },
    };
  } catch (error) {
    unlock();
    throw error;
  }
}

async function verified(
  connection: Place['connection'],
  store: Awaited<ReturnType<typeof openStore>>,
): Promise<StorageReport> {
  const database = openDatabase(connection, 2 * VERIFY_CONCURRENCY);
  const tally = newTally();
  const stopShowing = showProgress(tally);
  try {
    return await verifyStorage(
      { db: database.db, store },
      { projectId: null, concurrency: VERIFY_CONCURRENCY, tally },
    );
  } finally {
    stopShowing();
    await database.close();
  }
}
