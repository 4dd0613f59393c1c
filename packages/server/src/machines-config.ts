/**
 * The variables of several machines: runners on nodes of their own, linked to workers and api processes by mTLS.
 * Without a certificate there is one machine, and none of them is read.
 */
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { POOL_PATTERN } from '@headrace/runner/registration';
import { addressText, parseAddress } from '@headrace/runner/tls';
import type { Address, TlsFiles } from '@headrace/runner/tls';

export const MACHINES_SETTINGS = {
  HEADRACE_TLS_CERT_FILE: { default: null },
  HEADRACE_TLS_KEY_FILE: { default: null },
  HEADRACE_TLS_CA_FILE: { default: null },
  HEADRACE_TLS_CRL_FILE: { default: null },
  HEADRACE_API_LISTEN: { default: '0.0.0.0:4404' },
  HEADRACE_API_ADDRESS: { default: null },
  HEADRACE_WORKER_LISTEN: { default: '0.0.0.0:4402' },
  HEADRACE_WORKER_ADDRESS: { default: null },
  HEADRACE_RUNNER_LISTEN: { default: '0.0.0.0:4403' },
  HEADRACE_RUNNER_ADDRESS: { default: null },
  HEADRACE_RUNNER_POOL: { default: 'default' },
  HEADRACE_RUNNER_CAPACITY: { default: null },
  HEADRACE_DRAIN_SECONDS: { default: '3600' },
} as const;

export interface MachinesConfig {
  tls: TlsFiles;
  api: {
    /** Where an api process listens for calls to the hosts that are connected to it. */
    listen: Address;
    /** Where workers and other api processes reach it: `host:port`. */
    address: string;
  };
  /** Where a worker listens for runners. */
  workerListen: Address;
  /** Where a runner finds workers, each tried in turn. */
  workers: Address[];
  runner: {
    listen: Address;
    /** Where workers and api processes reach it: `host:port`. */
    address: string;
    pool: string;
    /** How many runs it may have at once. */
    capacity: number;
    drainSeconds: number;
  };
}

type Name = keyof typeof MACHINES_SETTINGS;

/** What reads variables and gathers what is wrong with them. */
interface Reader {
  text(name: Name): string | null;
  list(name: Name): string[];
  require(isRight: boolean, fault: string): void;
  wholeOr(name: Name, fallback: number, min: number, max: number): number;
}

/** Null where there is one machine. `slots`: how many runs this machine has room for. */
export function machinesOf(v: Reader, roles: ReadonlySet<string>, slots: number): MachinesConfig | null {
  const cert = v.text('HEADRACE_TLS_CERT_FILE');
  if (cert === null) return null;
  const isRunner = roles.has('runner');
  v.require(
    !isRunner || roles.size === 1,
    'HEADRACE_ROLES: with HEADRACE_TLS_CERT_FILE the role runner is a process of its own',
  );
  const listen = addressOf(v, 'HEADRACE_RUNNER_LISTEN');
  const apiListen = addressOf(v, 'HEADRACE_API_LISTEN');
  const crl = v.text('HEADRACE_TLS_CRL_FILE');
  return {
    tls: {
      cert: resolve(cert),
      key: fileOf(v, 'HEADRACE_TLS_KEY_FILE'),
      ca: fileOf(v, 'HEADRACE_TLS_CA_FILE'),
      ...(crl !== null && { crl: resolve(crl) }),
    },
    api: { listen: apiListen, address: advertisedOf(v, 'HEADRACE_API_ADDRESS', apiListen) },
    workerListen: addressOf(v, 'HEADRACE_WORKER_LISTEN'),
    workers: workersOf(v, isRunner),
    runner: {
      listen,
      address: advertisedOf(v, 'HEADRACE_RUNNER_ADDRESS', listen),
      pool: poolOf(v),
      capacity: v.wholeOr('HEADRACE_RUNNER_CAPACITY', slots, 1, 1000),
      drainSeconds: v.wholeOr('HEADRACE_DRAIN_SECONDS', 3600, 0, 604_800),
    },
  };
}

function fileOf(v: Reader, name: 'HEADRACE_TLS_KEY_FILE' | 'HEADRACE_TLS_CA_FILE'): string {
  const path = v.text(name);
  v.require(path !== null, `${name}: is required with HEADRACE_TLS_CERT_FILE`);
  return resolve(path ?? '');
}

type Listen = 'HEADRACE_API_LISTEN' | 'HEADRACE_WORKER_LISTEN' | 'HEADRACE_RUNNER_LISTEN';

function addressOf(v: Reader, name: Listen): Address {
  const fallback = parseAddress(MACHINES_SETTINGS[name].default)!;
  const address = parseAddress(v.text(name) ?? MACHINES_SETTINGS[name].default);
  v.require(address !== null, `${name}: has to be an address and a port, as 0.0.0.0:${fallback.port}`);
  return address ?? fallback;
}

function workersOf(v: Reader, isRunner: boolean): Address[] {
  const listed = v.list('HEADRACE_WORKER_ADDRESS');
  const workers = listed.map(parseAddress).filter((one) => one !== null);
  v.require(
    workers.length === listed.length && workers.length <= 20,
    'HEADRACE_WORKER_ADDRESS: has to be a comma-separated list of up to 20 hosts with ports, as worker.example:4402',
  );
  v.require(
    !isRunner || listed.length > 0,
    'HEADRACE_WORKER_ADDRESS: is required for the role runner: where it finds the workers, as worker.example:4402',
  );
  return workers;
}

function advertisedOf(
  v: Reader,
  name: 'HEADRACE_API_ADDRESS' | 'HEADRACE_RUNNER_ADDRESS',
  { port }: Address,
): string {
  const text = v.text(name);
  const address = text === null ? { host: hostname(), port } : parseAddress(text);
  v.require(
    address !== null,
    `${name}: has to be a host and a port where workers reach this process, as node-1.example:${port}`,
  );
  return address ? addressText(address) : '';
}

function poolOf(v: Reader): string {
  const pool = v.text('HEADRACE_RUNNER_POOL') ?? MACHINES_SETTINGS.HEADRACE_RUNNER_POOL.default;
  v.require(
    new RegExp(POOL_PATTERN).test(pool),
    'HEADRACE_RUNNER_POOL: has to be up to 63 lower-case letters, digits and hyphens',
  );
  return pool;
}
