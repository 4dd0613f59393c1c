/**
 * Work that one process of all does at a time.
 *
 *   waiting --session lock taken--> working --connection or lock lost--> waiting
 *
 * The lock has a connection of its own, which the work may use: what it writes there is written under the lock.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, PoolConfig } from 'pg';
import type { Logger } from 'pino';
import { KEEP_ALIVE, TimedClient } from './timed-client.ts';

const RIVAL_POLL_MS = 400;
/** A holder whose machine dies loses the lock after about 3 s, not after the kernel's two hours. */
const SETTINGS = `set tcp_keepalives_idle = 1; set tcp_keepalives_interval = 1; set tcp_keepalives_count = 2`;

interface Held {
  connection: PoolConfig;
  lock: number;
  /** The name in the log and in the database's list of connections. */
  name: string;
  log: Pick<Logger, 'warn'>;
  /** While it is false, this process does not ask for the lock. It keeps one that it holds. */
  when?: (() => boolean) | undefined;
}

/** Runs `work` whenever this process holds the lock. Its signal is aborted when the lock is lost. */
export function holdLock(
  { connection, lock, name, log, when = () => true }: Held,
  work: (client: Client, signal: AbortSignal) => Promise<void>,
): { stop(): Promise<void> } {
  const stopped = new AbortController();
  const rest = () => sleep(RIVAL_POLL_MS, undefined, { signal: stopped.signal }).catch(() => {});

  async function attend(): Promise<void> {
    const client = new TimedClient({
      ...KEEP_ALIVE,
      ...connection,
      connectionTimeoutMillis: 5_000,
      statement_timeout: 10_000,
      query_timeout: 15_000,
      application_name: `headrace-${name} ${process.pid}`,
    });
    const lost = new AbortController();
    client.on('error', () => {}).on('end', () => lost.abort());
    try {
      await client.connect();
      await client.query(SETTINGS);
      while (!stopped.signal.aborted && !(when() && (await takeLock(client, lock)))) await rest();
      if (!stopped.signal.aborted) await work(client, AbortSignal.any([stopped.signal, lost.signal]));
    } finally {
      await client.end().catch(() => {});
    }
  }

  async function run(): Promise<void> {
    while (!stopped.signal.aborted) {
      await attend().catch(async (err: unknown) => {
        log.warn({ err, work: name }, 'the holder of a lock lost its connection and tries again');
        await rest();
      });
    }
  }

  const running = run();
  return {
    async stop() {
      stopped.abort();
      await running;
    },
  };
}

async function takeLock(client: Client, lock: number): Promise<boolean> {
  const { rows } = await client.query<{ held: boolean }>('select pg_try_advisory_lock($1) as held', [lock]);
  return rows[0]!.held;
}
