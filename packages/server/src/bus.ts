/**
 * Wake-ups between processes: LISTEN/NOTIFY, outside of transactions. A message is a hint, never
 * the truth: every listener also looks by itself from time to time.
 *
 * NOTIFY inside writers' transactions serializes their commits (measured: 13.7-15.9 thousand commits/s fall
 * to 5.2), so wake-ups go out after the commit, on a connection of their own, one statement in 5 ms at
 * most: the first at once, what comes meanwhile together. Listeners of this process hear at once, without
 * the database.
 */
import pg from 'pg';
import type { Logger } from 'pino';

export type Channel =
  | 'outbox'
  | 'events'
  | 'jobs'
  | 'drafts'
  | 'accounts'
  | 'control'
  | 'operations'
  | 'resources'
  | 'limits'
  | 'webhooks'
  | 'schedules';
type Listener = (payload: string) => void;

const COALESCE_MS = 5;
const RECONNECT_MS = 500;

export interface Bus {
  /**
   * Tells every process, this one at once. `payload` names what changed (an id), at most a few hundred
   * bytes.
   */
  notify(channel: Channel, payload?: string): void;
  /** Returns the function that ends listening. */
  listen(channel: Channel, listener: Listener): () => void;
  /** Called after a lost connection came back: hints may have been missed. */
  onReconnect(listener: () => void): void;
  /** False from the moment that the connection was lost: the first sign that the database is away. */
  isConnected(): boolean;
  close(): Promise<void>;
}

/** Opens the bus on one direct connection (not through transaction-mode pooling). */
export async function openBus(
  connection: pg.PoolConfig,
  processId: string,
  log: Pick<Logger, 'debug'>,
): Promise<Bus> {
  const listeners = new Map<Channel, Set<Listener>>();
  const reconnectListeners: (() => void)[] = [];
  const pending = new Map<string, { channel: Channel; payload: string }>();
  let client: pg.Client | null = null;
  let timer: NodeJS.Timeout | null = null;
  let reconnectTimer: NodeJS.Timeout | null = null;
  let isClosed = false;
  let isSending = false;
  let sentAt = -Infinity;
  const CHANNELS: Channel[] = [
    'outbox',
    'events',
    'jobs',
    'drafts',
    'accounts',
    'control',
    'operations',
    'resources',
    'limits',
    'webhooks',
    'schedules',
  ];

  const deliver = (channel: Channel, payload: string) => {
    for (const listener of listeners.get(channel) ?? []) listener(payload);
  };

  async function connect(): Promise<void> {
    const next = new pg.Client({ ...connection, keepAlive: true });
    next.on('error', () => {});
    next.on('end', () => {
      if (client === next) client = null;
      scheduleReconnect();
    });
    next.on('notification', ({ channel, payload }) => {
      const [from, ...rest] = (payload ?? '').split(' ');
      if (from !== processId) deliver(channel.replace(/^headrace_/, '') as Channel, rest.join(' '));
    });
    try {
      await next.connect();
      // NOTIFY commits like a write; a hint that a crash takes is no loss, and waiting for the disk would
      // delay each by a sync.
      await next.query('set synchronous_commit = off');
      await next.query(CHANNELS.map((c) => `listen headrace_${c}`).join(';'));
    } catch (error) {
      void next.end().catch(() => {});
      throw error;
    }
    client = next;
  }

  /**
   * One timer for all: a connection that fails says so twice, as an error and as an end, and attempts would
   * double with each.
   */
  function scheduleReconnect(): void {
    if (isClosed || reconnectTimer) return;
    reconnectTimer = setTimeout(() => {
      void reconnect();
    }, RECONNECT_MS).unref();
  }

  async function reconnect(): Promise<void> {
    try {
      if (!isClosed && !client) await connect();
    } catch (error) {
      log.debug({ err: error }, 'the notification connection is not back yet');
    } finally {
      reconnectTimer = null;
    }
    if (!client) return scheduleReconnect();
    for (const listener of reconnectListeners) listener();
  }

  /** One query at a time; what comes meanwhile waits, coalesced. */
  function flush(): void {
    if (isSending && !isClosed) {
      timer = setTimeout(flush, COALESCE_MS);
      return;
    }
    timer = null;
    const messages = [...pending.values()];
    pending.clear();
    // Without a connection the hint is dropped: the others look by themselves.
    if (!client || messages.length === 0) return;
    isSending = true;
    sentAt = performance.now();
    client
      .query({
        name: 'notify',
        text: 'select pg_notify(c, p) from unnest($1::text[], $2::text[]) as m(c, p)',
        values: [
          messages.map((m) => `headrace_${m.channel}`),
          messages.map((m) => `${processId} ${m.payload}`),
        ],
      })
      .catch(() => {})
      .finally(() => {
        isSending = false;
      });
  }

  await connect();
  return {
    notify(channel, payload = '') {
      deliver(channel, payload);
      pending.set(`${channel} ${payload}`, { channel, payload });
      timer ??= setTimeout(flush, Math.max(0, sentAt + COALESCE_MS - performance.now()));
    },
    listen(channel, listener) {
      const set = listeners.get(channel) ?? new Set();
      listeners.set(channel, set.add(listener));
      return () => set.delete(listener);
    },
    onReconnect(listener) {
      reconnectListeners.push(listener);
    },
    isConnected: () => client !== null,
    async close() {
      isClosed = true;
      if (timer) clearTimeout(timer);
      if (pending.size) flush();
      await client?.end().catch(() => {});
    },
  };
}
