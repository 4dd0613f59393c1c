/** How many builds are under way at once, and which one is next. */
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { signedIn } from '../accounts/callers.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import { newBench, newThread, until } from './builds.fixture.ts';

const server = await startTestServer({ HEADRACE_BUILD_CONCURRENCY: '3' });
afterAll(() => server.close());
const { ctx } = server.service;
const status = ctx.runnerStatus();
if (!status?.ok)
  process.stderr.write(`SKIPPED, no sandbox can be made here: ${status?.missing.join('; ')}\n`);

const cookie = await signedIn(server);
const organization = async (builds: number | null) => {
  expect(
    (
      await server.call(
        'PATCH',
        '/api/settings',
        { concurrency: builds === null ? null : { builds } },
        { cookie },
      )
    ).status,
  ).toBe(200);
};
afterEach(() => organization(null));

const FOREVER = 'while true; do sleep 0.1; done';
type Bench = Awaited<ReturnType<typeof newBench>>;
/** Each build has its own thread. */
const submit = async (bench: Bench, command: string): Promise<string> =>
  (await bench.submit(command, {}, `${bench.url}/threads/${await newThread(server, bench.url)}`)).id;
const cancel = (bench: Bench, id: string) => server.call('POST', `${bench.url}/builds/${id}/cancel`);
/** Waits until the build's job has found no place and was postponed. */
const untilPostponed = (id: string) =>
  until(
    async () =>
      (
        await ctx.db
          .selectFrom('jobs')
          .select('id')
          .where('key', '=', `build:${id}`)
          .where('status', '=', 'queued')
          .where('run_at', '>', new Date(Date.now() + 60_000))
          .execute()
      ).length === 1,
  );
const startsOf = async (ids: string[]) => {
  const rows = await ctx.db
    .selectFrom('builds')
    .select(['id', 'started_at'])
    .where('id', 'in', ids)
    .execute();
  return rows
    .toSorted((a, b) => a.started_at!.getTime() - b.started_at!.getTime())
    .map((row) => ids.indexOf(row.id));
};

describe.skipIf(!status?.ok)("the organization's limit", () => {
  test(
    'bounds the builds of all its apps together; they take turns, and what waits holds no worker',
    { timeout: 60_000 },
    async () => {
      const [a, b] = [await newBench(server), await newBench(server)];
      await organization(1);
      // More than the organization's limit, which gives the app none of the others' places.
      await server.call('PATCH', `${a.url}/settings`, { concurrency: { builds: 5 } });
      const first = await submit(a, FOREVER);
      await a.started(first);
      const waiting = [
        await submit(a, 'mkdir dist; sleep 0.2'),
        await submit(a, 'mkdir dist'),
        await submit(b, 'mkdir dist; sleep 0.2'),
        await submit(b, 'mkdir dist'),
      ];
      for (const id of waiting) await untilPostponed(id);
      expect(
        await ctx.db.selectFrom('builds').select('id').where('status', '=', 'building').execute(),
      ).toEqual([{ id: first }]);
      expect(
        await ctx.db
          .selectFrom('jobs')
          .select('id')
          .where('kind', '=', 'build.work')
          .where('status', '=', 'active')
          .execute(),
      ).toHaveLength(1);
      await cancel(a, first);
      for (const id of waiting)
        await until(
          async () =>
            (
              await ctx.db
                .selectFrom('builds')
                .select('status')
                .where('id', '=', id)
                .executeTakeFirstOrThrow()
            ).status === 'ready',
        );
      // First b, which had none yet, then by turns.
      expect(await startsOf(waiting)).toEqual([2, 0, 3, 1]);
      const rows = await ctx.db
        .selectFrom('builds')
        .select(['started_at', 'finished_at'])
        .where('id', 'in', waiting)
        .orderBy('started_at')
        .execute();
      for (const [i, row] of rows.entries())
        if (i > 0)
          expect(row.started_at!.getTime()).toBeGreaterThanOrEqual(rows[i - 1]!.finished_at!.getTime());
    },
  );

  test("raised or taken back lets waiting ones start; the app's own limit is kept", async () => {
    const [a, b] = [await newBench(server), await newBench(server)];
    await organization(2);
    await server.call('PATCH', `${a.url}/settings`, { concurrency: { builds: 1 } });
    const running = [await submit(a, FOREVER), await submit(b, FOREVER)];
    await a.started(running[0]!);
    await b.started(running[1]!);
    const [ofA, ofB] = [await submit(a, 'mkdir dist'), await submit(b, 'mkdir dist')];
    for (const id of [ofA, ofB]) await untilPostponed(id);
    await organization(3);
    expect((await b.ended(ofB)).status).toBe('ready');
    expect((await a.read(ofA)).status).toBe('queued');
    await cancel(a, running[0]!);
    expect((await a.ended(ofA)).status).toBe('ready');
    await cancel(b, running[1]!);
    await b.ended(running[1]!);
  });

  test('is never passed, however many are submitted at once', { timeout: 60_000 }, async () => {
    const benches = [await newBench(server), await newBench(server), await newBench(server)];
    await organization(2);
    const submitted = await Promise.all(
      Array.from({ length: 9 }, async (_, i) => ({
        bench: benches[i % 3]!,
        id: await submit(benches[i % 3]!, 'mkdir dist; sleep 0.1'),
      })),
    );
    for (const { bench, id } of submitted) expect((await bench.ended(id)).status).toBe('ready');
    const rows = await ctx.db
      .selectFrom('builds')
      .select(['started_at', 'finished_at'])
      .where(
        'id',
        'in',
        submitted.map(({ id }) => id),
      )
      .execute();
    for (const { started_at: at } of rows)
      expect(rows.filter((r) => r.started_at! <= at! && r.finished_at! > at!).length).toBeLessThanOrEqual(2);
  });
});
