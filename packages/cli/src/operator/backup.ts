/** `headrace backup` and `headrace restore`. */
import { mkdir, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isServiceKey } from '@headrace/server/accounts/keys.ts';
import { backUp, readManifest, restore } from '@headrace/server/backup/index.ts';
import { VERSION } from '@headrace/server/boot.ts';
import { readConfig } from '@headrace/server/config.ts';
import type { Config } from '@headrace/server/config.ts';
import { openDatabase } from '@headrace/server/db/database.ts';
import { lockDataDir, startEmbeddedPostgres } from '@headrace/server/db/embedded/index.ts';
import { isDatabaseAway } from '@headrace/server/db/faults.ts';
import { existingSecretKeys, writeSecretKeys } from '@headrace/server/secret-keys.ts';
import { newTally, verifyStorage } from '@headrace/server/sources/verify/verify-storage.ts';
import type { StorageReport } from '@headrace/server/sources/verify/verify-storage.ts';
import { openStore, openStoreForAll, openStoreForReading } from '@headrace/server/storage/open-store.ts';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import type { Exit } from '../core/exit.ts';
import { databaseAway, serviceConnection } from './database.ts';
import { mebibytes, showProgress } from './progress.ts';
import { reportLines } from './storage-report.ts';

const VERIFY_CONCURRENCY = 4;
/** Of the data folder, what an operator may have written before the restore. */
const OWN_FILES = ['config.json'];

export async function writeBackup(cli: Cli, folder: string): Promise<Exit> {
  const to = resolve(cli.io.cwd, folder);
  const config = readConfig(cli.io.env, isServiceKey);
  const store = await openStoreForReading(config);
  try {
    const { tables, objects, repositories, ...manifest } = await backUp(
      {
        connection: serviceConnection(config),
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
    cli.show({ ...document, repositories: { count: copied.length, damaged } }, () => said.join('\n'));
    return objects.missing.length + damaged.length === 0 ? EXIT.done : EXIT.failed;
  } catch (error) {
    throw isDatabaseAway(error) ? databaseAway(error, config) : error;
  } finally {
    store.close();
  }
}

export async function restoreBackup(cli: Cli, folder: string): Promise<Exit> {
  const from = resolve(cli.io.cwd, folder);
  const config = readConfig(cli.io.env, isServiceKey);
  const manifest = await readManifest(from);
  await requireKeys(config, from);
  const place = await openPlace(config, from);
  try {
    const store = await openStoreForAll(config);
    try {
      const restored = await restore(
        { connection: place.connection, store, dataDir: config.dataDir },
        from,
        manifest,
      );
      const report = await verified(cli, place.connection, store);
      cli.show({ folder: from, point: manifest.point, ...restored, storage: report }, () =>
        [`${from}: the state of ${manifest.point.at} is restored`, ...reportLines(report)].join('\n'),
      );
      return report.sound ? EXIT.done : EXIT.failed;
    } finally {
      store.close();
    }
  } catch (error) {
    throw isDatabaseAway(error) ? databaseAway(error, config) : error;
  } finally {
    await place.close();
  }
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
  connection: ReturnType<typeof serviceConnection>;
  close(): Promise<void>;
}

/** The empty place that the backup becomes; an embedded database is made and started. */
async function openPlace(config: Config, from: string): Promise<Place> {
  if (config.databaseUrl !== null)
    return { connection: serviceConnection(config), close: () => Promise.resolve() };
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
  cli: Cli,
  connection: Place['connection'],
  store: Awaited<ReturnType<typeof openStore>>,
): Promise<StorageReport> {
  const database = openDatabase(connection, { max: 2 * VERIFY_CONCURRENCY });
  const tally = newTally();
  const stopShowing = showProgress(cli, tally);
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
