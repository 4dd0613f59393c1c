/** A PostgreSQL that the benchmark can reach too: the one that the service embeds, started beside it, with the same settings. */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../packages/server/src/db/embedded/index.ts';
import type { Setup } from './benchmark.ts';
import type { Service } from './service.ts';

export interface BenchDatabase {
  url: string;
  stop(): Promise<void>;
}

export async function startDatabase(scratch: string): Promise<BenchDatabase> {
  const quiet = { info() {}, warn() {}, error() {} };
  const { connection: { host, port, user, database }, stop } = await startEmbeddedPostgres({ dataDir: mkdtempSync(join(scratch, 'database-')), log: quiet });
  // pg reads a unix socket's folder from the query.
  return { url: `postgresql:///${database}?${new URLSearchParams({ host, port: String(port), user }).toString()}`, stop };
}

/** The service on that database. */
export const startServiceOn = (setup: Setup, { url }: BenchDatabase, env: Record<string, string> = {}, nodeArgs: string[] = []): Promise<Service> =>
  setup.start({ env: { DATABASE_URL: url, HEADRACE_SECRET_KEY: 'a secret of the benchmark, 32 characters', ...env }, nodeArgs });
