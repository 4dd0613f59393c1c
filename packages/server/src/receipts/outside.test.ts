import { randomUUID } from 'node:crypto';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createAuthenticator } from '../accounts/index.ts';
import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import { directRoute } from '../http/operation.ts';
import { createHttpServer } from '../http/server.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestAnswer, TestServer } from '../service.fixture.ts';
import {
  answers,
  effects,
  IS_AWAY,
  LOSES_ITS_ANSWER,
  MAKES,
  openOutside,
  requestOf,
  startProcess,
  thingEffect,
  thingOf,
} from './receipts.fixture.ts';
import type { Outside } from './receipts.fixture.ts';
import { maintainReceipts } from './maintain.ts';
import { actOutside } from './outside.ts';
import { writeOnce } from './receipts.ts';
import { makeUncertain } from './settle.ts';
import { writeClaimed } from './write-claimed.ts';

let s: TestServer;
let ctx: Context;
let orgId: string;
let app: FastifyInstance;
let base: string;
let outside: Outside;
let workers: AbortController;
let processes: ChildProcess[];

beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  ctx = s.service.ctx;
  ({ id: orgId } = await ctx.db.selectFrom('organizations').select('id').executeTakeFirstOrThrow());
  outside = await openOutside();
  // The operation of the test is not part of the service.
  app = await createHttpServer(ctx, {
    routes: [directRoute('POST', '/things', thingOf(outside.url))],
    authenticate: createAuthenticator(ctx).authenticate,
    receipts: { writeClaimed, writeOnce },
  });
  base = await app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await app?.close();
  await outside?.close();
  await s?.close();
});
const told = { onGet: (() => {}) as Outside['onGet'] };
beforeAll(() => {
  told.onGet = outside.onGet;
});
beforeEach(() => {
  Object.assign(outside, { asked: [], onPost: MAKES, onGet: told.onGet });
  outside.things.clear();
  workers = new AbortController();
  processes = [];
});
afterEach(() => {
  workers.abort();
  for (const child of processes) child.kill('SIGKILL');
});

