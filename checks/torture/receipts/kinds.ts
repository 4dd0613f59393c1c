/** Kinds of writes, and how their effects are counted in PostgreSQL's tables. */
import type pg from 'pg';
import { PLATFORM } from '../../harness/http.ts';
import type { Random } from '../../harness/random.ts';
import type { Write } from '../lib/delivery.ts';
import type { LoggedEvent } from '../lib/log-table.ts';

/** What the writes are done to; shared, so that different keys meet on one row. */
export interface Ground {
  apps: string[];
  home: string;
  sourceId: string;
  threads: string[];
}

export interface Kind {
  name: string;
  status: number;
  write(ground: Ground, random: Random, key: string): Omit<Write, 'key'>;
  /**
   * Effects of each key, from the tables. The ground's rows are checked by a count of all their keys: see
   * `judgeGround`.
   */
  rows: string | null;
  /**
   * The event of the write's transaction, once for each key; null where it cannot be distinguished from
   * others.
   */
  event: ((event: LoggedEvent) => string | null) | null;
}

const ofType = (type: string, what: (event: LoggedEvent) => string) => (event: LoggedEvent) =>
  event.type === type ? what(event) : null;

/**
 * One transaction, and the staged class (an import's bytes are kept before its transaction); a refusal is
 * an answer like any other.
 */
export const KINDS: readonly Kind[] = [
  {
    name: 'create an app',
    status: 201,
    write: (_, __, key) => ({ method: 'POST', path: `${PLATFORM}/apps`, body: { name: key } }),
    rows: "select name as key, id from projects where kind = 'platform'",
    event: ofType('platform.app.created', ({ data }) => String(data.id)),
  },
  {
    name: 'create a project',
    status: 201,
    write: (_, __, key) => ({ method: 'POST', path: '/api/projects', body: { name: key } }),
    rows: "select name as key, id from projects where kind = 'direct'",
    event: null,
  },
  {
    name: 'change an app',
    status: 200,
    write: ({ apps }, random, key) => ({
      method: 'PATCH',
      path: random.pick(apps),
      body: { externalId: key },
    }),
    rows: null,
    event: ofType('platform.app.updated', ({ data }) => String(data.externalId)),
  },
  {
    name: 'change a thread',
    status: 200,
    write: ({ threads }, random, key) => ({
      method: 'PATCH',
      path: random.pick(threads),
      body: { title: key },
    }),
    rows: null,
    event: null,
  },
  {
    name: 'create a thread',
    status: 201,
    write: ({ home, sourceId }, _, key) => ({
      method: 'POST',
      path: `${home}/threads`,
      body: { title: key, sourceId },
    }),
    rows: 'select title as key, id from threads',
    event: null,
  },
  {
    name: 'import a source',
    status: 201,
    write: ({ home }, _, key) => ({
      method: 'POST',
      path: `${home}/sources`,
      body: { message: key, files: [{ path: 'key.txt', content: key }] },
    }),
    rows: 'select message as key, id from sources',
    event: ofType('platform.source.imported', ({ data }) => String(data.id)),
  },
  {
    name: 'be refused',
    status: 409,
    write: ({ apps }, random, key) => ({
      method: 'PATCH',
      path: random.pick(apps),
      body: { name: key, expectedVersion: 999_999_999 },
    }),
    rows: null,
    event: null,
  },
];

/** Rows by key: their ids. */
export async function effectsOf(table: pg.Client, kind: Kind): Promise<Map<string, string[]>> {
  const effects = new Map<string, string[]>();
  const { rows } = await table.query<{ key: string | null; id: string }>(kind.rows!);
  for (const { key, id } of rows) if (key !== null) effects.set(key, [...(effects.get(key) ?? []), id]);
  return effects;
}

/** The same write with another payload. */
export function changed({ body, ...write }: Write): Write {
  const [[name, value]] = Object.entries(body) as [[string, string]];
  return { ...write, body: { ...body, [name]: `${value} changed` } };
}
