/** Two services on one database: what one has under way is not in the other's memory. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Context } from '../context.ts';
import type { ApiError } from '../http/errors.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestAnswer, TestServer } from '../service.fixture.ts';
import { digest, requestOf } from './receipts.fixture.ts';
import { writeOnce } from './receipts.ts';
import { writeClaimed } from './write-claimed.ts';
import { inTurn } from './rivals.ts';
import { inProgress, RIVAL_MS } from './take-key.ts';
import type { WriteResult } from '../http/write-request.ts';

const P = '/api/platform/v1';
let services: TestServer[];
let here: Context;
let elsewhere: Context;
let orgId: string;
beforeAll(async () => {
  const first = await startTestServer({ HEADRACE_ROLES: 'api' });
  services = [
    first,
    await startTestServer({ HEADRACE_ROLES: 'api', DATABASE_URL: first.service.ctx.config.databaseUrl! }),
  ];
  [here, elsewhere] = services.map((s) => s.service.ctx) as [Context, Context];
  ({ id: orgId } = await here.db.selectFrom('organizations').select('id').executeTakeFirstOrThrow());
});
afterAll(async () => {
  for (const s of services.toReversed()) await s.close();
});

const receiptOf = (answer: TestAnswer) => answer.headers.get('x-operation-id');
/** Through one service or the other, until another's copy is not in progress any more. */
async function send(
  n: number,
  method: string,
  path: string,
  body: unknown,
  idem: string,
): Promise<TestAnswer> {
  for (const deadline = performance.now() + 15_000; performance.now() < deadline;) {
    const answer = await services[n % 2]!.call(method, path, body, { idem, key: services[0]!.key });
    if (answer.body?.error?.code !== 'request_in_progress') return answer;
  }
  throw new Error('the write does not end');
}
const OK: WriteResult = { status: 201, body: { ok: true } };
const refusalOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error as ApiError,
  );

describe('eight copies at once, four at each', () => {
  const copies = (method: string, path: string, body: unknown, idem = randomUUID()) =>
    Promise.all(Array.from({ length: 8 }, (_, n) => send(n, method, path, body, idem)));

  test.each(Array.from({ length: 6 }, (_, round) => round))(
    'have one effect and one answer (round %i)',
    async () => {
      const name = randomUUID();
      const answers = await copies('POST', '/api/projects', { name });
      expect(new Set(answers.map((a) => `${a.status} ${a.text} ${receiptOf(a)}`)).size).toBe(1);
      expect(answers[0]!.status).toBe(201);
      expect(answers.filter((a) => a.headers.get('idempotent-replayed') !== 'true')).toHaveLength(1);
      expect(
        await here.db.selectFrom('projects').select('id').where('name', '=', name).execute(),
      ).toHaveLength(1);
    },
  );

  test('of a staged write, and of one that is refused, too', async () => {
    const app = (await services[0]!.call('POST', `${P}/apps`, { name: 'n' })).body.app.id as string;
    const imported = await copies('POST', `${P}/apps/${app}/sources`, {
      files: [{ path: 'a', content: 'a' }],
    });
    const refused = await copies('PATCH', `${P}/apps/${app}`, { name: 'x', expectedVersion: 77 });
    for (const [answers, status] of [
      [imported, 201],
      [refused, 409],
    ] as const) {
      expect(new Set(answers.map((a) => `${a.text} ${receiptOf(a)}`)).size).toBe(1);
      expect(answers.map((a) => a.status)).toEqual(answers.map(() => status));
      expect(answers.filter((a) => a.headers.get('idempotent-replayed') !== 'true')).toHaveLength(1);
    }
    expect(
      await here.db.selectFrom('sources').select('id').where('project_id', '=', app).execute(),
    ).toHaveLength(1);
  });
});

describe('a transaction that is held open in one', () => {
  test('is named to a rival in the other by the operation that it commits later', async () => {
    const request = { ...requestOf(orgId), permissions: ['project:read'] };
    const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const first = writeOnce(here, request, async () => {
      begun.resolve();
      await gate.promise;
      return OK;
    });
    await begun.promise;
    const from = performance.now();
    const rivals = await Promise.all([
      refusalOf(writeOnce(elsewhere, request, async () => OK)),
      refusalOf(writeClaimed(elsewhere, request, { mode: 'staged', publishesPending: true }, async () => OK)),
    ]);
    expect(performance.now() - from).toBeLessThan(5_000);
    gate.resolve();
    const { operationId } = await first;
    for (const rival of rivals)
      expect(rival).toMatchObject({ code: 'request_in_progress', details: { operationId } });
    expect(
      (await services[1]!.call('GET', `/api/operations/${operationId}`, undefined, { key: services[0]!.key }))
        .body.operation,
    ).toMatchObject({ id: operationId, status: 'succeeded' });
  });

  test("is seen by its connection's name, which is its own again afterwards", async () => {
    const request = requestOf(orgId);
    await writeOnce(here, request, async (tx) => {
      const { rows } = await sql<{
        name: string;
      }>`select current_setting('application_name') as name`.execute(tx.db);
      expect(rows[0]!.name).toMatch(/^op_/);
      return OK;
    });
    const { rows } = await sql<{
      names: number;
    }>`select count(*)::int as names from pg_stat_activity where datname = current_database() and application_name like 'op\\_%'`.execute(
      here.db,
    );
    expect(rows[0]!.names).toBe(0);
  });

  test('with another payload is a conflict as soon as the first is committed or claimed, also while that is pending', async () => {
    const request = requestOf(orgId);
    await writeClaimed(here, request, { mode: 'job', publishesPending: true }, async () => OK);
    expect(
      await refusalOf(writeOnce(elsewhere, { ...request, fingerprint: digest('two') }, async () => OK)),
    ).toMatchObject({ code: 'idempotency_conflict' });
    expect(await refusalOf(writeOnce(elsewhere, request, async () => OK))).toMatchObject({
      code: 'request_in_progress',
    });
  });
});

test("who waits in one service for a rival that waits for another process is told of that process's operation", async () => {
  const request = requestOf(orgId);
  // As `takeKey` gives up, a little later than this process loses its patience.
  const first = inTurn(here, request, async () => {
    await new Promise((resolve) => {
      setTimeout(resolve, RIVAL_MS + 300);
    });
    throw inProgress('op_far');
  });
  const second = inTurn(here, request, async () => 'went on');
  for (const rival of await Promise.all([refusalOf(first), refusalOf(second)]))
    expect(rival).toMatchObject({ code: 'request_in_progress', details: { operationId: 'op_far' } });
});

test('waiters of one key in one service go on one after the other, and none is left behind', async () => {
  const request = requestOf(orgId);
  let atOnce = 0;
  const write = vi.fn(async () => {
    expect(++atOnce).toBe(1);
    await new Promise((resolve) => {
      setTimeout(resolve, 5);
    });
    atOnce--;
    throw new Error('nothing was done');
  });
  await Promise.allSettled(Array.from({ length: 12 }, () => writeOnce(here, request, write)));
  expect(write).toHaveBeenCalledTimes(12);
  expect(await writeOnce(here, { ...request, fingerprint: digest('two') }, async () => OK)).toMatchObject({
    status: 201,
    replayed: false,
  });
});
