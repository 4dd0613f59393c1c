import type { Address, TlsFiles } from '../tls/index.ts';

/** A runner on a node: how it listens, and where it registers. */
export interface MachineOptions {
  /** The host's name, for people. */
  name: string;
  listen: Address;
  /** Where workers and api processes reach it: `host:port`. */
  address: string;
  workers: Address[];
  tls: TlsFiles;
  pool: string;
  capacity: number;
  drainSeconds: number;
  /** Where Prometheus reads its metrics; null: nowhere. */
  metricsListen?: { host: string; port: number } | null;
  /** `required`: nothing runs without control groups for memory and processes. */
  limits: 'required' | 'best-effort';
}
