/** The kept numbers of jobs under way are those that one would count. */
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { JobRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import { sumBusyCounts } from './busy-counts.ts';
import { createClaim } from './claim.ts';
import { enqueue } from './enqueue.ts';
import { ctx, handle, useJobs } from './jobs.fixture.ts';
import { deleteJob, putOffJob, queueJobsOf, retryJob, setJobWaiting } from './store.ts';

useJobs();

type Count = { org: string; project: string | null; n: number };
const kept = async () =>
  (
    await sql<Count>`select fair_org as org, fair_key as project, sum(change)::int as n from busy_counts group by 1, 2 having sum(change) <> 0 order by 1, 2`.execute(
      handle.db,
    )
  ).rows;
const counted = async () =>
  (
    await sql<Count>`select fair_org as org, fair_key as project, count(*)::int as n from jobs where status = 'active' and not waiting group by grouping sets ((fair_org), (fair_org, fair_key)) order by 1, 2`.execute(
      handle.db,
    )
  ).rows;
const rows = async () =>
  (await sql<{ n: number }>`select count(*)::int as n from busy_counts`.execute(handle.db)).rows[0]!.n;

const add = (org: string, project: string, count: number) =>
  transaction(ctx(), async (tx) => {
    for (let i = 0; i < count; i++)
      await enqueue(tx, 'run.work', { threadId: 't' }, { turnOf: { org_id: org, project_id: project } });
  });

test('after each begin and end, whichever it is, also while they are summed up', async () => {
  for (const [org, project] of [
    ['o1', 'p1'],
    ['o1', 'p2'],
    ['o2', 'p3'],
  ] as const)
    await add(org, project, 8);
  const claim = createClaim(handle.db, 'wrk_1');
  const claimed: JobRow[] = [];
  for (let n = 0; n < 18; n++) claimed.push((await claim(new Map([['run.work', []]])))!);
  expect(await kept()).toEqual(await counted());
  expect(await kept()).toHaveLength(5);
  expect(await rows()).toBe(36);
  await sumBusyCounts(handle.db);
  expect(await rows()).toBe(5);

  const ends = [
    () => deleteJob(handle.db, claimed[0]!),
    () => retryJob(handle.db, claimed[1]!, { failures: 1, error: 'no', delaySeconds: 9, leftBy: null }),
    () => transaction(ctx(), (tx) => putOffJob(tx, claimed[2]!, { waitsFor: 'x', delaySeconds: 9 })),
    () => setJobWaiting(handle.db, claimed[3]!, true),
    () => setJobWaiting(handle.db, claimed[3]!, true),
    () => setJobWaiting(handle.db, claimed[3]!, false),
    () => setJobWaiting(handle.db, claimed[4]!, true),
    () => deleteJob(handle.db, claimed[4]!),
    () =>
      transaction(ctx(), async (tx) => {
        await sql`delete from jobs where id = ${claimed[5]!.id}`.execute(tx.db);
        throw new Error('rolled back');
      }).catch(() => {}),
  ];
  await Promise.all([
    (async () => {
      for (const end of ends) await end();
    })(),
    (async () => {
      for (let n = 0; n < 10; n++) await Promise.all([sumBusyCounts(handle.db), sumBusyCounts(handle.db)]);
    })(),
  ]);
  expect(await kept()).toEqual(await counted());
  await queueJobsOf(handle.db, 'wrk_1');
  expect(await counted()).toEqual([]);
  expect(await kept()).toEqual([]);
  await sumBusyCounts(handle.db);
  expect(await rows()).toBe(0);
});
