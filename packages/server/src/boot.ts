/** From a configuration to a running service, and back. Used by main.ts and by tests. */
import { join } from 'node:path';
import { TlsCredentials } from '@headrace/runner/tls';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { noMetrics, openMetrics } from '@headrace/runner/metrics';
import { firstStart } from './accounts/index.ts';
import { createApp } from './app.ts';
import { openBus } from './bus.ts';
import { ConfigError } from './config.ts';
import type { Config } from './config.ts';
import type { Context } from './context.ts';
import { openDataFolder } from './data-folder.ts';
import { connectionsOf } from './db/connections.ts';
import type { Connections } from './db/connections.ts';
import { openDatabase } from './db/database.ts';
import { lockDataDir, startEmbeddedPostgres } from './db/embedded/index.ts';
import { migrate } from './db/migrate.ts';
import { EventHub, Publisher } from './events/index.ts';
import { signingKeyFault } from './git/signing-key.ts';
import { connectionsEnd } from './http/leaving.ts';
import { newId, setIdClock } from './ids.ts';
import { openLimits } from './limits/limits.ts';
import type { MachinesConfig } from './machines-config.ts';
import { openWindowStore } from './limits/store.ts';
import { createMergeEngine } from './merge/pool.ts';
import { measuredRunner } from './metrics/measured-runner.ts';
import { measuredStore } from './metrics/measured-store.ts';
import { SERVER_METRICS } from './metrics/table.ts';
import type { ServerMetrics } from './metrics/table.ts';
import { startMonitor } from './monitor.ts';
import { startSignsOfLife } from './processes/index.ts';
import { connectOver, Fleet } from './runner/fleet.ts';
import { FormerRunners } from './runner/former-runners.ts';
import { openRunner } from './runner/link.ts';
import { noRunner } from './runner/no-runner.ts';
import { followConfiguredInstallations } from './scm/index.ts';
import { replaceKeys } from './sealing.ts';
import { readSecretKeys } from './secret-keys.ts';
import { ImportPool } from './sources/import/pool.ts';
import { SearchPool } from './sources/search/pool.ts';
import { openStore } from './storage/open-store.ts';
import { startWork } from './worker.ts';
import type { Work } from './worker.ts';
import { atThread } from './workspaces/index.ts';

export interface Service {
  /** Base address, null where this process does not listen. */
  address: string | null;
  ctx: Context;
  /** Where metrics are read; null where they are not. */
  metricsPort: number | null;
  /** What the first start generated, to be shown once. */
  notices: string[];
  /** Goes on answering for a moment, so that callers learn that their connections end. To be called before `stop`. */
  leave(): Promise<void>;
  /** Answers what is under way, ends streams and jobs, stops the database last. At most 10 s. */
  stop(): Promise<void>;
}

export const VERSION = '0.1.0';

type Stop = () => Promise<void> | void;

interface Listeners {
  /** The embedded database stays down: the process should end, the next start brings it up. */
  onFatal: () => void;
  /** What the first start generated, as soon as it is in force: nothing else tells it, also if the start fails afterwards. */
  onNotices: (notices: string[]) => void;
}

export async function startService(
  config: Config,
  log: Logger,
  { onFatal = () => {}, onNotices = () => {} }: Partial<Listeners> = {},
): Promise<Service> {
  const stops: Stop[] = [];
  const stopAll = async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
  };
  try {
    return await boot(config, log, { stops, stopAll, onFatal, onNotices });
  } catch (error) {
    await stopAll();
    throw error;
  }
}

interface Ends extends Listeners {
  /** What was started, in order: the last is stopped first. */
  stops: Stop[];
  stopAll: () => Promise<void>;
}

