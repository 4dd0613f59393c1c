/** The service over a failover of its database, with a real primary and standby. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startAddress, startReplicated } from './db/replicated.fixture.ts';
import type { Replicated } from './db/replicated.fixture.ts';
import { startTestServer } from './service.fixture.ts';
import type { TestServer } from './service.fixture.ts';

const P = '/api/platform/v1';
const READY_MS = 10_000;
const AWAY_MS = 4_000;

let dir: string;
let database: Replicated;
let address: Awaited<ReturnType<typeof startAddress>>;
let s: TestServer;
let other: TestServer;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'headrace-failover-'));
  address = await startAddress();
  database = await startReplicated(dir, { address });
  await database.setSynchronous(true);
  s = await startTestServer({ DATABASE_URL: database.url, HEADRACE_DATABASE_CONNECTIONS: '3' });
  const { dataDir } = s.service.ctx.config;
  other = await startTestServer(
    { HEADRACE_ROLES: 'worker', HEADRACE_DATABASE_CONNECTIONS: '2', HEADRACE_DATA_DIR: dataDir },
    s,
  );
}, 180_000);
afterAll(async () => {
  await other?.close();
  await s?.close();
  await database?.stop();
  rmSync(dir, { recursive: true, force: true });
}, 60_000);

/** Creates an app, with one key until it is answered. Returns its id, and what else was answered. */
async function create(): Promise<{ id: string; refusals: number[] }> {
  const idem = randomUUID();
  const refusals: number[] = [];
  for (;;) {
    const answer = await s.call('POST', `${P}/apps`, { name: 'written' }, { idem });
    if (answer.status === 201) return { id: answer.body.app.id as string, refusals };
    refusals.push(answer.status);
    expect([503, 409], answer.text).toContain(answer.status);
    await sleep(50);
  }
}

const headOf = async () => (await s.call('GET', `${P}/events/head`)).body.cursor as string;
const pageAt = (cursor: string) =>
  s.call('GET', `${P}/events?limit=500&cursor=${encodeURIComponent(cursor)}`);
const ready = () =>
  vi.waitFor(async () => expect((await s.call('GET', '/health/ready')).status).toBe(200), {
    timeout: READY_MS,
    interval: 20,
  });
const workers = async () =>
  (await s.service.ctx.db.selectFrom('workers').select('id').orderBy('id').execute()).map(({ id }) => id);
const published = () =>
  vi.waitFor(async () =>
    expect(await s.service.ctx.db.selectFrom('outbox').select('id').execute()).toEqual([]),
  );

test('a synchronous standby is promoted: nothing that was answered is lost, and no worker is taken for dead', async () => {
  const { db } = s.service.ctx;
  const alive = await workers();
  expect(alive).toHaveLength(2);
  await database.workersRemoved();
  const before = await headOf();
  expect((await pageAt(await headOf())).status).toBe(200);
  const made: { id: string; refusals: number[] }[] = [];
  const over = new AbortController();
  const writing = Promise.all(
    Array.from({ length: 4 }, async () => {
      while (!over.signal.aborted) made.push(await create());
    }),
  );
  await vi.waitFor(() => expect(made.length).toBeGreaterThan(20), { timeout: 30_000 });
  // Heartbeats are older than two seconds then, and no lock is held.
  await database.failOver(AWAY_MS);
  const from = performance.now();
  await ready();
  expect(performance.now() - from).toBeLessThan(READY_MS);
  const soFar = made.length;
  await vi.waitFor(() => expect(made.length).toBeGreaterThan(soFar + 20), { timeout: 30_000 });
  over.abort();
  await writing;
  const stored = await db.selectFrom('projects').select('id').execute();
  expect(made.filter(({ id }) => !stored.some((row) => row.id === id))).toEqual([]);
  // Each was made once, though many were sent again.
  expect(stored).toHaveLength(made.length);
  // Long enough for a checker that trusts locks and heartbeats to remove the others.
  await sleep(3_000);
  expect(await workers()).toEqual(alive);
  expect(await database.workersRemoved()).toEqual([]);
  // Nobody can tell that the log has lost nothing.
  await vi.waitFor(async () => expect((await pageAt(before)).status).toBe(410), { timeout: READY_MS });
}, 120_000);

test('an asynchronous standby is promoted without the end of the log: older cursors expire, and no reader skips', async () => {
  await database.rebuild();
  await database.setSynchronous(false);
  const { db } = s.service.ctx;
  await published();
  await create();
  await published();
  const kept = await headOf();
  const stream = await fetch(`${s.base}${P}/events/stream`, { headers: { 'x-api-key': s.key } });
  const text = stream.text();
  await database.cutReplication();
  const lost = [await create(), await create(), await create()];
  await published();
  const ahead = await headOf();
  await database.failOver();
  await ready();
  const stored = await db.selectFrom('projects').select('id').execute();
  expect(stored.filter(({ id }) => lost.some((one) => one.id === id))).toEqual([]);
  // As many again: the sequences that the lost events had are given a second time.
  const again = [await create(), await create(), await create(), await create()];
  await vi.waitFor(async () => expect((await pageAt(kept)).status).toBe(410), { timeout: READY_MS });
  expect((await pageAt(ahead)).body.error.code).toBe('cursor_expired');
  for (const cursor of [kept, ahead]) {
    const resumed = await s.call('GET', `${P}/events/stream`, undefined, {
      headers: { 'last-event-id': cursor },
    });
    expect(resumed.status).toBe(410);
  }
  // The stream that was open has shown none of them as if they followed what it had shown.
  const shown = await text;
  expect(shown).toContain('event: error');
  expect(shown).toContain('cursor_expired');
  for (const { id } of again) expect(shown).not.toContain(id);
  const head = await headOf();
  const { id } = await create();
  await published();
  // Readers inside the service stand where the new primary has them, and take what follows.
  await vi.waitFor(
    async () => {
      const { rows } = await sql`
        select from log_consumers c, log_state s where c.sequence <> s.last_sequence`.execute(db);
      expect(rows).toEqual([]);
    },
    { timeout: READY_MS },
  );
  const page = await pageAt(head);
  expect(page.status).toBe(200);
  expect(page.body.events.map((event: { data: { id: string } }) => event.data.id)).toContain(id);
}, 120_000);

test('a database host without power: requests are refused in bounded time, and it goes on when there is one again', async () => {
  await create();
  address.goSilent();
  const from = performance.now();
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => s.call('POST', `${P}/apps`, { name: 'written' })),
  );
  const tookMs = performance.now() - from;
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 503));
  expect(tookMs).toBeLessThan(45_000);
  await address.leadTo(database.primary());
  await ready();
  await create();
}, 120_000);
