import type { Probe } from '../sandbox/probe.ts';
import type { MachineOptions } from './options.ts';

/** With `required` limits nothing runs where no control groups bound memory and processes. */
export const judgeLimits =
  (wanted: MachineOptions['limits']) =>
  (probe: Probe): Probe =>
    wanted === 'best-effort' || (probe.limits.memory === 'cgroup' && probe.limits.processes === 'cgroup')
      ? probe
      : {
          ...probe,
          ok: false,
          missing: [
            ...probe.missing,
            'control groups for memory and processes: delegate them to the runner, or set HEADRACE_SANDBOX_LIMITS=best-effort',
          ],
        };
