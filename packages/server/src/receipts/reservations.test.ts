/**
 * How long a key is reserved, by which answers, and when receipts are forgotten. Times are the database's.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Context } from '../context.ts';
import { ApiError, CODES } from '../http/errors.ts';
import type { ErrorCode } from '../http/errors.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { digest, requestOf } from './receipts.fixture.ts';
import { maintainReceipts } from './maintain.ts';
import { writeOnce } from './receipts.ts';
import { writeClaimed } from './write-claimed.ts';
import type { WriteRequest, WriteResult } from '../http/write-request.ts';

let s: TestServer;
let ctx: Context;
let orgId: string;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  ctx = s.service.ctx;
  ({ id: orgId } = await ctx.db.selectFrom('organizations').select('id').executeTakeFirstOrThrow());
});
afterAll(async () => {
  await s?.close();
});

const OK: WriteResult = { status: 201, body: { ok: true } };
const STAGED = { mode: 'staged' as const, publishesPending: true };
const exists = async (id: string) =>
  (await ctx.db.selectFrom('operations').select('id').where('id', '=', id).execute()).length === 1;
const keyOf = (request: WriteRequest) =>
  ctx.db
    .selectFrom('operations')
    .select(['id', 'status', 'response_status', 'reserved_until', 'fence'])
    .where('idempotency_key', '=', request.key)
    .executeTakeFirst();
const refusalOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error as ApiError & { operationId?: string },
  );

/** Runs a worker's rounds, the five-second one too, until `look` passes. */
async function maintained(look: () => Promise<void>): Promise<void> {
  const shutdown = new AbortController();
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    maintainReceipts({ ...ctx, shutdown: shutdown.signal }, {});
    for (let round = 0; ; round++) {
      vi.advanceTimersByTime(5_000);
      // Real time: the rounds are under way in the database.
      await new Promise((resolve) => {
        setTimeout(resolve, 50);
      });
      const error = await look().then(
        () => null,
        (e: unknown) => e,
      );
      if (!error) return;
      if (round === 100) throw error;
    }
  } finally {
    shutdown.abort();
    vi.useRealTimers();
  }
}

describe('which answers reserve', () => {
  const RELEASING = new Set([
    'thread_busy',
    'build_busy',
    'host_offline',
    'request_in_progress',
    'idempotency_conflict',
    'execution_active',
  ]);
  const releases = (code: ErrorCode) =>
    [400, 401, 402, 403, 413, 415, 429].includes(CODES[code]) || CODES[code] >= 500 || RELEASING.has(code);

  test.each(Object.keys(CODES) as ErrorCode[])('%s', async (code) => {
    const error = new ApiError(code, 'no', { details: { n: 1 } });
    const [once, staged] = [requestOf(orgId), requestOf(orgId)];
    const first = await writeOnce(ctx, once, async () => {
      throw error;
    }).catch((e: unknown) => e as ApiError);
    const claimed = await refusalOf(
      writeClaimed(ctx, staged, STAGED, async () => {
        throw error;
      }),
    );
    const changed = digest('two');
    if (releases(code)) {
      expect([first, await keyOf(once), (await keyOf(staged))!.reserved_until]).toEqual([
        error,
        undefined,
        null,
      ]);
      // The receipt of a claim that was released can be read; the next one is another operation.
      expect(await exists(claimed!.operationId!)).toBe(true);
      const [again, reclaimed] = [
        await writeOnce(ctx, { ...once, fingerprint: changed }, async () => OK),
        await writeClaimed(
          ctx,
          { ...staged, fingerprint: changed },
          { mode: 'job', publishesPending: true },
          async () => OK,
        ),
      ];
      expect([again.status, reclaimed.status, reclaimed.operationId === claimed!.operationId]).toEqual([
        201,
        201,
        false,
      ]);
    } else {
      expect(first).toMatchObject({ status: CODES[code], replayed: false });
      const text = JSON.stringify(error.body('req-1'));
      // The first request's id, for every retry.
      const [again, reclaimed] = [
        await writeOnce(ctx, { ...once, requestId: 'req-2' }, async () => OK),
        await writeClaimed(ctx, { ...staged, requestId: 'req-2' }, STAGED, async () => OK),
      ];
      for (const replay of [again, reclaimed])
        expect(replay).toMatchObject({ status: CODES[code], text, replayed: true });
      for (const request of [once, staged])
        expect(
          await refusalOf(writeOnce(ctx, { ...request, fingerprint: changed }, async () => OK)),
        ).toMatchObject({ code: 'idempotency_conflict' });
    }
  });
});

