/** PostgreSQL outside of the cluster, which Pods reach at the node's address. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { startEmbeddedPostgres } from '../../../packages/server/src/db/embedded/index.ts';
import { ADDRESS, POD_RANGE } from './addresses.ts';

const log = { info: () => {}, warn: console.warn, error: console.error };

export interface Database {
  /** For Pods. */
  url: string;
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  stop(): Promise<void>;
}

export async function startPostgres(scratch: string): Promise<Database> {
  const dataDir = join(scratch, 'postgres');
  mkdirSync(dataDir, { mode: 0o700 });
  const access = join(scratch, 'pg_hba.conf');
  writeFileSync(access, `local all all trust\nhost all all ${POD_RANGE} trust\n`);
  const postgres = await startEmbeddedPostgres({
    dataDir,
    log,
    settings: { listen_addresses: ADDRESS, hba_file: access, max_connections: '300' },
  });
  const { user, port, database } = postgres.connection;
  const client = new Client(postgres.connection);
  await client.connect();
  return {
    url: `postgresql://${user}@${ADDRESS}:${port}/${database}`,
    query: async (text, values = []) => (await client.query(text, [...values])).rows,
    async stop() {
      await client.end();
      await postgres.stop();
    },
  };
}
