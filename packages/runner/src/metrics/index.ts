/** What the server imports as `@headrace/runner/metrics`. */
export { listenForMetrics, type MetricsListener } from './listen.ts';
export {
  noMetrics,
  openMetrics,
  secondsSince,
  type Definition,
  type Metrics,
  type MetricTable,
} from './metrics.ts';
export { MACHINE_METRICS, RUNNER_METRICS } from './table.ts';
