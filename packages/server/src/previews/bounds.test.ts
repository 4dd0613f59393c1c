/** How many previews may be open at once, and what happens to them when their runner dies. */
import pino from 'pino';
import { newId } from '../ids.ts';
import { afterAll, describe, expect, test } from 'vitest';
import { startService } from '../boot.ts';
import { json } from '../db/schema.ts';
import { startTestServer } from '../service.fixture.ts';
import { newBench, until, visit } from './previews.fixture.ts';
import { MAX_OF_PROJECT, MAX_OF_THREAD } from './schemas.ts';

const server = await startTestServer();
afterAll(() => server.close());
const { ctx } = server.service;
const status = ctx.runnerStatus();
if (!status?.ok)
  process.stderr.write(`SKIPPED, no sandbox can be made here: ${status?.missing.join('; ')}\n`);

describe.skipIf(!status?.ok)('previews', () => {
  test('of a thread and of an app are bounded; one that is stopped makes room', async () => {
    const bench = await newBench(server);
    const post = async (thread = bench.threadUrl) => {
      const { status: code, body } = await server.call('POST', `${thread}/previews`, {
        command: 'sleep 100',
        port: 1,
      });
      return [code, body.error?.code, body.preview?.id] as const;
    };
    const made = await Promise.all(Array.from({ length: MAX_OF_THREAD + 3 }, () => post()));
    expect(made.filter(([code]) => code === 201).length).toBe(MAX_OF_THREAD);
    expect(made.filter(([code]) => code !== 201).map(([code, error]) => [code, error])).toEqual([
      [409, 'conflict'],
      [409, 'conflict'],
      [409, 'conflict'],
    ]);
    const [, , id] = made.find(([code]) => code === 201)!;
    await server.call('DELETE', `${bench.url}/previews/${id}`);
    expect((await post())[0]).toBe(201);
    // Open rows whose jobs are not due: so many sandboxes would be too many for the machine. One place is
    // left.
    const threads = await Promise.all(
      Array.from(
        { length: 3 },
        async () => (await server.call('POST', `${bench.url}/threads`, {})).body.thread.id as string,
      ),
    );
    const row = await ctx.db
      .selectFrom('previews')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    const others = Array.from({ length: MAX_OF_PROJECT - MAX_OF_THREAD - 1 }, (_, i) => ({
      ...row,
      id: newId('prv'),
      thread_id: threads[0]!,
      token: `t${i}`,
      status: 'ready' as const,
    }));
    await ctx.db.transaction().execute(async (db) => {
      await db.insertInto('previews').values(others).execute();
      await db
        .insertInto('jobs')
        .values(
          others.map((o) => ({
            kind: 'preview.work',
            payload: json({ previewId: o.id }),
            key: `preview:${o.id}`,
            run_at: new Date(Date.now() + 600_000),
          })),
        )
        .execute();
    });
    const last = await Promise.all(
      [threads[1]!, threads[2]!, threads[1]!, threads[2]!].map((thread) =>
        post(`${bench.url}/threads/${thread}`),
      ),
    );
    expect(last.map(([code, error]) => [code, error]).toSorted()).toEqual([
      [201, undefined],
      [409, 'conflict'],
      [409, 'conflict'],
      [409, 'conflict'],
    ]);
    await server.call('DELETE', bench.url);
  });

  test('fail when their runner dies, and say so; a new one can be made', { timeout: 60_000 }, async () => {
    const bench = await newBench(server);
    const { id, url } = await bench.ready();
    const { pid } = ctx.runnerStatus()!;
    process.kill(pid, 'SIGKILL');
    const lost = await until(async () => {
      const preview = await bench.read(id);
      return preview.status !== 'ready' && preview;
    }, 'its end');
    expect(lost).toMatchObject({ status: 'failed', error: { code: 'sandbox_lost' } });
    expect((await visit(server, url)).status).toBe(502);
    const { events } = (await server.call('GET', `${bench.url}/events?types=preview.updated`)).body;
    expect(events.map((e: { data: { status: string } }) => e.data.status)).toEqual([
      'starting',
      'ready',
      'failed',
    ]);
    await until(
      async () => ctx.runnerStatus() !== null && ctx.runnerStatus()!.pid !== pid,
      'the next runner',
    );
    expect((await bench.ready()).status).toBe('ready');
  });

  test(
    'are not started again by a service that comes back to a new runner',
    { timeout: 60_000 },
    async () => {
      const first = await startTestServer();
      const bench = await newBench(first);
      const { id } = await bench.ready();
      const { pid } = first.service.ctx.runnerStatus()!;
      await first.service.stop();
      process.kill(pid, 'SIGKILL');
      const next = await startService(
        { ...first.service.ctx.config, port: Number(new URL(first.base).port) },
        pino({ level: 'silent' }),
      );
      try {
        expect(
          await until(async () => {
            const preview = await bench.read(id);
            return preview.status !== 'ready' && preview;
          }, 'its end'),
        ).toMatchObject({ status: 'failed', error: { code: 'sandbox_lost' } });
      } finally {
        await next.stop();
        await first.close();
      }
    },
  );
});
