/** For tests of jobs: a file's own database and bus, and workers that end with each test. */
import pino from 'pino';
import { noMetrics } from '@headrace/runner/metrics';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { openBus } from '../bus.ts';
import type { Bus } from '../bus.ts';
import { openDatabase } from '../db/database.ts';
import type { DatabaseHandle } from '../db/database.ts';
import { createTestDatabase } from '../db/database.fixture.ts';
import type { TestDatabase } from '../db/database.fixture.ts';
import { newId } from '../ids.ts';
import type { ServerMetrics } from '../metrics/table.ts';
import type { JobWorker } from './worker.ts';

export let database: TestDatabase;
export let handle: DatabaseHandle;
export let bus: Bus;
const log = pino({ level: 'silent' });
/** Stopped after each test, before its jobs are removed. */
export const workers: JobWorker[] = [];
export const ctx = () => ({ db: handle.db, bus, log, metrics: noMetrics() as ServerMetrics });

/** Each file calls it: files that share a process share this module. */
export function useJobs(): void {
  beforeAll(async () => {
    database = await createTestDatabase();
    handle = openDatabase(database.connection, { max: 8 });
    bus = await openBus(database.connection, newId('wrk'), log);
  });
  afterAll(async () => {
    await bus?.close();
    await handle?.close();
    await database?.drop();
  });
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop(1_000)));
    await handle.db.deleteFrom('jobs').execute();
  });
}
