import type { RunnerStatus } from '@headrace/runner/protocol';
import type { RunnerReport } from '../db/schema.ts';

/** What operators read of a runner's status. */
export function reportOf({ id, driver, ok, missing, limits, load, egress }: RunnerStatus): RunnerReport {
  const { warnings, ...bounds } = limits;
  return {
    id,
    driver,
    ok,
    limits: bounds,
    warnings: [...missing, ...warnings],
    sandboxes: load?.sandboxes ?? null,
    memoryBytes: load?.memoryBytes ?? null,
    freeBytes: load?.freeBytes ?? null,
    egressRefused: egress?.refused ?? 0,
  };
}
