/**
 * Transactions that overlap: one takes its place in the log and commits after others that came later. The
 * same test runs against the service's feed and against a log as it is often built, rows read by their serial
 * column: it must pass for the first and fail for the second, or it would prove nothing.
 */
import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { sql } from 'kysely';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../ids.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { readFrames, until } from './events.fixture.ts';

/** A log under test. */
interface OrderedLog {
  /** Writes an entry in the client's open transaction, as a writer does before its commit. */
  write(client: Client, name: string): Promise<unknown>;
  /** A reader at the log's start. Each call returns the names that came since the last one. */
  reader(): () => Promise<string[]>;
}

const WRITERS = 6;
const STEPS = 300;

let s: TestServer;
let clients: Client[];
let appId: string;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  clients = await Promise.all(
    Array.from({ length: WRITERS }, async () => {
      const client = new Client({ connectionString: s.service.ctx.config.databaseUrl! });
      await client.connect();
      return client;
    }),
  );
  await clients[0]!.query(
    'create table serial_log (id bigint generated always as identity primary key, name text not null)',
  );
});
afterAll(async () => {
  await Promise.all((clients ?? []).map((client) => client.end()));
  await s?.close();
});
beforeEach(async () => {
  appId = (await s.call('POST', '/api/platform/v1/apps', { name: 'App' })).body.app.id;
});

const feed = () => `/api/platform/v1/apps/${appId}/events`;
const time = '2026-01-01T00:00:00.000Z';
const nameOf = (event: { data: { externalId: string | null } }) => event.data.externalId;

/** The feed over HTTP: an event's name is its `externalId`. */
const published: OrderedLog = {
  write: async (client, name) =>
    client.query(
      `insert into outbox (event_id, org_id, feed, type, project_id, data) select $1, org_id, 'platform', 'platform.app.updated', id, $2 from projects where id = $3`,
      [newId('evt'), { id: appId, externalId: name, createdAt: time, updatedAt: time }, appId],
    ),
  reader() {
    let cursor: string | undefined;
    return async () => {
      const { status, body, text } = await s.call(
        'GET',
        `${feed()}?types=platform.app.updated${cursor ? `&cursor=${cursor}` : ''}`,
      );
      expect(status, text).toBe(200);
      cursor = body.nextCursor;
      return body.events.map(nameOf);
    };
  },
};

/** The same with rows that are read by their serial column. */
const serial: OrderedLog = {
  write: (client, name) => client.query('insert into serial_log (name) values ($1)', [name]),
  reader() {
    let last = 0;
    return async () => {
      const { rows } = await sql<{
        id: number;
        name: string;
      }>`select id, name from serial_log where id > ${last} order by id`.execute(s.service.ctx.db);
      last = rows.at(-1)?.id ?? last;
      return rows.map((row) => row.name);
    };
  },
};

async function commit(log: OrderedLog, client: Client, ...names: string[]): Promise<void> {
  await client.query('begin');
  for (const name of names) await log.write(client, name);
  await client.query('commit');
}

/** Reads until `name` has come; returns all that came. */
async function readTo(name: string, read: () => Promise<string[]>): Promise<string[]> {
  const names: string[] = [];
  await until(async () => {
    names.push(...(await read()));
    return names.includes(name);
  });
  return names;
}

/**
 * A transaction stays open while others commit, and while a reader goes past them. Throws where that reader
 * misses it or sees another order.
 */
async function heldOpen(log: OrderedLog): Promise<void> {
  const [late, other] = clients as [Client, Client];
  const follower = log.reader();
  await commit(log, other, 'first');
  const seen = await readTo('first', follower);
  await late.query('begin');
  await log.write(late, 'late');
  for (const name of ['second', 'third']) await commit(log, other, name);
  seen.push(...(await readTo('third', follower)));
  await late.query('commit');
  await commit(log, other, 'last');
  seen.push(...(await readTo('last', follower)));
  expect(seen.toSorted(), 'a reader that polls has everything once').toEqual([
    'first',
    'last',
    'late',
    'second',
    'third',
  ]);
  expect(await readTo('last', log.reader()), 'a reader that comes later sees the same order').toEqual(seen);
}

/** A seeded generator: the same steps at every run. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

/**
 * Writers begin, write, commit and roll back in random turns, with a reader that polls between all of them.
 * Throws as `heldOpen`.
 */
async function overlapping(log: OrderedLog, seed: number): Promise<void> {
  const roll = dice(seed);
  const open = new Map<Client, string[]>();
  const committed: string[] = [];
  const seen: string[] = [];
  const follower = log.reader();
  for (let step = 0; step < STEPS; step++) {
    const client = clients[roll(WRITERS)]!;
    const names = open.get(client);
    const turn = roll(5);
    if (!names) {
      await client.query('begin');
      open.set(client, []);
    } else if (turn < 3) {
      names.push(`${step}`);
      await log.write(client, `${step}`);
    } else {
      await client.query(turn === 3 ? 'commit' : 'rollback');
      if (turn === 3) committed.push(...names);
      open.delete(client);
    }
    if (step % 5 === 0) seen.push(...(await follower()));
  }
  for (const [client, names] of open) {
    await client.query('commit');
    committed.push(...names);
  }
  await commit(log, clients[0]!, 'end');
  seen.push(...(await readTo('end', follower)));
  expect(seen.toSorted(), 'a reader that polls has everything once').toEqual(
    [...committed, 'end'].toSorted(),
  );
  expect(await readTo('end', log.reader()), 'a reader that comes later sees the same order').toEqual(seen);
}

describe('the feed of an app', () => {
  test('a transaction that stays open across later commits is missed by nobody, and all see one order', () =>
    heldOpen(published));
  test.each([1, 2, 3])('so with transactions that overlap at random (%i)', (seed) =>
    overlapping(published, seed),
  );

  test('a stream that is open meanwhile has the same order', async () => {
    const request = get(`${s.base}${feed()}/stream?types=platform.app.updated`, {
      agent: false,
      headers: { 'x-api-key': s.key },
    });
    const response = await new Promise<IncomingMessage>((resolve, reject) =>
      request.on('response', resolve).on('error', reject),
    );
    const stream = readFrames(response, () => request.destroy());
    await until(() => stream.frames.length === 1);
    await overlapping(published, 4);
    const all = await readTo('end', published.reader());
    const events = () => stream.frames.filter((frame) => frame.event === 'platform.app.updated');
    await until(() => events().length >= all.length);
    expect(events().map((frame) => nameOf(frame.data))).toEqual(all);
    stream.close();
  });
});

describe('a log that is read by its serial column fails the same tests', () => {
  beforeEach(async () => {
    await clients[0]!.query('truncate serial_log restart identity');
  });
  test('it misses the transaction that stayed open', async () => {
    await expect(heldOpen(serial)).rejects.toThrow('a reader that polls has everything once');
  });
  test('and those that overlap at random', async () => {
    await expect(overlapping(serial, 1)).rejects.toThrow('a reader that polls has everything once');
  });
});
