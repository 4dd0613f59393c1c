/**
 * Wake-ups between processes: LISTEN/NOTIFY, outside of transactions. A message is a hint, never
 * the truth: every listener also looks by itself from time to time.
 *
 * NOTIFY inside writers' transactions serializes their commits (measured: 13.7-15.9 thousand commits/s fall
 * to 5.2), so wake-ups go out after the commit, on a connection of their own, one statement in 5 ms at
 * most: the first at once, what comes meanwhile together. Listeners of this process hear at once, without
 * the database.
 *
 * NOTIFYs of all processes wait for each other in PostgreSQL, and each wakes all of them. So beyond 16 processes the 5 ms grow
 * with their number: all together send 3,200 statements a second at most. Hints of one channel are one notification.
 */
import type pg from 'pg';
import type { Logger } from 'pino';
import { ServerView } from './db/server-view.ts';
import type { SeenServer } from './db/server-view.ts';
import { MeasuredClock } from './db/measured-clock.ts';
import { KEEP_ALIVE, TimedClient } from './db/timed-client.ts';

export type Channel =
  | 'outbox'
  | 'events'
  | 'jobs'
  | 'accounts'
  | 'control'
  | 'operations'
  | 'resources'
  | 'limits'
  | 'webhooks'
  | 'schedules'
  | 'hosts';
type Listener = (payload: string) => void;

const LOOK =
  'select server_identity() as identity, (extract(epoch from clock_timestamp()) * 1000)::float8 as time';
const COALESCE_MS = 5;
const PROCESSES_OF_COALESCE_MS = 16;
/** PostgreSQL takes less than 8,000 bytes. */
const NOTIFICATION_BYTES = 4_000;
const RECONNECT_MS = 500;
/** A server that does not answer a question within `ANSWER_MS` counts as away, as one whose connection broke. */
const ASK_MS = 1_000;
const ANSWER_MS = 3_000;

export interface Bus {
  /**
   * Tells every process, this one at once. `payload` names what changed (an id), at most a few hundred
   * bytes.
   */
  notify(channel: Channel, payload?: string): void;
  /** Returns the function that ends listening. */
  listen(channel: Channel, listener: Listener): () => void;
  /** How many processes share the database, this one included: the more, the longer hints are collected. */
  setProcesses(count: number): void;
  /** Called after a lost connection came back: hints may have been missed. */
  onReconnect(listener: () => void): void;
  /** False from the moment that the connection was lost: the first sign that the database is away. */
  isConnected(): boolean;
  /** The database server that this connection leads to, and for how long without a break; null: none. */
  seenServer(): SeenServer | null;
  /** The database's time in ms, as this process has measured it. */
  databaseTime(): number;
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
  const pending = new Map<string, Hint>();
  const view = new ServerView();
  const clock = new MeasuredClock();
  let client: pg.Client | null = null;
  let timer: NodeJS.Timeout | null = null;
  let reconnectTimer: NodeJS.Timeout | null = null;
  let isClosed = false;
  let isSending = false;
  let sentAt = -Infinity;
  let coalesceMs = COALESCE_MS;
  const CHANNELS: Channel[] = [
    'outbox',
    'events',
    'jobs',
    'accounts',
    'control',
    'operations',
    'resources',
    'limits',
    'webhooks',
    'schedules',
    'hosts',
  ];

  const deliver = (channel: Channel, payload: string) => {
    for (const listener of listeners.get(channel) ?? []) listener(payload);
  };

  async function connect(): Promise<void> {
    const next = new TimedClient({
      ...KEEP_ALIVE,
      ...connection,
      connectionTimeoutMillis: ANSWER_MS,
      query_timeout: ANSWER_MS,
      application_name: `headrace-bus ${process.pid}`,
    });
    next.on('error', () => {});
    next.on('end', () => {
      if (client === next) {
        client = null;
        view.lost();
      }
      scheduleReconnect();
    });
    next.on('notification', ({ channel, payload }) => {
      const text = payload ?? '';
      const end = text.indexOf(' ');
      if (text.slice(0, end) === processId) return;
      for (const hint of text.slice(end + 1).split('\n'))
        deliver(channel.replace(/^headrace_/, '') as Channel, hint);
    });
    try {
      await next.connect();
      // NOTIFY commits like a write; a hint that a crash takes is no loss, and waiting for the disk would
      // delay each by a sync.
      await next.query('set synchronous_commit = off');
      await next.query(CHANNELS.map((c) => `listen headrace_${c}`).join(';'));
      await look(next);
    } catch (error) {
      void next.end().catch(() => {});
      throw error;
    }
    client = next;
  }

  /** A host without power sends no end of the connection: only a question without an answer shows it. */
  async function ask(): Promise<void> {
    const asked = client;
    if (!asked) return;
    await look(asked);
  }

  async function look(at: pg.Client): Promise<void> {
    const askedAt = performance.now();
    const { rows } = await at.query<{ identity: string; time: number }>(LOOK);
    const { identity, time } = rows[0]!;
    view.saw(identity);
    clock.measured({ server: identity, time, askedAt });
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
      timer = setTimeout(flush, coalesceMs);
      return;
    }
    timer = null;
    const messages = notificationsOf(pending.values());
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
  const asking = setInterval(() => void ask().catch(() => view.lost()), ASK_MS).unref();
  return {
    notify(channel, payload = '') {
      deliver(channel, payload);
      pending.set(`${channel} ${payload}`, { channel, payload });
      timer ??= setTimeout(flush, Math.max(0, sentAt + coalesceMs - performance.now()));
    },
    listen(channel, listener) {
      const set = listeners.get(channel) ?? new Set();
      listeners.set(channel, set.add(listener));
      return () => set.delete(listener);
    },
    setProcesses(count) {
      coalesceMs = COALESCE_MS * Math.max(1, count / PROCESSES_OF_COALESCE_MS);
    },
    onReconnect(listener) {
      reconnectListeners.push(listener);
    },
    isConnected: () => client !== null,
    seenServer: () => view.current(),
    databaseTime: () => clock.now(),
    async close() {
      isClosed = true;
      clearInterval(asking);
      if (timer) clearTimeout(timer);
      if (pending.size) flush();
      await client?.end().catch(() => {});
    },
  };
}

interface Hint {
  channel: Channel;
  payload: string;
}

/** Hints of one channel together, a line each, as far as a notification holds them. */
function notificationsOf(hints: Iterable<Hint>): Hint[] {
  const notifications: Hint[] = [];
  const last = new Map<Channel, Hint>();
  for (const { channel, payload } of hints) {
    const open = last.get(channel);
    if (open && Buffer.byteLength(open.payload) + Buffer.byteLength(payload) < NOTIFICATION_BYTES) {
      open.payload += `\n${payload}`;
      continue;
    }
    const next = { channel, payload };
    notifications.push(next);
    last.set(channel, next);
  }
  return notifications;
}
