/**
 * A PostgreSQL that the benchmark can reach too: the service's embedded one, started separately with the same
 * settings.
 */
import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../packages/server/src/db/embedded/index.ts';
import type { EmbeddedPostgres } from '../../packages/server/src/db/embedded/index.ts';
import type { Setup } from '../bench/lib/benchmark.ts';
import type { Service, StartOptions } from './service.ts';

export interface BenchDatabase {
  url: string;
  /** Of the server, for who looks for its processes. */
  dataDir: string;
  stop(): Promise<void>;
}

export async function startDatabase(scratch: string): Promise<BenchDatabase> {
  const quiet = { info() {}, warn() {}, error() {} };
  const dataDir = mkdtempSync(join(scratch, 'database-'));
  const { connection, stop } = await startEmbeddedPostgres({ dataDir, log: quiet });
  return { url: urlOf(connection), dataDir, stop };
}

export const pidOf = ({ dataDir }: BenchDatabase): number =>
  Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0]);

/** pg reads a unix socket's folder from the query. */
export function urlOf({ host, port, user, database }: EmbeddedPostgres['connection']): string {
  return `postgresql:///${database}?${new URLSearchParams({ host, port: String(port), user }).toString()}`;
}

/** The service on that database; `again` names the folder and the key of one that was on it before. */
export const startServiceOn = (
  setup: Setup,
  { url }: BenchDatabase,
  env: Record<string, string> = {},
  nodeArgs: string[] = [],
  again: Pick<StartOptions, 'dataDir' | 'key' | 'hasSession'> = {},
): Promise<Service> =>
  setup.start({
    env: { DATABASE_URL: url, HEADRACE_SECRET_KEY: 'a secret of the benchmark, 32 characters', ...env },
    nodeArgs,
    ...again,
  });
