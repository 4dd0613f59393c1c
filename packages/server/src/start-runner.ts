/** The role `runner` alone, on a node: neither database nor secrets, only a certificate and where the workers are. */
import { hostname } from 'node:os';
import { join } from 'node:path';
import { startMachine } from '@headrace/runner/client';
import { PROTOCOL_VERSION } from '@headrace/runner/protocol';
import { addressText, ownFaults, parseAddress, TlsCredentials, TlsFault } from '@headrace/runner/tls';
import type { Config } from './config.ts';
import type { MachinesConfig } from './machines-config.ts';

/**
 * Runs until SIGTERM has drained it, or SIGINT. Resolves with the exit code. Throws Error with everything that is
 * wrong with its certificate.
 */
export async function runRunner(config: Config, machines: MachinesConfig): Promise<number> {
  const { listen, address, pool, capacity, drainSeconds } = machines.runner;
  checkCertificate(machines, parseAddress(address)!.host);
  const runner = startMachine({
    stateDir: join(config.dataDir, 'runner', `v${PROTOCOL_VERSION}`),
    machine: {
      name: hostname(),
      listen,
      address,
      workers: machines.workers,
      tls: machines.tls,
      pool,
      capacity,
      drainSeconds,
      limits: config.sandboxLimits,
      metricsListen: config.metricsListen,
    },
    sandboxes: { driver: config.sandboxDriver, ...config.container },
    place: config.runnerDir,
    onReady: () =>
      console.log(`headrace runner listening on ${addressText(listen)}, as ${address} in the pool ${pool}`),
    say: (line) => console.error(`runner: ${line}`),
  });
  process.on('SIGTERM', () => runner.stop('SIGTERM'));
  process.on('SIGINT', () => runner.stop('SIGINT'));
  return runner.ended;
}

function checkCertificate({ tls: files }: MachinesConfig, host: string): void {
  let tls: TlsCredentials;
  try {
    tls = new TlsCredentials(files);
  } catch (error) {
    if (error instanceof TlsFault) throw new Error(error.message, { cause: error });
    throw error;
  }
  const faults = ownFaults(tls, { roles: ['runner'], host });
  if (faults.length > 0) throw new Error(faults.join('\n'));
}
