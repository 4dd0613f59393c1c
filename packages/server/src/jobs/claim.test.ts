/** Turns: who is claimed next where several have jobs waiting. */
import { sql } from 'kysely';
import { describe, expect, test, vi } from 'vitest';
import { transaction } from '../db/transaction.ts';
import { createClaim } from './claim.ts';
import { enqueue } from './enqueue.ts';
import type { EnqueueOptions } from './enqueue.ts';
import { bus, ctx, database, handle, useJobs, workers } from './jobs.fixture.ts';
import { startWorker } from './worker.ts';
import type { Job, JobHandlers } from './job.ts';

useJobs();

/** `count` jobs of a project, named a1, a2, … */
const add = (project: string, count: number, options: EnqueueOptions = {}) =>
  transaction(ctx(), async (tx) => {
    for (let i = 1; i <= count; i++)
      await enqueue(
        tx,
        'run.work',
        { threadId: `${project}${i}` },
        { turnOf: { org_id: 'org_1', project_id: project }, key: `thread:${project}${i}`, ...options },
      );
  });

type Claim = ReturnType<typeof createClaim>;
const claimOf = (worker = 'wrk_test') => createClaim(handle.db, worker);
/** The names of the next jobs. */
async function next(claim: Claim, count: number, full: string[] = []): Promise<string[]> {
  const names: string[] = [];
  while (names.length < count) {
    const row = await claim(new Map([['run.work', full]]));
    if (!row) break;
    names.push(row.payload.threadId as string);
  }
  return names;
}
const end = (name: string) => sql`delete from jobs where payload ->> 'threadId' = ${name}`.execute(handle.db);
const active = async () =>
  Object.fromEntries(
    (
      await sql<{
        fair_key: string;
        count: number;
      }>`select fair_key, count(*) from jobs where status = 'active' group by fair_key order by fair_key`.execute(
        handle.db,
      )
    ).rows.map((r) => [r.fair_key, r.count]),
  );

async function start(handlers: JobHandlers): Promise<void> {
  workers.push(await startWorker(ctx(), database.connection, handlers));
}

describe('turns', () => {
  test("a project with 200 queued jobs holds up no other's single one", async () => {
    await add('a', 200);
    await add('b', 1);
    expect(await next(claimOf(), 4)).toEqual(['a1', 'b1', 'a2', 'a3']);
  });

  test('places are shared: whose jobs last longer gets no more of them, and none is passed over for ever', async () => {
    await add('a', 100);
    await add('b', 100);
    const claim = claimOf();
    await next(claim, 8);
    // b's jobs end at once, a's stay.
    for (let round = 1; round <= 20; round++) {
      await sql`delete from jobs where fair_key = 'b' and status = 'active' and id = (select min(id) from jobs where fair_key = 'b' and status = 'active')`.execute(
        handle.db,
      );
      await next(claim, 1);
    }
    expect(await active()).toEqual({ a: 4, b: 4 });
    // And a's, when they end, are followed by a's.
    await end('a1');
    expect((await next(claim, 1))[0]).toMatch(/^a/);
  });

  test('where there is one place, the one goes next that was served longest ago', async () => {
    await add('a', 50);
    await add('b', 2);
    await add('c', 2);
    const claim = claimOf();
    const order: string[] = [];
    for (let i = 0; i < 7; i++) {
      const [name] = await next(claim, 1);
      order.push(name!);
      await end(name!);
    }
    expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'c2', 'a3']);
  });

  test('a job that waits for a person is not counted', async () => {
    await add('a', 10);
    await add('b', 10);
    const claim = claimOf();
    await next(claim, 8);
    await sql`update jobs set waiting = true where fair_key = 'a' and status = 'active'`.execute(handle.db);
    expect((await next(claim, 4)).every((name) => name.startsWith('a'))).toBe(true);
  });

  test('within a project the order stays, and a key runs one at a time', async () => {
    await add('a', 3, { key: 'thread:one' });
    await add('a', 1, { key: 'thread:two' });
    await add('b', 2);
    const claim = claimOf();
    expect(await next(claim, 10)).toEqual(['a1', 'b1', 'a1', 'b2']);
    await sql`delete from jobs where key = 'thread:one' and status = 'active'`.execute(handle.db);
    expect(await next(claim, 10)).toEqual(['a2']);
  });

  test('without turns jobs go in order, and take one turn together', async () => {
    await add('x', 3, { turnOf: { org_id: '', project_id: '' } });
    await add('b', 2);
    expect(await next(claimOf(), 9)).toEqual(['x1', 'b1', 'x2', 'b2', 'x3']);
  });

  test('more projects than one walk takes have their turns one walk after the other', async () => {
    for (let i = 100; i < 190; i++) await add(`p${i}-`, 2);
    const claim = claimOf();
    // Three walks of at most 32.
    expect(new Set((await next(claim, 3 * 32)).map((name) => name.slice(0, 4))).size).toBe(90);
    expect(await next(claim, 1_000)).toHaveLength(180 - 3 * 32);
    expect(await next(claim, 1)).toEqual([]);
  });

  test('a walk that began in the middle finds what is left at the front', async () => {
    for (let i = 100; i < 150; i++) await add(`p${i}-`, 1);
    const claim = claimOf();
    expect(await next(claim, 1)).toHaveLength(1);
    await sql`delete from jobs where fair_key >= 'p110' and status = 'queued'`.execute(handle.db);
    expect(await next(claim, 50)).toHaveLength(9);
  });

  test('due later is no turn yet', async () => {
    await add('a', 2, { delaySeconds: 3_600 });
    await add('b', 2);
    expect(await next(claimOf(), 5)).toEqual(['b1', 'b2']);
  });
});

