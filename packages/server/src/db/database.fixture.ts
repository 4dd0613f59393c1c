/** A separate database for a test file or a test. */
import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { inject } from 'vitest';
import type { TestConnection } from './postgres.fixture.ts';

export interface TestDatabase {
  /** For `openDatabase` and for clients of the test's own. */
  connection: TestConnection;
  /** Ends connections that are still open, and removes the database. */
  drop(): Promise<void>;
}

/** A fresh database with this version's schema, cloned in about 30 ms. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const server = inject('postgres');
  const name = `test_${randomBytes(8).toString('hex')}`;
  // Copying files takes 30 ms, logging every page (the default) 80 ms.
  await run(server, `create database ${name} template ${inject('template')} strategy file_copy`);
  return {
    connection: { ...server, database: name },
    drop: () => run(server, `drop database if exists ${name} with (force)`),
  };
}

async function run(server: TestConnection, sql: string): Promise<void> {
  const client = new Client({ ...server, database: 'postgres' });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
