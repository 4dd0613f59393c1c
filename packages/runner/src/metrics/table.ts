import type { MetricTable, Metrics } from './metrics.ts';

/** What a runner measures. */
export const RUNNER_METRICS = {
  headrace_sandbox_start_seconds: {
    type: 'histogram',
    help: 'From asking for a sandbox until its first process exists.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
  },
  headrace_runner_sandboxes: { type: 'gauge', help: 'Tasks whose sandbox is alive.' },
} as const satisfies MetricTable;

/** What a runner on a node measures besides. A service that starts its runner has these of its own. */
export const MACHINE_METRICS = {
  headrace_certificate_expiry_seconds: {
    type: 'gauge',
    help: "Until this process's TLS certificate expires, or its list of revoked ones is out of date; negative afterwards.",
  },
} as const satisfies MetricTable;

export type RunnerMetrics = Metrics<typeof RUNNER_METRICS>;
