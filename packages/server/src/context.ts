/**
 * What every operation and job may use. Composed in boot.ts, replaced piece by piece in tests. It knows no
 * domain: a domain that keeps something for the whole process declares it here from its own file with
 * `declare module` (`events` in events/hub.ts, `pool` in sources/import/pool.ts).
 */
import type { PoolConfig } from 'pg';
import type { Logger } from 'pino';
import type { RunnerClient } from '@headrace/runner/client';
import type { RunnerStatus } from '@headrace/runner/protocol';
import type { Bus } from './bus.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import type { Db } from './db/database.ts';
import type { Limits } from './limits/limits.ts';
import type { MergeEngine } from './merge/pool.ts';
import type { ServerMetrics } from './metrics/table.ts';
import type { FormerRunners } from './runner/former-runners.ts';
import type { ObjectStore } from './storage/object-store.ts';

export interface Context {
  config: Config;
  clock: Clock;
  db: Db;
  /** For LISTEN and session locks: it leads through no connection pooler. */
  directConnection: PoolConfig;
  bus: Bus;
  log: Logger;
  store: ObjectStore;
  /** What this process measures of itself: metrics/table.ts names all of it. */
  metrics: ServerMetrics;
  /** Rolling windows of requests, shared by all processes. */
  limits: Limits;
  /** Signs cursors and preview addresses, seals stored secrets. */
  secretKey: Buffer;
  merger: MergeEngine;
  runner: RunnerClient;
  /** What the runner said of itself last; null while none answers. */
  runnerStatus: () => RunnerStatus | null;
  /** Runners of older versions, which finish what they have. */
  formerRunners: FormerRunners;
  /** Names this process in leases and wake-ups. */
  processId: string;
  version: string;
  /** Where the API is reached: the configured port, or the one that this process was given for 0. */
  listening: { port: number };
  /** Fires a moment before `shutdown`: answers say that their connection ends. */
  leaving: AbortSignal;
  /** Ends with the process: long polls, streams and waits stop on it. */
  shutdown: AbortSignal;
}
