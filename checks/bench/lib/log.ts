/**
 * The log from another process than the service's: events committed by the service's own code, and seen
 * when they are published.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { openBus } from '../../../packages/server/src/bus.ts';
import { openDatabase } from '../../../packages/server/src/db/database.ts';
import type { DatabaseHandle } from '../../../packages/server/src/db/database.ts';
import { appendEvent, transaction } from '../../../packages/server/src/db/transaction.ts';
import type { EventScope } from '../../../packages/server/src/db/transaction.ts';
import { newId } from '../../../packages/server/src/ids.ts';
import { newApp } from '../../harness/apps.ts';
import type { Setup } from './benchmark.ts';
import type { Caller } from '../../harness/http.ts';

const PUBLISH_LIMIT_MS = 60_000;

export interface Log {
  scope: EventScope;
  /** The connections that `commit` uses, at most as many as there are writers. */
  pool: DatabaseHandle['pool'];
  /**
   * Commits a transaction with one event, as a write of the service does; resolves with its id when
   * PostgreSQL has answered.
   */
  commit(): Promise<string>;
  /** The last published sequence. */
  end(): Promise<number>;
  /** Resolves when `sequence` is published. */
  reaches(sequence: number): Promise<void>;
}

/** What an event of an app says, of the length that the service's own have. */
export const eventData = (appId: string) => ({
  id: appId,
  externalId: null,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: new Date().toISOString(),
});
export const EVENT_TYPE = 'platform.app.updated';

/**
 * The log of the service's database at `url`, for events of a new app; closed when the benchmark has ended.
 */
export async function openLog(setup: Setup, service: Caller, url: string, writers: number): Promise<Log> {
  const log = await openLogOf(setup, url, writers);
  const before = await log.end();
  const { app } = (await service.call('GET', await newApp(service))).body;
  const scope: EventScope = { orgId: app.orgId as string, projectId: app.id as string, feed: 'platform' };
  // The app's own event does not count among what is committed here.
  await log.reaches(before + 1);
  return { ...log, scope, commit: () => log.append(scope, EVENT_TYPE, eventData(app.id as string)) };
}

/** Like the above, for events of any scope. */
export async function openLogOf(setup: Setup, url: string, writers: number) {
  const database = openDatabase({ connectionString: url }, { max: writers });
  setup.atEnd(() => database.close());
  const bus = await openBus(database.connection, newId('wrk'), pino({ level: 'silent' }));
  setup.atEnd(() => bus.close());
  const ctx = { db: database.db, bus };
  const end = async () =>
    (await database.db.selectFrom('log_state').select('last_sequence').executeTakeFirstOrThrow())
      .last_sequence;
  async function reaches(sequence: number): Promise<void> {
    for (const deadline = Date.now() + PUBLISH_LIMIT_MS; (await end()) < sequence; await sleep(2))
      if (Date.now() > deadline)
        throw new Error(`Not everything was published: ${await end()} of ${sequence}`);
  }
  return {
    pool: database.pool,
    end,
    reaches,
    append: (scope: EventScope, type: string, data: Record<string, unknown>) =>
      transaction(ctx, async (tx) => appendEvent(tx, scope, type, data)),
  };
}