describe('how long', () => {
  test("seven days at least, by the database's clock: this process's own may be wrong by years", async () => {
    const request = requestOf(orgId);
    const first = await writeOnce(ctx, request, async () => OK);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 9 * 365 * 86_400_000 });
    try {
      expect(await writeOnce(ctx, request, async () => OK)).toMatchObject({
        replayed: true,
        operationId: first.operationId,
      });
      const claim = requestOf(orgId);
      await writeClaimed(
        ctx,
        claim,
        { mode: 'outside', publishesPending: true, look: { name: 'tests.none', target: {} } },
        async () => OK,
      );
      const staged = requestOf(orgId);
      await writeClaimed(ctx, staged, STAGED, async () => OK);
      // Their leases are not over, however late it seems to be here.
      for (const open of [claim, staged])
        expect(await refusalOf(writeClaimed(ctx, open, STAGED, async () => OK))).toMatchObject({
          code: 'request_in_progress',
        });
    } finally {
      vi.useRealTimers();
    }
    const {
      rows: [kept],
    } = await sql<{
      days: number;
    }>`select extract(epoch from reserved_until - settled_at)::float / 86400 as days from operations where id = ${first.operationId}`.execute(
      ctx.db,
    );
    expect(kept!.days).toBeGreaterThan(7);
  });

  test('a receipt within its time is never forgotten, one past it soon, in batches; so are released claims once nobody asks for them', async () => {
    const [kept, over, released, oldReleased] = [
      requestOf(orgId),
      requestOf(orgId),
      requestOf(orgId),
      requestOf(orgId),
    ];
    for (const request of [kept, over]) await writeOnce(ctx, request, async () => OK);
    for (const request of [released, oldReleased])
      await refusalOf(
        writeClaimed(ctx, request, STAGED, async () => {
          throw new ApiError('unavailable', 'no');
        }),
      );
    await sql`update operations set reserved_until = now() + interval '1 minute', settled_at = now() - interval '8 days' where idempotency_key = ${kept.key}`.execute(
      ctx.db,
    );
    await sql`update operations set reserved_until = now() - interval '1 minute' where idempotency_key = ${over.key}`.execute(
      ctx.db,
    );
    await sql`update operations set settled_at = now() - interval '8 days' where idempotency_key = ${oldReleased.key}`.execute(
      ctx.db,
    );
    const many = randomUUID();
    await sql`insert into operations (org_id, id, actor_id, idempotency_key, fingerprint, method, path, permissions, published, status, response_status, response, settled_at, reserved_until)
      select ${orgId}, ${many} || n, 'sa_test', ${many} || n, '', 'POST', '/', '{}', false, 'succeeded', 200, '{}', now() - interval '8 days', now() - interval '1 second' from generate_series(1, 1200) as n`.execute(
      ctx.db,
    );
    const left = async () =>
      (await ctx.db.selectFrom('operations').select('id').where('id', 'like', `${many}%`).execute()).length;
    const seen: number[] = [];
    await maintained(async () => {
      seen.push(await left());
      expect(seen.at(-1)).toBe(0);
    });
    // Small batches: not all at once.
    expect(seen[0]).toBeGreaterThanOrEqual(200);
    expect(
      await Promise.all(
        [kept, over, released, oldReleased].map(async (request) => (await keyOf(request)) !== undefined),
      ),
    ).toEqual([true, false, true, false]);
    expect(await writeOnce(ctx, kept, async () => OK)).toMatchObject({ replayed: true });
    expect(await writeOnce(ctx, { ...over, fingerprint: digest('two') }, async () => OK)).toMatchObject({
      replayed: false,
    });
  });

  test('a key that is over is a new operation for a claim too, with times of its own', async () => {
    const request = requestOf(orgId);
    const first = await writeOnce(ctx, request, async () => OK);
    await sql`update operations set reserved_until = now() - interval '1 second', created_at = now() - interval '9 days', settled_at = now() - interval '9 days' where id = ${first.operationId}`.execute(
      ctx.db,
    );
    const again = await writeClaimed(
      ctx,
      { ...request, fingerprint: digest('two') },
      { mode: 'job', publishesPending: true },
      async () => OK,
    );
    const row = await ctx.db
      .selectFrom('operations')
      .selectAll()
      .where('idempotency_key', '=', request.key)
      .executeTakeFirstOrThrow();
    expect([
      again.operationId === first.operationId,
      row.id,
      row.fence,
      row.status,
      Date.now() - row.created_at.getTime() < 60_000,
    ]).toEqual([false, again.operationId, 1, 'pending', true]);
  });
});

test('a receipt is looked up by its index, also by plans that were made while there were few', async () => {
  await sql`delete from operations`.execute(ctx.db);
  await sql`vacuum analyze operations`.execute(ctx.db);
  // What this connection has counted and not yet handed in.
  const seqScans = async (db: Context['db']) =>
    (
      await sql<{
        n: number;
      }>`select seq_scan::int as n from pg_stat_xact_user_tables where relname = 'operations'`.execute(db)
    ).rows[0]!.n;
  // A prepared statement's plan is kept from its sixth run on; one connection has them all.
  await ctx.db.connection().execute(async (db) => {
    for (let n = 0; n < 12; n++) {
      const before = await seqScans(db);
      await writeOnce({ ...ctx, db }, requestOf(orgId), async (tx) => {
        expect(await seqScans(tx.db)).toBeLessThanOrEqual(before);
        return OK;
      });
    }
  });
});
