/**
 * The runner of this host's data folder: found or started, kept alive by a sign of life, started again when
 * it died.
 */
import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import type { Logger } from 'pino';
import { createRunnerClient, ensureRunner } from '@headrace/runner/client';
import type { RunnerClient } from '@headrace/runner/client';
import type { RunnerStatus } from '@headrace/runner/protocol';
import type { Config } from '../config.ts';

const SIGN_OF_LIFE_MS = 1_000;
const SETTING = {
  driver: 'HEADRACE_SANDBOX_DRIVER',
  socket: 'HEADRACE_CONTAINER_SOCKET',
  image: 'HEADRACE_CONTAINER_IMAGE',
  runtime: 'HEADRACE_CONTAINER_RUNTIME',
};

export interface RunnerLink {
  client: RunnerClient;
  /**
   * What the runner said of itself last; null while none answers. A new `pid` is a new runner: what the old
   * one held is gone.
   */
  status(): RunnerStatus | null;
  close(): void;
}

/**
 * Where the runner of a data folder listens. A unix socket's path has at most 107 bytes, a data folder's
 * any number.
 */
export const runnerSocket = (dataDir: string): string =>
  join(
    tmpdir(),
    `headrace-${userInfo().uid}`,
    `${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}.runner`,
  );

/**
 * What the runner says of itself, as this service's settings take it: `ok` only where the sandboxes are
 * what they ask for.
 */
export function judged(
  status: RunnerStatus,
  { sandboxDriver, sandboxLimits, container }: Pick<Config, 'sandboxDriver' | 'sandboxLimits' | 'container'>,
): RunnerStatus {
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
 * A runner outlives restarts, with the settings that it was started with: what was asked for by name is
 * never replaced by another. Null where nothing is.
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
  // Of one that found no driver everything counts: what it misses is not what this service would.
  const counting =
    driver === null ? differing : differing.filter((name) => driver === 'container' && name !== 'driver');
  return counting.length === 0
    ? null
    : `the runner that runs was started with another ${counting.map((name) => SETTING[name]).join(', ')}`;
}

/**
 * `starts`: whether this process may start a runner (roles worker and runner). `sandboxLimits`: whether
 * memory and processes have to be bounded by cgroups.
 */
export async function openRunner({
  config,
  starts,
  log,
}: {
  config: Pick<Config, 'dataDir' | 'sandboxDriver' | 'sandboxLimits' | 'container'>;
  starts: boolean;
  log: Logger;
}): Promise<RunnerLink> {
  const { dataDir, sandboxDriver: driver } = config;
  const stateDir = join(dataDir, 'runner');
  const socketPath = runnerSocket(dataDir);
  await mkdir(dirname(socketPath), { recursive: true, mode: 0o700 });
  const client = createRunnerClient(socketPath);
  let last: RunnerStatus | null = null;
  let isBusy = false;
  let isClosed = false;

  const ensure = async () => {
    if (starts)
      (
        await ensureRunner({
          stateDir,
          socketPath,
          nodePath: process.execPath,
          sandboxes: { driver, ...config.container },
        })
      ).close();
    last = judged(await client.status(), config);
  };
  const beat = async () => {
    if (isBusy || isClosed) return;
    isBusy = true;
    try {
      last = judged(await client.status(), config);
    } catch {
      last = null;
      if (!isClosed)
        await ensure().catch((err: unknown) =>
          log.error({ err }, 'no runner can be started: runs, builds and commands wait'),
        );
    } finally {
      isBusy = false;
    }
  };
  await ensure().catch((err: unknown) => {
    if (starts) log.error({ err }, 'no runner can be started: runs, builds and commands wait');
  });
  const status = last as RunnerStatus | null;
  if (status && !status.ok)
    log.error({ missing: status.missing }, 'no sandbox can be made: runs, builds and commands are refused');
  for (const warning of status?.limits.warnings ?? []) log.warn(warning);
  const timer = setInterval(() => void beat(), SIGN_OF_LIFE_MS);
  return {
    client,
    status: () => last,
    close() {
      isClosed = true;
      clearInterval(timer);
      client.close();
    },
  };
}
