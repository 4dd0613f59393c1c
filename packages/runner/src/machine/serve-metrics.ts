import type { Runner } from '../http/routes.ts';
import { listenForMetrics, type MetricsListener } from '../metrics/listen.ts';
import { openMetrics } from '../metrics/metrics.ts';
import { MACHINE_METRICS } from '../metrics/table.ts';
import type { TlsCredentials } from '../tls/index.ts';
import type { MachineOptions } from './options.ts';

/** Serves the metrics of a runner on a node, and of its process; undefined where nobody reads them. */
export async function serveMetrics(
  { host }: Pick<Runner, 'host'>,
  { listen, tls }: { listen: MachineOptions['metricsListen']; tls: Pick<TlsCredentials, 'goodUntil'> },
): Promise<MetricsListener | undefined> {
  if (!listen) return undefined;
  const own = openMetrics(MACHINE_METRICS, { process: true });
  own.beforeRead(() => {
    const left = tls.goodUntil.getTime() - Date.now();
    own.set('headrace_certificate_expiry_seconds', { labels: {}, value: left / 1000 });
  });
  return listenForMetrics(listen, async () => `${await own.text()}\n${await host.metrics.text()}`);
}
