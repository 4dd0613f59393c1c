import type { RunnerClient } from '@headrace/runner/client';
import { secondsSince } from '@headrace/runner/metrics';
import type { ServerMetrics } from './table.ts';

/** The runner's client, with the making of workspaces and captures measured. A refusal is no measurement. */
export function measuredRunner(client: RunnerClient, metrics: ServerMetrics): RunnerClient {
  if (!metrics.isOn) return client;
  return {
    ...client,
    async putWorkspace(id, tar, origin, fence) {
      const began = performance.now();
      await client.putWorkspace(id, tar, origin, fence);
      const way = origin?.base === undefined ? 'full' : tar ? 'patch' : 'kept';
      metrics.observe('headrace_workspace_restore_seconds', { way }, secondsSince(began));
    },
    async capture(id, base) {
      const began = performance.now();
      const captured = await client.capture(id, base);
      metrics.observe('headrace_capture_seconds', {}, secondsSince(began));
      return captured;
    },
  };
}
