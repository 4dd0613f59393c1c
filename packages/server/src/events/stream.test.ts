import { sql } from 'kysely';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../ids.ts';
import { openPosition, bindingOf } from './cursor.ts';
import { openTestLog, ORG, until } from './events.fixture.ts';
import type { Reader, TestLog } from './events.fixture.ts';
import { readEvents } from './store.ts';

let log: TestLog;
beforeAll(async () => {
  log = await openTestLog();
  log.publish();
});
afterAll(() => log.close());

const ofLog = (reader: Reader) => reader.frames.filter((f) => f.data?.sequence !== undefined);
const sequences = (reader: Reader) => ofLog(reader).map((f) => Number(f.data.sequence));
async function stored(filter: ReturnType<TestLog['filter']>): Promise<number[]> {
  const query = { filter, after: null, limit: 100_000, retentionSeconds: 604_800 };
  return (await readEvents(log.ctx.db, query)).rows.map((row) => row.sequence);
}

describe('replay and live', () => {
  test('streams opened under load have every event once, in one order', async () => {
    const filter = log.filter(newId('prj'));
    const writing = Promise.all(
      Array.from({ length: 8 }, async () => {
        for (let i = 0; i < 100; i++)
          await log.write(['run.queued', 'run.running'], { projectId: filter.projectId! });
      }),
    );
    const start = { sequence: 0, time: Date.now() };
    const readers: Reader[] = [];
    for (let i = 0; i < 6; i++) {
      await until(async () => (await stored(filter)).length >= i * 200);
      readers.push(await log.read(filter, { position: start }));
    }
    await writing;
    await until(() => readers.every((r) => ofLog(r).length >= 1600));
    const all = await stored(filter);
    expect(all.length).toBe(1600);
    for (const reader of readers) {
      expect(sequences(reader)).toEqual(all);
      reader.close();
    }
  });

  test('a reader that stops reading a replay gets all of it when it goes on', async () => {
    const filter = log.filter(newId('prj'));
    const data = { id: 'x'.repeat(2_000) };
    for (let i = 0; i < 15; i++)
      await log.write(
        Array.from({ length: 100 }, () => 'tool.updated'),
        { projectId: filter.projectId!, data },
      );
    await until(async () => (await stored(filter)).length === 1500);
    const reader = await log.read(filter, { position: { sequence: 0, time: Date.now() }, isPaused: true });
    for (let i = 0; i < 5; i++)
      await log.write(
        Array.from({ length: 100 }, () => 'tool.updated'),
        { projectId: filter.projectId!, data },
      );
    await until(async () => (await stored(filter)).length === 2000);
    expect(ofLog(reader).length).toBeLessThan(1500);
    reader.response.resume();
    await until(() => ofLog(reader).length >= 2000);
    expect(sequences(reader)).toEqual(await stored(filter));
    reader.close();
  });

  test('a live reader for whom over 1 MiB waits is cut, and resumes behind its last frame without gap or double', async () => {
    const filter = log.filter(newId('prj'));
    await until(() => log.ctx.events.streamCount() === 0);
    const reader = await log.read(filter, { isPaused: true });
    const data = { id: 'x'.repeat(20_000) };
    let written = 0;
    // What the kernel buffers on both ends does not wait with us: some more has to come.
    await until(async () => {
      await log.write(
        Array.from({ length: 20 }, () => 'tool.updated'),
        { projectId: filter.projectId!, data },
      );
      written += 20;
      await until(async () => (await stored(filter)).length === written);
      return log.ctx.events.streamCount() === 0;
    }, 20_000);
    reader.response.resume();
    await until(() => reader.isOver);
    const seen = sequences(reader);
    expect(seen.length).toBeLessThan(written);
    const last = ofLog(reader).at(-1);
    const position = last
      ? openPosition(log.ctx.secretKey, bindingOf(filter, 1), last.id!)
      : { sequence: 0, time: Date.now() };
    const resumed = await log.read(filter, { position });
    await until(() => seen.length + ofLog(resumed).length >= written);
    expect([...seen, ...sequences(resumed)]).toEqual(await stored(filter));
    resumed.close();
  });
});