describe('rivals', () => {
  test('two workers claim at once: none twice, none forgotten, in turns', async () => {
    await add('a', 100);
    await add('b', 20);
    const both = [claimOf('wrk_1'), claimOf('wrk_2')];
    const first = (await Promise.all(both.map((claim) => next(claim, 15)))).flat();
    expect(new Set(first).size).toBe(30);
    expect(first.filter((name) => name.startsWith('b')).length).toBeGreaterThanOrEqual(12);
    const rest = (await Promise.all(both.map((claim) => next(claim, 200)))).flat();
    expect(new Set([...first, ...rest]).size).toBe(120);
  });

  test("one project's queue is shared by two workers to its end", async () => {
    const done: string[] = [];
    const run = async (job: Job<'run.work'>) => {
      done.push(job.payload.threadId);
    };
    await add('a', 60);
    await Promise.all([
      start({ 'run.work': { run, concurrency: 4 } }),
      start({ 'run.work': { run, concurrency: 4 } }),
    ]);
    await vi.waitFor(() => expect(new Set(done).size).toBe(60), { timeout: 10_000 });
    expect(done).toHaveLength(60);
  });
});

describe('room', () => {
  test('is asked before each claim, with what is held', async () => {
    let limit = 1;
    const begun: Job<'run.work'>[] = [];
    const run = (job: Job<'run.work'>) =>
      new Promise<void>((resolve) => {
        begun.push(job);
        job.signal.addEventListener('abort', () => resolve());
      });
    const asked: number[] = [];
    await start({
      'run.work': {
        run,
        concurrency: (held) => {
          asked.push(held.length);
          return { most: limit, full: [] };
        },
      },
    });
    await add('a', 5);
    await vi.waitFor(() => expect([begun.length, asked.at(-1)]).toEqual([1, 1]));
    limit = 3;
    bus.notify('jobs');
    await vi.waitFor(() => expect([begun.length, asked.at(-1)]).toEqual([3, 3]));
  });

  test('a job that waits frees its place at once, and says so to the turns', async () => {
    const begun: Job<'run.work'>[] = [];
    const run = (job: Job<'run.work'>) =>
      new Promise<void>((resolve) => {
        begun.push(job);
        job.signal.addEventListener('abort', () => resolve());
      });
    await start({
      'run.work': {
        run,
        concurrency: (held) => ({ most: 1 + held.filter((h) => h.isWaiting).length, full: [] }),
      },
    });
    await add('a', 5);
    await vi.waitFor(() => expect(begun).toHaveLength(1));
    begun[0]!.setWaiting(true);
    await vi.waitFor(() => expect(begun).toHaveLength(2));
    const waiting = async () =>
      (await handle.db.selectFrom('jobs').select('id').where('waiting', '=', true).execute()).map(
        (j) => j.id,
      );
    await vi.waitFor(async () => expect(await waiting()).toEqual([begun[0]!.id]));
    for (const isWaiting of [false, true, false]) begun[0]!.setWaiting(isWaiting);
    await vi.waitFor(async () => expect(await waiting()).toEqual([]));
  });
});

describe('organizations', () => {
  /** `count` jobs of each of an organization's projects. */
  const addOf = async (org: string, projects: number, count: number) => {
    for (let p = 1; p <= projects; p++)
      await add(`${org}p${p}-`, count, { turnOf: { org_id: org, project_id: `${org}p${p}` } });
  };
  const orgsOf = (names: string[]) => names.map((name) => name[0]).join('');

  test('one with 50 projects and 500 queued jobs holds up no other, whose single job is next', async () => {
    await addOf('a', 50, 10);
    const claim = claimOf();
    expect(orgsOf(await next(claim, 4))).toBe('aaaa');
    await addOf('b', 1, 1);
    expect(orgsOf(await next(claim, 3))).toBe('baa');
  });

  test('share places evenly, whatever number of projects they have', async () => {
    await addOf('a', 40, 2);
    await addOf('b', 2, 20);
    await addOf('c', 1, 20);
    const names = await next(claimOf(), 30);
    for (const org of 'abc') expect(names.filter((name) => name.startsWith(org))).toHaveLength(10);
    // Of a, none of whose projects has had two turns before all have had one.
    expect(new Set(names.filter((name) => name.startsWith('a')).map((name) => name.split('-')[0])).size).toBe(
      10,
    );
  });

  test('all projects of one have their turns, more than one walk takes', async () => {
    await addOf('a', 70, 1);
    const claim = claimOf();
    expect(await next(claim, 100)).toHaveLength(70);
  });

  test('a due job is found behind more projects than one walk takes that have none', async () => {
    for (let p = 100; p < 180; p++)
      await add(`a${p}-`, 1, { turnOf: { org_id: 'a', project_id: `a${p}` }, delaySeconds: 3_600 });
    await add('a150-', 1, { turnOf: { org_id: 'a', project_id: 'a150' }, key: 'thread:due' });
    expect(await next(claimOf(), 5)).toEqual(['a150-1']);
  });

  test('one that is full here is passed over, also where it is all that a walk sees', async () => {
    await addOf('a', 2, 2);
    await addOf('b', 1, 1);
    const claim = claimOf();
    expect(orgsOf(await next(claim, 9, ['a']))).toBe('b');
    expect(orgsOf(await next(claim, 9))).toBe('aaaa');
    for (let org = 100; org < 140; org++) await addOf(`o${org}`, 1, 1);
    await addOf('z', 1, 1);
    const all = Array.from({ length: 40 }, (_, i) => `o${100 + i}`);
    expect(await next(claim, 9, all)).toEqual(['zp1-1']);
  });
});