/** A worker of this process looks after receipts from now on. */
const startWorker = () => maintainReceipts({ ...ctx, shutdown: workers.signal }, effects);
const make = async (idem: string, name = 'n'): Promise<TestAnswer> => {
  const response = await fetch(`${base}/api/things`, {
    method: 'POST',
    headers: { 'x-api-key': s.key, 'idempotency-key': idem, 'content-type': 'application/json' },
    body: JSON.stringify({ name }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
};
const code = (answer: TestAnswer) => `${answer.status} ${answer.body.error?.code ?? ''}`.trim();
const receiptOf = (answer: TestAnswer) => answer.headers.get('x-operation-id')!;
const operation = async (id: string) => (await s.call('GET', `/api/operations/${id}`)).body.operation;
const rowOf = (id: string) =>
  ctx.db.selectFrom('operations').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
const settled = (id: string, status: string) =>
  vi.waitFor(async () => expect((await operation(id)).status).toBe(status), { timeout: 8_000, interval: 50 });
const published = async (id: string) =>
  (
    await sql<{ status: string }>`
  select data ->> 'status' as status from (select event_id, type, data from events union all select event_id, type, data from outbox) as e
  where type = 'operation.updated' and data ->> 'id' = ${id} order by event_id`.execute(ctx.db)
  ).rows.map((e) => e.status);
const posts = () => outside.asked.filter((method) => method === 'POST').length;

describe('whose outcome is known', () => {
  test('is answered, replayed and published like any write, and done once', async () => {
    const idem = randomUUID();
    const first = await make(idem);
    const again = await make(idem);
    expect([
      first.status,
      first.body.thing.name,
      again.status,
      again.text,
      again.headers.get('idempotent-replayed'),
    ]).toEqual([201, 'n', 201, first.text, 'true']);
    expect([outside.asked, await published(receiptOf(first))]).toEqual([['POST'], ['pending', 'succeeded']]);
  });

  test('a refusal of the outside settles, or releases the key, as its code says', async () => {
    const [idem, other] = [randomUUID(), randomUUID()];
    outside.onPost = answers(409);
    const refused = await make(idem);
    outside.onPost = answers(402);
    expect(code(await make(other))).toBe('402 payment_required');
    outside.onPost = MAKES;
    expect([code(refused), (await make(idem)).text, (await make(other, 'changed')).status]).toEqual([
      '409 conflict',
      refused.text,
      201,
    ]);
  });
});

describe('whose answer was lost', () => {
  test('is uncertain until somebody has looked; then its replay is what would have been answered', async () => {
    const idem = randomUUID();
    outside.onPost = LOSES_ITS_ANSWER;
    const lost = await make(idem);
    const id = receiptOf(lost);
    expect([code(lost), lost.body.error.operationId, lost.headers.get('retry-after')]).toEqual([
      '503 unavailable',
      id,
      '1',
    ]);
    expect(await operation(id)).toMatchObject({
      status: 'uncertain',
      response: null,
      responseStatus: null,
      settledAt: null,
      reservedUntil: null,
    });
    for (const answer of [await make(idem), await make(idem)])
      expect([code(answer), answer.body.error.operationId]).toEqual(['409 request_in_progress', id]);
    expect(code(await make(idem, 'changed'))).toBe('409 idempotency_conflict');
    startWorker();
    await settled(id, 'succeeded');
    const again = await make(idem);
    expect([again.status, again.body, again.headers.get('idempotent-replayed'), receiptOf(again)]).toEqual([
      201,
      { ok: true, thing: outside.things.get(id) },
      'true',
      id,
    ]);
    expect([posts(), await published(id)]).toEqual([1, ['pending', 'uncertain', 'succeeded']]);
    expect(Date.parse((await operation(id)).reservedUntil) - Date.now()).toBeGreaterThan(7 * 86_400_000);
  });

  test('while the outside cannot be reached it stays uncertain, and is looked at again later and later', async () => {
    outside.onPost = LOSES_ITS_ANSWER;
    const id = receiptOf(await make(randomUUID()));
    outside.onGet = IS_AWAY;
    startWorker();
    await vi.waitFor(async () => expect((await rowOf(id)).looks).toBe(2), { timeout: 8_000 });
    const {
      rows: [wait],
    } = await sql<{
      seconds: number;
    }>`select extract(epoch from lease_until - now())::float as seconds from operations where id = ${id}`.execute(
      ctx.db,
    );
    expect([(await operation(id)).status, wait!.seconds > 1 && wait!.seconds <= 2.5]).toEqual([
      'uncertain',
      true,
    ]);
    outside.onGet = told.onGet;
    await settled(id, 'succeeded');
    expect([posts(), await published(id)]).toEqual([1, ['pending', 'uncertain', 'succeeded']]);
  });

  test('an operation that this version does not know stays uncertain', async () => {
    outside.onPost = LOSES_ITS_ANSWER;
    const id = receiptOf(await make(randomUUID()));
    maintainReceipts({ ...ctx, shutdown: workers.signal }, {});
    await vi.waitFor(async () => expect((await rowOf(id)).looks).toBe(1), { timeout: 8_000 });
    expect([(await operation(id)).status, outside.asked]).toEqual(['uncertain', ['POST']]);
  });

  test('what cannot be found out within seven days fails, and its key stays taken: nobody repeats what may have been done', async () => {
    const idem = randomUUID();
    outside.onPost = LOSES_ITS_ANSWER;
    const id = receiptOf(await make(idem));
    await sql`update operations set uncertain_at = now() - interval '7 days' where id = ${id}`.execute(
      ctx.db,
    );
    outside.onGet = answers(500);
    startWorker();
    await settled(id, 'failed');
    const again = await make(idem);
    expect([code(again), again.headers.get('idempotent-replayed'), posts(), await published(id)]).toEqual([
      '409 conflict',
      'true',
      1,
      ['pending', 'uncertain', 'failed'],
    ]);
  });
});

describe('whose process died', () => {
  /** The receipt's id once the process was killed in the middle of its request. */
  async function killedWhileMaking(isDone: boolean, idem: string): Promise<string> {
    const dead = Promise.withResolvers<string>();
    outside.onPost = (_request, _response, done) => {
      if (isDone) done();
      child.kill('SIGKILL');
    };
    const child = startProcess(ctx.config.databaseUrl!, {
      write: { request: requestOf(orgId, idem), target: { url: outside.url, name: 'n' } },
    });
    processes.push(child);
    child.once('exit', (_code, signal) => dead.resolve(signal!));
    expect(await dead.promise).toBe('SIGKILL');
    outside.onPost = MAKES;
    const { id } = await ctx.db
      .selectFrom('operations')
      .select('id')
      .where('idempotency_key', '=', idem)
      .where('status', '=', 'pending')
      .where('lease_until', '>', sql<Date>`now()`)
      .executeTakeFirstOrThrow();
    return id;
  }
  const write = (idem: string) =>
    writeClaimed(
      ctx,
      requestOf(orgId, idem),
      {
        mode: 'outside',
        publishesPending: true,
        look: { name: 'tests.makeThing', target: { url: outside.url, name: 'n' } },
      },
      (claim) => actOutside(ctx, thingEffect, { url: outside.url, name: 'n' }, claim),
    );
  /** Instead of 15 s. */
  const runOut = (id: string) =>
    sql`update operations set lease_until = now() - interval '1 millisecond' where id = ${id}`.execute(
      ctx.db,
    );

  test('after the outside did it: the reconciler finds it, and a retry gets its answer', async () => {
    const idem = randomUUID();
    const id = await killedWhileMaking(true, idem);
    await runOut(id);
    // Not taken over, as a staged claim would be.
    await expect(write(idem)).rejects.toMatchObject({
      code: 'request_in_progress',
      details: { operationId: id },
    });
    startWorker();
    await vi.waitFor(async () => expect((await rowOf(id)).status).toBe('succeeded'), { timeout: 8_000 });
    expect(await write(idem)).toEqual({
      status: 201,
      text: JSON.stringify({ ok: true, thing: outside.things.get(id) }),
      operationId: id,
      replayed: true,
    });
    expect([posts(), await published(id)]).toEqual([1, ['pending', 'uncertain', 'succeeded']]);
  });

  test('before the outside did it: the receipt fails, its key is free, and a retry does it', async () => {
    const idem = randomUUID();
    const id = await killedWhileMaking(false, idem);
    await runOut(id);
    startWorker();
    await vi.waitFor(
      async () =>
        expect(await rowOf(id)).toMatchObject({
          status: 'failed',
          response_status: 503,
          reserved_until: null,
        }),
      { timeout: 8_000 },
    );
    expect([outside.things.size, await published(id)]).toEqual([0, ['pending', 'uncertain', 'failed']]);
    const again = await write(idem);
    expect([again.status, again.replayed, again.operationId === id, posts(), outside.things.size]).toEqual([
      201,
      false,
      false,
      2,
      1,
    ]);
  });

  test('a reconciler that dies in the middle of its look is replaced within two seconds', async () => {
    const idem = randomUUID();
    const id = await killedWhileMaking(true, idem);
    await runOut(id);
    const looked = Promise.withResolvers<void>();
    outside.onGet = () => looked.resolve();
    const first = startProcess(ctx.config.databaseUrl!, { maintain: true });
    processes.push(first);
    await looked.promise;
    outside.onGet = told.onGet;
    startWorker();
    const gone = once(first, 'exit');
    first.kill('SIGKILL');
    await gone;
    const died = performance.now();
    await vi.waitFor(async () => expect((await rowOf(id)).status).toBe('succeeded'), {
      timeout: 8_000,
      interval: 20,
    });
    expect(performance.now() - died).toBeLessThan(2_500);
    expect(posts()).toBe(1);
  });

  test('two reconcilers look once: a look that goes on is not taken over', async () => {
    outside.onPost = LOSES_ITS_ANSWER;
    const id = receiptOf(await make(randomUUID()));
    const open = Promise.withResolvers<void>();
    outside.onGet = (...args) => {
      void open.promise.then(() => told.onGet(...args));
    };
    startWorker();
    startWorker();
    const {
      rows: [before],
    } = await vi.waitFor(
      async () => {
        expect(outside.asked).toEqual(['POST', 'GET']);
        return sql<{ until: Date }>`select lease_until as until from operations where id = ${id}`.execute(
          ctx.db,
        );
      },
      { timeout: 8_000 },
    );
    // Renewed beyond what the first lease would have been.
    await vi.waitFor(
      async () =>
        expect((await rowOf(id)).lease_until!.getTime()).toBeGreaterThan(before!.until.getTime() + 1_200),
      { timeout: 8_000 },
    );
    open.resolve();
    await settled(id, 'succeeded');
    expect(outside.asked).toEqual(['POST', 'GET']);
  });

  test('one that was only slow cannot settle any more once it is uncertain: looking does', async () => {
    const open = Promise.withResolvers<void>();
    outside.onPost = (_request, response, done) => {
      const thing = done();
      void open.promise.then(() => response.writeHead(201).end(JSON.stringify({ ...thing, name: 'late' })));
    };
    const slow = make(randomUUID());
    const [id] = await vi.waitFor(() => {
      expect(outside.things.size).toBe(1);
      return [...outside.things.keys()];
    });
    await transaction(ctx, (tx) => makeUncertain(tx, { operationId: id!, fence: 1 }));
    open.resolve();
    expect(code(await slow)).toBe('503 unavailable');
    expect((await operation(id!)).status).toBe('uncertain');
    startWorker();
    await settled(id!, 'succeeded');
    expect((await operation(id!)).response.thing).toEqual(outside.things.get(id!));
    expect(await published(id!)).toEqual(['pending', 'uncertain', 'succeeded']);
  });
});