describe('the deletion of its app', () => {
  test.each([null, new Set(['run.failed'] as const)])(
    'ends the stream also where a page had it before the tail has seen it (types %s)',
    async (types) => {
      // Without a publisher nothing wakes the tail: it looks by itself, a quarter of a second later.
      const quiet = await openTestLog();
      try {
        const filter = { ...quiet.filter(newId('prj')), types };
        await quiet.write(['run.queued', 'platform.app.deleted'], { projectId: filter.projectId! });
        await sql`
        with gone as (delete from outbox returning *), state as (update log_state set last_sequence = 2)
        insert into events (org_id, sequence, event_id, feed, type, project_id, data, occurred_at, published_at)
        select org_id, row_number() over (order by id), event_id, feed, type, project_id, data, occurred_at, clock_timestamp() from gone`.execute(
          quiet.ctx.db,
        );
        const reader = await quiet.read(filter, { position: { sequence: 0, time: Date.now() } });
        await until(() => reader.isOver);
        expect(ofLog(reader).map((f) => f.event)).toEqual(
          types ? [] : ['run.queued', 'platform.app.deleted'],
        );
      } finally {
        await quiet.close();
      }
    },
  );
});

describe('heartbeats', () => {
  test('the first comes at once, before any event, with a cursor that stands before what follows', async () => {
    const projectId = newId('prj');
    const filter = { ...log.filter(projectId), types: new Set(['run.queued'] as const) };
    const reader = await log.read(filter);
    await until(() => reader.frames.length === 1);
    expect(reader.frames[0]).toEqual({
      event: 'heartbeat',
      id: reader.frames[0]!.data.cursor,
      data: { cursor: reader.frames[0]!.id },
    });
    await log.write(['run.queued', 'run.running', 'run.completed'], { projectId });
    await until(() => ofLog(reader).length === 1);
    reader.close();
    const { rows } = await readEvents(log.ctx.db, {
      filter: log.filter(projectId),
      after: null,
      limit: 10,
      retentionSeconds: 604_800,
    });
    expect(rows.map((r) => r.type)).toEqual(['run.queued', 'run.running', 'run.completed']);
    expect(openPosition(log.ctx.secretKey, bindingOf(filter, 1), ofLog(reader)[0]!.id!).sequence).toBe(
      rows[0]!.sequence,
    );
    const first = openPosition(log.ctx.secretKey, bindingOf(filter, 1), reader.frames[0]!.id!);
    expect(first.sequence).toBeLessThan(rows[0]!.sequence);
  });
});

test('requests that hold every connection of the pool do not hold up streams', async () => {
  const filter = log.filter(newId('prj'));
  const reader = await log.read(filter);
  await until(() => reader.frames.length === 1);
  const writer = new Client(log.connection);
  await writer.connect();
  const free = Promise.withResolvers<void>();
  let holding = 0;
  const requests = Promise.all(
    Array.from({ length: 40 }, () =>
      log.ctx.db.transaction().execute(async () => {
        holding++;
        await free.promise;
      }),
    ),
  );
  try {
    await until(() => holding === 12);
    await writer.query(
      "insert into outbox (event_id, org_id, feed, type, project_id, data) values ($1, $2, 'platform', 'run.queued', $3, '{}')",
      [newId('evt'), ORG, filter.projectId],
    );
    await until(() => ofLog(reader).length === 1);
  } finally {
    free.resolve();
    await requests;
    await writer.end();
  }
  reader.close();
});

describe('latency', () => {
  test('an event reaches a live stream within a fraction of a second of its commit', async () => {
    const filter = log.filter(newId('prj'));
    const reader = await log.read(filter);
    const times: number[] = [];
    for (let i = 1; i <= 100; i++) {
      await log.write(['run.queued'], { projectId: filter.projectId! });
      const committed = performance.now();
      await new Promise<void>((resolve) => {
        const look = () => {
          if (ofLog(reader).length >= i) resolve();
          else setImmediate(look);
        };
        look();
      });
      times.push(performance.now() - committed);
    }
    reader.close();
    times.sort((a, b) => a - b);
    if (process.env.HEADRACE_TEST_LOG)
      console.log('latency p50, p99, max (ms)', times[50], times[98], times[99]);
    expect(times[90]).toBeLessThan(500);
  });
});
