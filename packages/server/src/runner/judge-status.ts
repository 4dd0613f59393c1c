import { PROTOCOL_VERSION } from '@headrace/runner/protocol';
import type { RunnerStatus } from '@headrace/runner/protocol';
import type { Config } from '../config.ts';

const SETTING = {
  driver: 'HEADRACE_SANDBOX_DRIVER',
  socket: 'HEADRACE_CONTAINER_SOCKET',
  image: 'HEADRACE_CONTAINER_IMAGE',
  runtime: 'HEADRACE_CONTAINER_RUNTIME',
};

/** The runner's status under this service's settings: `ok` only where its sandboxes meet them. */
export function judgeStatus(
  status: RunnerStatus,
  { sandboxDriver, sandboxLimits, container }: Pick<Config, 'sandboxDriver' | 'sandboxLimits' | 'container'>,
): RunnerStatus {
  if (status.protocol !== PROTOCOL_VERSION)
    return {
      ...status,
      ok: false,
      missing: [
        `a runner of protocol ${PROTOCOL_VERSION}: the one that runs speaks ${status.protocol ?? 0}; stop the service for 30 seconds`,
      ],
    };
  const other = otherSettings(status, { driver: sandboxDriver, ...container });
  if (other !== null)
    return {
      ...status,
      ok: false,
      missing: [`${other}; it ends 30 seconds after the service: stop the service for so long`],
    };
  if (
    sandboxLimits === 'best-effort' ||
    (status.limits.memory === 'cgroup' && status.limits.processes === 'cgroup')
  )
    return status;
  return {
    ...status,
    ok: false,
    missing: [
      ...status.missing,
      'control groups for memory and processes: delegate them to this user, or set HEADRACE_SANDBOX_LIMITS=best-effort',
    ],
  };
}

/**
 * Which settings of this service the runner was started without: it outlives restarts, and a driver or engine
 * that is named is never replaced by another. Null when there are none.
 */
function otherSettings(
  { driver, asked }: RunnerStatus,
  wanted: NonNullable<RunnerStatus['asked']>,
): string | null {
  if (driver !== null && wanted.driver !== 'auto' && driver !== wanted.driver)
    return `the driver ${wanted.driver}: the runner that runs uses ${driver}`;
  const differing = (['driver', 'socket', 'image', 'runtime'] as const).filter(
    (name) => asked && asked[name] !== wanted[name],
  );
  // For a runner that found no driver every setting counts: this service may need something else.
  const counting =
    driver === null ? differing : differing.filter((name) => driver === 'container' && name !== 'driver');
  return counting.length === 0
    ? null
    : `the runner that runs was started with another ${counting.map((name) => SETTING[name]).join(', ')}`;
}
