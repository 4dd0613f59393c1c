/** `headrace storage verify`: reads everything that is stored, and reports damage. */
import { isServiceKey } from '@headrace/server/accounts/keys.ts';
import { ConfigError, readConfig } from '@headrace/server/config.ts';
import type { Config } from '@headrace/server/config.ts';
import type { DatabaseHandle } from '@headrace/server/db/database.ts';
import { isDatabaseAway } from '@headrace/server/db/faults.ts';
import { newTally, verifyStorage } from '@headrace/server/sources/verify/verify-storage.ts';
import type { StorageReport } from '@headrace/server/sources/verify/verify-storage.ts';
import { StorageUnavailableError } from '@headrace/server/storage/object-store.ts';
import { openStoreForReading } from '@headrace/server/storage/open-store.ts';
import { databaseAway, openServiceDatabase } from './database.ts';
import { showProgress } from './progress.ts';
import { reportLines } from './storage-report.ts';
import { UsageError } from './usage-error.ts';

export const STORAGE_HELP = `headrace storage verify [--project ID] [--concurrency N] [--json]
  Reads every registered object, hashes every content and artifact, and compares them with the database. It writes nothing and
  can run next to a running service. It reads DATABASE_URL, HEADRACE_DATA_DIR and HEADRACE_S3_* like the service.
  --project ID       only this project
  --concurrency N    number of objects to read in parallel, 1 to 16 (4)
  --json             print one JSON document to stdout instead of lines
  exit code          0 sound, 1 damage found, 2 wrong usage, 3 could not finish: the store or the database is unavailable`;

const DEFAULT_CONCURRENCY = 4;
const MAX_CONCURRENCY = 16;
/** One for a project, and one for an object. */
const CONNECTIONS_EACH = 2;
const DAMAGED = 1;
const NOT_FINISHED = 3;

interface StorageArguments {
  project?: string;
  concurrency?: string;
  json?: boolean;
}

/** Returns the exit code. Throws UsageError. */
export async function verifyStored({
  project,
  concurrency,
  json = false,
}: StorageArguments): Promise<number> {
  const atOnce = concurrencyOf(concurrency);
  const config = configured();
  try {
    const report = await verified(config, project ?? null, atOnce);
    console.log(json ? JSON.stringify(report, null, 2) : reportLines(report).join('\n'));
    return report.sound ? 0 : DAMAGED;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    console.error(`headrace: could not finish: ${reasonOf(error, config)}`);
    return NOT_FINISHED;
  }
}

function concurrencyOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_CONCURRENCY;
  const count = Number(text);
  if (!/^\d+$/.test(text) || count < 1 || count > MAX_CONCURRENCY)
    throw new UsageError(`--concurrency has to be a whole number from 1 to ${MAX_CONCURRENCY}.`);
  return count;
}

function configured(): Config {
  try {
    return readConfig(process.env, isServiceKey);
  } catch (error) {
    throw error instanceof ConfigError ? new UsageError(error.message) : error;
  }
}

async function verified(
  config: Config,
  projectId: string | null,
  concurrency: number,
): Promise<StorageReport> {
  const database = opened(config, CONNECTIONS_EACH * concurrency);
  try {
    if (projectId !== null) await requireProject(database, projectId);
    const store = await openStoreForReading(config);
    const tally = newTally();
    const stopShowing = showProgress(tally);
    try {
      return await verifyStorage({ db: database.db, store }, { projectId, concurrency, tally });
    } finally {
      stopShowing();
      store.close();
    }
  } finally {
    await database.close();
  }
}

function opened(config: Config, connections: number): DatabaseHandle {
  try {
    return openServiceDatabase(config, connections);
  } catch (error) {
    throw databaseAway(error, config);
  }
}

async function requireProject({ db }: DatabaseHandle, id: string): Promise<void> {
  const project = await db
    .selectFrom('projects')
    .select('deleted_at')
    .where('id', '=', id)
    .executeTakeFirst();
  if (!project || project.deleted_at)
    throw new UsageError(`--project: there is no project ${id}${project ? ' any more' : ''}.`);
}

function reasonOf(error: unknown, config: Config): string {
  if (isDatabaseAway(error)) return databaseAway(error, config).message;
  if (!(error instanceof StorageUnavailableError)) return (error as Error).message;
  const { message } = (error.cause ?? error) as Error;
  return config.s3
    ? `the bucket ${config.s3.bucket} does not serve requests (${message}): see that HEADRACE_S3_BUCKET, ` +
        'HEADRACE_S3_ENDPOINT and HEADRACE_S3_REGION name it, and that the credentials may read and list it'
    : `the folder of the objects cannot be read (${message}): see that HEADRACE_DATA_DIR is the ` +
        `service's own and its volume is there, and start it again as a user who may read it`;
}
