/** Everything that api and worker measure, in one place; docs/guides/operations.md shows the same table. */
import type { Metrics, MetricTable } from '@headrace/runner/metrics';

export const SERVER_METRICS = {
  headrace_event_lag_seconds: {
    type: 'histogram',
    help: 'From the writing of an event until streams of this process have it.',
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  },
  headrace_outbox_oldest_seconds: {
    type: 'gauge',
    help: 'Age of the oldest event that is not published yet; 0 without one.',
  },
  headrace_job_oldest_seconds: {
    type: 'gauge',
    help: 'How long the oldest due job has waited that nothing but a worker keeps from its start.',
    labels: { kind: 'kinds of jobs' },
  },
  headrace_job_claim_seconds: {
    type: 'histogram',
    help: 'A look for the next job, whether it finds one or not.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5],
  },
  headrace_runs_held: { type: 'gauge', help: 'Queued runs that a limit of concurrency holds back.' },
  headrace_apply_duration_seconds: {
    type: 'histogram',
    help: 'From the acceptance of an apply to its end; `repaired`: however it ended after a repair.',
    labels: { outcome: ['applied', 'conflicted', 'failed', 'repaired'] },
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 600],
  },
  headrace_builds_fenced_oldest_seconds: {
    type: 'gauge',
    help: 'How long a build has been past its time, or its runner lost, without proof that its sandbox is gone; 0 without one.',
  },
  headrace_runners: {
    type: 'gauge',
    help: 'Runners by pool and state.',
    labels: { pool: 'pools of runners', state: ['ready', 'draining', 'suspect', 'lost'] },
  },
  headrace_runner_slots: {
    type: 'gauge',
    help: 'Sandboxes that runners of a pool have, and have room for.',
    labels: { pool: 'pools of runners', state: ['used', 'free'] },
  },
  headrace_http_request_duration_seconds: {
    type: 'histogram',
    help: 'A request from its headers to the last byte of its answer, without streams and long polls that succeed.',
    labels: { operation: 'operations of the API', class: ['ok', '4xx', '5xx'] },
    // Each bound costs 600 series: three classes of 200 operations.
    buckets: [0.025, 0.1, 0.5, 2.5],
  },
  headrace_streams_open: { type: 'gauge', help: 'Event streams and long polls that this process serves.' },
  headrace_run_phase_seconds: {
    type: 'histogram',
    help: "A run's phases. `start`: from its acceptance, with `prepare`, its workspace; `turn`: its agent; `settle`: capture and record.",
    labels: { phase: ['start', 'prepare', 'turn', 'settle'] },
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30, 120, 600, 3600],
  },
  headrace_runs_total: {
    type: 'counter',
    help: 'Runs that a worker brought to an end: their status, and the error of those that failed.',
    labels: {
      outcome: [
        'completed',
        'cancelled',
        'failed',
        'script_failed',
        'agent_error',
        'model_error',
        'spend_limit_reached',
        'invalid_result',
        'not_configured',
        'sandbox_lost',
        'worker_lost',
        'host_lost',
        'workspace_unavailable',
      ],
    },
  },
  headrace_workspace_restore_seconds: {
    type: 'histogram',
    help: 'The making of a workspace at the runner. `kept`: over kept files; `patch`: over those of a near version; `full`: from all files.',
    labels: { way: ['kept', 'patch', 'full'] },
    buckets: [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 20],
  },
  headrace_capture_seconds: {
    type: 'histogram',
    help: 'A list of what a workspace holds, made by the runner.',
    buckets: [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 20],
  },
  headrace_model_call_seconds: {
    type: 'histogram',
    help: "A model's call from its request to the provider until its answer has ended.",
    labels: {
      provider: 'providers of the configuration',
      outcome: [
        'ok',
        'refused',
        'unreachable',
        'cut',
        'nonsense',
        'overrun',
        'disconnected',
        'closed',
        'lost',
      ],
    },
    buckets: [0.25, 1, 2.5, 5, 10, 30, 60, 300],
  },
  headrace_model_tokens_total: {
    type: 'counter',
    help: 'Tokens that providers charge for.',
    labels: { provider: 'providers of the configuration', direction: ['input', 'output'] },
  },
  headrace_model_cost_micros_total: {
    type: 'counter',
    help: "Micro-units of the price list's currency that calls of models cost.",
    labels: { provider: 'providers of the configuration' },
  },
  headrace_store_seconds: {
    type: 'histogram',
    help: 'Calls of the object storage; reads as streams up to their first byte.',
    labels: { op: ['put', 'get', 'head', 'delete', 'probe'], outcome: ['ok', 'failed'] },
    buckets: [0.002, 0.01, 0.05, 0.25, 1, 5],
  },
  headrace_db_pool: {
    type: 'gauge',
    help: "Connections of this process's pool to PostgreSQL, and calls that wait for one.",
    labels: { state: ['used', 'idle', 'waiting'] },
  },
  headrace_certificate_expiry_seconds: {
    type: 'gauge',
    help: "Until this process's TLS certificate expires, or its list of revoked ones is out of date; negative afterwards.",
  },
  headrace_backup_age_seconds: {
    type: 'gauge',
    help: 'Since `headrace backup` last ended with this data folder.',
  },
} as const satisfies MetricTable;

export type ServerMetrics = Metrics<typeof SERVER_METRICS>;