async function boot(config: Config, log: Logger, ends: Ends): Promise<Service> {
  const { stops, stopAll, onFatal } = ends;
  await checkSigningKey(config.scm.commit);
  const metrics: ServerMetrics = config.metricsListen
    ? openMetrics(SERVER_METRICS, { process: true })
    : noMetrics();
  await openDataFolder(config.dataDir, log);
  if (config.databaseUrl === null) stops.push(lockDataDir(config.dataDir));
  // Before the migration, during which a runner of an older version has to hear of this process.
  const opening = config.machines ? null : openOwnRunner(config, log, stops);
  const { pooled, direct, warnings } = await openConnections(config, log, stops, onFatal);
  for (const warning of warnings) log.warn(warning);
  await migrate(direct);
  const database = openDatabase(pooled, { max: config.databaseConnections });
  stops.push(() => database.close());
  const processId = newId('wrk');
  const bus = await openBus(direct, processId, log);
  stops.push(() => bus.close());
  setIdClock(() => bus.databaseTime());
  const limits = openLimits(openWindowStore(pooled), bus, processId, log);
  stops.push(() => limits.close());
  const leaving = new AbortController();
  const shutdown = new AbortController();
  const runner = await opening;
  const fleet = config.machines ? openFleet(config.machines, { db: database.db, log, metrics }) : null;
  stops.push(() => fleet?.close());
  const pool = new ImportPool();
  stops.push(() => pool.close());
  const searches = new SearchPool();
  stops.push(() => searches.close());
  const merger = createMergeEngine({ dir: join(config.dataDir, 'merge') });
  stops.push(() => merger.close());
  const secretKeys = await readSecretKeys(config);
  replaceKeys(secretKeys.current, secretKeys.former);
  const basis = {
    config,
    db: database.db,
    directConnection: direct,
    bus,
    log,
    metrics,
    secretKey: secretKeys.current,
    leaving: leaving.signal,
    shutdown: shutdown.signal,
  };
  const ctx: Context = {
    ...basis,
    clock: { offsetMs: 0 },
    events: new EventHub(basis),
    store: measuredStore(await openStore(config), metrics),
    limits,
    pool,
    searches,
    merger,
    runner: runner ? measuredRunner(runner.client, metrics) : noRunner,
    runnerStatus: () => runner?.status() ?? null,
    formerRunners: runner?.former ?? new FormerRunners(),
    fleet,
    at: null,
    host: null,
    processId,
    version: VERSION,
    listening: { port: config.port },
    workerSeenAt: -Infinity,
    openedAt: performance.now(),
  };
  const notices = await firstStart(ctx);
  ends.onNotices(notices);
  await followConfiguredInstallations(ctx);
  const signs = await startSignsOfLife(ctx);
  stops.push(() => signs.stop());
  // In each process: the one that holds the lock publishes, the others wait for it.
  const publisher = new Publisher(ctx, direct);
  stops.push(() => publisher.stop());
  const monitor = metrics.isOn
    ? await startMonitor(ctx, { pool: database.pool, isPublishing: () => publisher.isPublishing() })
    : null;
  stops.push(() => monitor?.stop());
  const work: Work | null = config.roles.has('worker') ? await startWork(ctx, direct) : null;
  let app: FastifyInstance | null = null;
  let address: string | null = null;
  if (config.roles.has('api')) {
    await ctx.events.start(direct, (threadId) => atThread(ctx, threadId));
    app = await createApp(ctx);
    address = await app.listen({ host: config.host, port: config.port });
    ctx.listening.port = Number(new URL(address).port);
  }
  return {
    address,
    ctx,
    metricsPort: monitor?.port ?? null,
    notices,
    async leave() {
      leaving.abort();
      if (app) await connectionsEnd(app.server);
    },
    async stop() {
      leaving.abort();
      shutdown.abort();
      await Promise.all([app?.close(), work?.stop()]);
      await stopAll();
    },
  };
}

function openOwnRunner(config: Config, log: Logger, stops: Stop[]): ReturnType<typeof openRunner> {
  const opening = openRunner({
    config,
    starts: config.roles.has('worker') || config.roles.has('runner'),
    finishes: config.roles.has('worker'),
    log,
  });
  // A start that fails elsewhere reports that, and closes what came of this.
  opening.catch(() => {});
  stops.push(() => opening.then((runner) => runner.close()).catch(() => {}));
  return opening;
}

function openFleet(
  { tls, runner }: MachinesConfig,
  { db, log, metrics }: Pick<Context, 'db' | 'log' | 'metrics'>,
): Fleet {
  const connect = connectOver(new TlsCredentials(tls));
  return new Fleet({
    db,
    log,
    pool: runner.pool,
    connect: (address) => measuredRunner(connect(address), metrics),
  });
}

async function checkSigningKey({ signingKey }: Config['scm']['commit']): Promise<void> {
  const fault = signingKey === null ? null : await signingKeyFault(signingKey);
  if (fault !== null) throw new ConfigError([`scm.commit.signingKey: ${signingKey} ${fault}`]);
}

async function openConnections(
  config: Config,
  log: Logger,
  stops: Stop[],
  onFatal: () => void,
): Promise<Connections> {
  const { databaseUrl, databaseDirectUrl } = config;
  if (databaseUrl !== null) return connectionsOf({ databaseUrl, databaseDirectUrl });
  const postgres = await startEmbeddedPostgres({
    dataDir: config.dataDir,
    log,
    onStatus: (status) => {
      if (status === 'failed') onFatal();
    },
  });
  stops.push(() => postgres.stop());
  return { pooled: postgres.connection, direct: postgres.connection, warnings: [] };
}
