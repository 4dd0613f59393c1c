/** Serves the metrics of this process, and looks at what nobody counts: pool, database, files, the runner. */
import { stat } from 'node:fs/promises';
import type pg from 'pg';
import { listenForMetrics } from '@headrace/runner/metrics';
import { TlsCredentials } from '@headrace/runner/tls';
import type { Context } from './context.ts';
import { lastBackupFile } from './data-folder.ts';
import { every } from './jobs/every.ts';
import { clearDatabaseGauges, readDatabaseGauges } from './metrics/database-gauges.ts';

/** Less than Prometheus' usual interval. */
const GAUGES_MS = 10_000;
/** An answer is not held up by a runner that is stuck. */
const RUNNER_MS = 1_000;

interface Watched {
  pool: pg.Pool;
  /** Whether this process publishes the log, and so reads what concerns all processes. */
  isPublishing: () => boolean;
}

/** Listens where the configuration says so. Throws where it cannot. */
export async function startMonitor(
  ctx: Pick<Context, 'config' | 'db' | 'log' | 'metrics' | 'runner' | 'runnerStatus'>,
  { pool, isPublishing }: Watched,
): Promise<{ port: number; stop(): Promise<void> }> {
  const { metrics, config } = ctx;
  metrics.beforeRead(() =>
    metrics.set(
      'headrace_db_pool',
      { labels: { state: 'idle' }, value: pool.idleCount },
      { labels: { state: 'used' }, value: pool.totalCount - pool.idleCount },
      { labels: { state: 'waiting' }, value: pool.waitingCount },
    ),
  );
  metrics.beforeRead(async () => {
    const made = await stat(lastBackupFile(config.dataDir)).catch(() => null);
    if (made)
      metrics.set('headrace_backup_age_seconds', { labels: {}, value: (Date.now() - made.mtimeMs) / 1000 });
  });
  if (config.machines) {
    const tls = new TlsCredentials(config.machines.tls);
    metrics.beforeRead(() => {
      const left = tls.goodUntil.getTime() - Date.now();
      metrics.set('headrace_certificate_expiry_seconds', { labels: {}, value: left / 1000 });
    });
  }
  const look = async () => {
    if (isPublishing()) await readDatabaseGauges(ctx.db, metrics);
    else clearDatabaseGauges(metrics);
  };
  const looking = every(GAUGES_MS, look, {
    onFailure: (err) => ctx.log.debug({ err }, 'the metrics of the database could not be read'),
  });
  looking.runNow();
  const text = async () => {
    // The runner on this machine has no port of its own.
    const ofRunner = ctx.runnerStatus() ? ctx.runner.metrics(AbortSignal.timeout(RUNNER_MS)) : '';
    const [own, runners] = await Promise.all([metrics.text(), Promise.resolve(ofRunner).catch(() => '')]);
    return `${own}\n${runners}`;
  };
  const listener = await listenForMetrics(config.metricsListen!, text);
  return {
    port: listener.port,
    async stop() {
      await listener.close();
      await looking.stop();
    },
  };
}
