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
import { statusOf } from '@headrace/server/storage/s3-attempts.ts';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import type { Exit } from '../core/exit.ts';
import { Fault, usage } from '../core/fault.ts';
import { databaseAway, openServiceDatabase } from './database.ts';
import { showProgress } from './progress.ts';
import { reportLines } from './storage-report.ts';

const DEFAULT_CONCURRENCY = 4;
/** One for a project, and one for an object. */
const CONNECTIONS_EACH = 2;

interface StorageOptions {
  project: string | undefined;
  concurrency: number | undefined;
}

export async function verifyStored(
  cli: Cli,
  { project, concurrency = DEFAULT_CONCURRENCY }: StorageOptions,
): Promise<Exit> {
  const config = configured(cli.io.env);
  let report: StorageReport;
  try {
    report = await verified(cli, config, { projectId: project ?? null, concurrency });
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw new Fault(EXIT.unreachable, `could not finish: ${reasonOf(error, config)}`);
  }
  cli.show({ ...report }, () => reportLines(report).join('\n'));
  return report.sound ? EXIT.done : EXIT.failed;
}

function configured(env: Cli['io']['env']): Config {
  try {
    return readConfig(env, isServiceKey);
  } catch (error) {
    throw error instanceof ConfigError ? usage(error.message) : error;
  }
}

async function verified(
  cli: Cli,
  config: Config,
  { projectId, concurrency }: { projectId: string | null; concurrency: number },
): Promise<StorageReport> {
  const database = opened(config, CONNECTIONS_EACH * concurrency);
  try {
    if (projectId !== null) await requireProject(database, projectId);
    const store = await openStoreForReading(config);
    const tally = newTally();
    const stopShowing = showProgress(cli, tally);
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
    throw usage(`--project: there is no project ${id}${project ? ' any more' : ''}.`);
}

function reasonOf(error: unknown, config: Config): string {
  if (isDatabaseAway(error)) return databaseAway(error, config).message;
  if (!(error instanceof StorageUnavailableError)) return (error as Error).message;
  const fault = (error.cause ?? error) as Error;
  const status = statusOf(fault);
  // Where the answer has no text, the SDK's message says nothing.
  const message = status === undefined ? fault.message : `${fault.message}, HTTP ${status}`;
  return config.s3
    ? `the bucket ${config.s3.bucket} does not serve requests (${message}): see that HEADRACE_S3_BUCKET, ` +
        'HEADRACE_S3_ENDPOINT and HEADRACE_S3_REGION name it, and that the credentials may read and list it'
    : `the folder of the objects cannot be read (${message}): see that HEADRACE_DATA_DIR is the ` +
        `service's own and its volume is there, and start it again as a user who may read it`;
}
