/**
 * The two ways to the database: through a connection pooler, if there is one, and past it. A pooler in transaction mode
 * gives a client another connection of the server for each transaction. There a session lock is any client's, and
 * LISTEN hears nothing; neither fails. So the direct way is tried before it is relied on.
 */
import { randomInt, randomUUID } from 'node:crypto';
import type pg from 'pg';
import { unreachable } from './faults.ts';
import { UnnamedClient } from './prepared.ts';
import { KEEP_ALIVE, TimedClient } from './timed-client.ts';

export interface Connections {
  /** For statements and transactions. */
  pooled: pg.PoolConfig;
  /** For LISTEN, session locks, settings of a session, and migrations. */
  direct: pg.PoolConfig;
  /** What an operator should know. */
  warnings: string[];
}

interface Urls {
  databaseUrl: string;
  /** Null: `databaseUrl`. */
  databaseDirectUrl: string | null;
}

const ANSWER_MS = 10_000;
const HEARD_MS = 2_000;

/** How an external database is reached. Throws an error for the operator where the direct way leads through a pooler. */
export async function connectionsOf({ databaseUrl, databaseDirectUrl }: Urls): Promise<Connections> {
  const direct = { ...KEEP_ALIVE, connectionString: databaseDirectUrl ?? databaseUrl };
  const fault = await poolerFault(direct).catch((cause: unknown) => {
    const variable = databaseDirectUrl === null ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL';
    throw unreachable(direct.connectionString, cause, variable);
  });
  if (fault !== null)
    throw new Error(
      databaseDirectUrl === null
        ? `DATABASE_URL: ${fault}. Set DATABASE_DIRECT_URL to the address of the database itself.`
        : `DATABASE_DIRECT_URL: ${fault}. Set it to the address of the database itself.`,
    );
  if (databaseDirectUrl === null) return { pooled: direct, direct, warnings: [] };
  const pooled = { ...KEEP_ALIVE, connectionString: databaseUrl };
  const isNaming = await keepsNames(pooled).catch((cause: unknown) => {
    throw unreachable(databaseUrl, cause);
  });
  if (isNaming) return { pooled, direct, warnings: [] };
  return {
    pooled: { ...pooled, Client: UnnamedClient },
    direct,
    warnings: [
      'DATABASE_URL: the connection pooler does not keep the prepared statements of its clients apart, so none are used and each statement is planned again. PgBouncer does from 1.21 on, with max_prepared_statements above 0.',
    ],
  };
}

async function withClients<T>(
  config: pg.PoolConfig,
  work: (one: pg.Client, two: pg.Client) => Promise<T>,
): Promise<T> {
  const clients = [1, 2].map(() => {
    const client = new TimedClient({
      ...config,
      connectionTimeoutMillis: ANSWER_MS,
      query_timeout: ANSWER_MS,
    });
    return client.on('error', () => {});
  });
  try {
    for (const client of clients) await client.connect();
    return await work(clients[0]!, clients[1]!);
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => {})));
  }
}

/** What shows that a pooler lends its connections for single transactions; null: nothing does. */
function poolerFault(config: pg.PoolConfig): Promise<string | null> {
  return withClients(config, async (one, two) => {
    const key = randomInt(2 ** 40);
    const take = async (client: pg.Client) =>
      (await client.query<{ held: boolean }>('select pg_try_advisory_lock($1) as held', [key])).rows[0]!.held;
    const locks = [await take(one), await take(two)];
    if (locks.every(Boolean)) {
      // Of whichever connections have it.
      for (const client of [one, two]) await client.query('select pg_advisory_unlock($1)', [key]);
      return 'two connections got the same session lock, so it leads through a connection pooler in transaction mode';
    }
    if (await hears(one, two)) return null;
    return 'LISTEN hears nothing, so it leads through a connection pooler in transaction mode';
  });
}

async function hears(listener: pg.Client, speaker: pg.Client): Promise<boolean> {
  const channel = `headrace_probe_${randomUUID().replaceAll('-', '')}`;
  const { promise: heard, resolve } = Promise.withResolvers<boolean>();
  listener.on('notification', (message) => {
    if (message.channel === channel) resolve(true);
  });
  await listener.query(`listen ${channel}`);
  await speaker.query(`notify ${channel}`);
  const timer = setTimeout(resolve, HEARD_MS, false);
  const isHeard = await heard;
  clearTimeout(timer);
  return isHeard;
}

/** Whether a name of a prepared statement is its client's alone. */
function keepsNames(config: pg.PoolConfig): Promise<boolean> {
  const name = `headrace_probe_${randomUUID().replaceAll('-', '')}`;
  const ask = async (client: pg.Client, number: number) => {
    const { rows } = await client.query<{ number: number }>({ name, text: `select ${number} as number` });
    return rows[0]!.number === number;
  };
  return withClients(config, async (one, two) => {
    try {
      // The second client may get another connection than the first for some of them.
      for (let round = 0; round < 3; round++) if (!(await ask(one, 1)) || !(await ask(two, 2))) return false;
      return true;
    } catch (error) {
      if (/prepared statement/.test((error as Error).message)) return false;
      throw error;
    }
  });
}
