/**
 * A runner on a node: it listens for workers and api processes over mTLS, registers at the workers, and ends by
 * itself:
 *
 *   serving    SIGTERM                                 draining: says so at once; waits for what it has
 *   draining   nothing is left, or DRAIN_SECONDS over  leaves with 0
 *   any        the lease ends, or it counts as gone    leaves with LEASE_ENDED: kills everything
 *   any        SIGINT, SIGTERM again, its starter ends leaves with 0
 *
 * It leaves the process, whose starter starts another with another bootId (start-machine.ts): nothing that a
 * runner holds in memory, mounts or processes can then outlive its lease, whatever state it was in.
 */
import type { Server } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeServer } from '../http/server.ts';
import { statusOf, type Runner } from '../http/routes.ts';
import type { RunnerProcess } from '../runner-process.ts';
import { PROTOCOL_RANGE } from '../registration.ts';
import { addressText, type TlsCredentials } from '../tls/index.ts';
import { forget } from './forget.ts';
import { judgeRoom } from './judge-room.ts';
import { Lease } from './lease.ts';
import { MeasuredSizes } from './measured-sizes.ts';
import type { MachineOptions } from './options.ts';
import { serveMetrics } from './serve-metrics.ts';
import { Registrar } from './registrar.ts';
import type { WorkerLinks } from './worker-links.ts';

/** Exit code: to be started again. */
export const LEASE_ENDED = 75;
const DRAIN_LOOK_MS = 250,
  LAST_READ_MS = 5_000;

interface Parts {
  options: MachineOptions;
  tls: TlsCredentials;
  workers: WorkerLinks;
}

/** Resolves when it listens. */
export async function serveMachine(
  { runner, warm, leave }: RunnerProcess,
  { options, tls, workers }: Parts,
): Promise<void> {
  const bootId = runner.status.id;
  let isDraining = false;
  const { server } = makeServer(runner, { tls, onRefused: say });
  await listening(server as Server, options);
  await serveMetrics(runner, { listen: options.metricsListen, tls });
  const end = (code: number, why: string): void => {
    say(why);
    registrar.stop();
    lease.stop();
    server.close();
    server.closeAllConnections();
    void leave(code);
  };
  const lease = new Lease(() => end(LEASE_ENDED, 'its lease has ended: everything is killed'));
  const sizes = new MeasuredSizes(() => runner.workspaces.sizes());
  const registrar = new Registrar({
    bootId,
    workers,
    lease,
    describe: () => ({
      sizes: sizes.take(),
      name: options.name,
      address: options.address,
      pool: options.pool,
      protocol: [...PROTOCOL_RANGE] as [number, number],
      capacity: options.capacity,
      isDraining,
      status: judgeRoom(statusOf(runner), runner.host.base),
      tasks: runner.tasks.all().map(({ id }) => id),
      workspaces: runner.workspaces.ids(),
      groups: runner.workspaces.trees.groups(),
    }),
    forget: (named, sentAt) => forget(runner, named, sentAt),
    onMeasure: () => void sizes.measure(),
    onGone: () => end(LEASE_ENDED, 'the workers count it as gone: everything is killed'),
    say,
  });

  const drain = (): void => {
    if (isDraining) return end(0, 'it was told twice: everything is killed');
    isDraining = true;
    say(`draining, for at most ${options.drainSeconds} seconds`);
    void registrar.call();
    void (async () => {
      const isDrained = await emptyWithin(runner, options.drainSeconds * 1000);
      if (!isDrained) {
        say('it is not drained in time: the rest is cancelled');
        await Promise.allSettled(runner.tasks.all().map((task) => task.cancel()));
        // The workers read how their tasks have ended.
        await emptyWithin(runner, LAST_READ_MS);
      }
      await registrar.leave();
      end(0, isDrained ? 'drained' : 'not drained: the rest is killed');
    })();
  };
  process.on('SIGTERM', drain);
  process.on('SIGINT', () => end(0, 'interrupted'));
  // Its starter's end closes it.
  process.stdin
    .resume()
    .on('end', () => end(0, 'its starter has ended'))
    .on('error', () => {});
  registrar.start();
  for (const missing of runner.status.missing) say(`nothing can run here: ${missing}`);
  process.stdout.write('{"ready":true}\n');
  warm();
}

/** Whether it has no task and no workspace left before the time is over. */
async function emptyWithin({ tasks, workspaces }: Runner, ms: number): Promise<boolean> {
  const isEmpty = (): boolean => tasks.all().length === 0 && workspaces.ids().length === 0;
  for (const deadline = performance.now() + ms; !isEmpty(); await sleep(DRAIN_LOOK_MS))
    if (performance.now() >= deadline) return false;
  return true;
}

function listening(server: Server, { listen }: MachineOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server
      .once('error', (error) =>
        reject(new Error(`It cannot listen on ${addressText(listen)}: ${error.message}`)),
      )
      .listen(listen.port, listen.host, resolve);
  });
}

function say(line: string): void {
  process.stderr.write(`runner: ${line}\n`);
}
