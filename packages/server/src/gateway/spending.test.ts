import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { json } from '../db/schema.ts';
import { newId } from '../ids.ts';
import { answerAll, COST, newGatewayBench, PATHS, PRICE, request, WIRES } from './gateway.fixture.ts';
import type { GatewayBench, Run } from './gateway.fixture.ts';
import { reserve } from './reserve.ts';
import type { Reservation } from './reserve.ts';
import { settle } from './settle.ts';
import { spendRefusal } from '../usage/index.ts';
import { sweepCalls } from './sweep.ts';

let b: GatewayBench;
beforeAll(async () => {
  b = await newGatewayBench();
});
afterAll(async () => {
  await b?.close();
});

const db = () => b.s.service.ctx.db;
/** What a call reserves: its body, room for a maximum, the frame, and its output. */
const reservedBy = (body: Record<string, unknown>, maxOutput: number) =>
  Buffer.byteLength(JSON.stringify('input' in body ? { ...body, store: false } : body)) +
  64 +
  2000 +
  2 * maxOutput;
const until = async (holds: () => Promise<boolean>) => {
  const end = Date.now() + 5_000;
  while (!(await holds())) if (Date.now() > end) throw new Error('it did not come about in 5 s');
};

describe('a limit', () => {
  test.each([0, 1])(
    'that allows three of eight calls at once lets three through, and is not passed (calls before: %i)',
    async (before) => {
      const body = request('anthropic', 300);
      const run = await b.run({ limit: 3 * reservedBy(body, 300) + 100 + before * COST });
      b.upstream.answers(answerAll);
      for (let i = 0; i < before; i++) expect((await b.call(run, PATHS.anthropic, body)).status).toBe(200);
      let release = () => {};
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      const seenBefore = b.upstream.seen.length;
      b.upstream.answers(async (res, seen) => {
        await released;
        answerAll(res, seen);
      });
      const calls = Array.from({ length: 8 }, () => b.call(run, PATHS.anthropic, body));
      const refused = Promise.all(
        calls.map(async (call) => {
          const answer = await call;
          return answer.status === 402 ? answer : null;
        }),
      );
      await until(async () => (await b.look(run)).run.model_failure?.count === 5);
      expect((await b.look(run)).thread).toEqual({
        spent: before * COST,
        reserved: 3 * reservedBy(body, 300),
      });
      release();
      const answers = await Promise.all(calls);
      expect((await refused).filter((one) => one !== null)).toHaveLength(5);
      expect([
        answers.filter((one) => one.status === 200).length,
        b.upstream.seen.length - seenBefore,
      ]).toEqual([3, 3]);
      expect(answers.find((one) => one.status === 402)).toMatchObject({
        headers: { 'x-should-retry': 'false' },
        body: {
          type: 'error',
          error: {
            type: 'billing_error',
            message: expect.stringContaining("The thread's spend limit leaves 100 micro-units"),
          },
        },
      });
      const all = before + 3;
      expect(await b.look(run)).toMatchObject({
        run: {
          cost_micros: all * COST,
          input_tokens: all * 100,
          output_tokens: all * 50,
          cached_tokens: all * 40,
        },
        thread: { spent: all * COST, reserved: 0 },
        project: { spent: all * COST, reserved: 0 },
        outcomes: Array.from({ length: all }, () => 'ok'),
      });
    },
  );

  test.each(WIRES)('cuts the maximum of output to what it pays for: %s', async (wire) => {
    b.upstream.answers(answerAll);
    const body = request(wire, 10_000);
    const run = await b.run({ limit: reservedBy(body, 400) + 1 });
    expect((await b.call(run, PATHS[wire], body)).status).toBe(200);
    const sent = b.upstream.seen.at(-1)!.body;
    expect([
      sent.max_tokens ?? sent.max_completion_tokens ?? sent.max_output_tokens,
      (await b.look(run)).outcomes,
    ]).toEqual([400, ['ok']]);
  });

  test('gives a maximum to a call that says none, as servers of each wire know it; without a limit it says none', async () => {
    b.upstream.answers(answerAll);
    for (const [wire, name] of [
      ['openai-chat', 'max_tokens'],
      ['openai-responses', 'max_output_tokens'],
    ] as const) {
      const { max_completion_tokens: _, max_output_tokens: __, ...body } = request(wire, 1);
      expect((await b.call(await b.run({ limit: 10_000_000 }), PATHS[wire], body)).status).toBe(200);
      expect(b.upstream.seen.at(-1)!.body[name]).toBe(32_768);
      expect((await b.call(await b.run(), PATHS[wire], body)).status).toBe(200);
      expect(Object.keys(b.upstream.seen.at(-1)!.body).filter((field) => field.includes('max'))).toEqual([]);
    }
  });

  test('refuses what leaves less than 256 tokens of output, or less than was asked for, or than thinking takes', async () => {
    const body = request('anthropic', 10_000);
    const before = b.upstream.seen.length;
    for (const [more, room] of [
      [{}, 255],
      [{ max_tokens: 20 }, 19],
      [{ thinking: { type: 'enabled', budget_tokens: 4_000 } }, 4_000],
    ] as const) {
      const asked = { ...body, ...more };
      const run = await b.run({ limit: reservedBy(asked, room) });
      expect((await b.call(run, PATHS.anthropic, asked)).status).toBe(402);
      expect((await b.look(run)).thread).toEqual({ spent: 0, reserved: 0 });
      await db()
        .updateTable('threads')
        .set({ spend_limit_micros: reservedBy(asked, room + 1) })
        .where('id', '=', run.threadId)
        .execute();
      expect((await b.call(run, PATHS.anthropic, asked)).status).toBe(200);
    }
    expect(b.upstream.seen.length - before).toBe(3);
  });

  test('that is reached is an error on each wire that agents understand', async () => {
    const run = await b.run({ limit: 0 });
    for (const wire of WIRES) {
      const answer = await b.call(run, PATHS[wire], request(wire, 10));
      const message = "The thread's spend limit is reached. Raise it to go on.";
      expect([answer.status, answer.headers['x-should-retry']]).toEqual([
        wire === 'openai-responses' ? 429 : 402,
        'false',
      ]);
      expect(answer.body.error).toEqual(
        wire === 'anthropic'
          ? { type: 'billing_error', message }
          : { type: 'insufficient_quota', message, param: null, code: 'insufficient_quota' },
      );
    }
    expect((await b.look(run)).run.model_failure).toEqual({
      code: 'spend_limit_reached',
      message: "The thread's spend limit is reached. Raise it to go on.",
      count: 3,
    });
  });

  test('refuses a model without a price; without a limit it passes and costs nothing', async () => {
    b.upstream.answers(answerAll);
    const body = request('anthropic', 10, { model: 'unheard-of' });
    expect(await b.call(await b.run({ limit: 1_000_000 }), PATHS.anthropic, body)).toMatchObject({
      status: 402,
      body: {
        error: {
          message: expect.stringMatching(
            /^The price of the model acme\/unheard-of is not known.* Set its price/,
          ),
        },
      },
    });
    const run = await b.run();
    expect((await b.call(run, PATHS.anthropic, body)).status).toBe(200);
    expect(await b.look(run)).toMatchObject({
      run: { cost_micros: 0, input_tokens: 100 },
      thread: { spent: 0, reserved: 0 },
    });
  });

  test('refuses a document, whose tokens nobody can bound; without a limit it passes', async () => {
    b.upstream.answers(answerAll);
    const body = request('anthropic', 10, {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' } },
          ],
        },
      ],
    });
    expect(await b.call(await b.run({ limit: 1_000_000 }), PATHS.anthropic, body)).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringMatching(/^A document has no bound/) } },
    });
    expect((await b.call(await b.run(), PATHS.anthropic, body)).status).toBe(200);
  });

  test('holds a free model not at all', async () => {
    const { config } = b.s.service.ctx;
    config.prices['acme/free'] = { inputMicros: 0, outputMicros: 0, cachedMicros: 0, cacheWriteMicros: 0 };
    b.upstream.answers(answerAll);
    expect(
      (
        await b.call(
          await b.run({ limit: 0 }),
          PATHS.anthropic,
          request('anthropic', 10_000, { model: 'free' }),
        )
      ).status,
    ).toBe(200);
  });
});

describe('budgets of a month', () => {
  test('of an app hold for all of its threads, and for this month alone', async () => {
    b.upstream.answers(answerAll);
    const body = request('anthropic', 300);
    const projectId = newId('prj');
    const settings = { budgetMicros: COST + reservedBy(body, 300) };
    const [one, two] = [await b.run({ projectId, settings }), await b.run({ projectId })];
    await db()
      .insertInto('spending')
      .values({ org_id: b.orgId, scope_id: projectId, period: '2020-01', spent_micros: 1e9 })
      .execute();
    expect([
      (await b.call(one, PATHS.anthropic, body)).status,
      (await b.call(two, PATHS.anthropic, body)).status,
    ]).toEqual([200, 200]);
    await db()
      .updateTable('spending')
      .set({ spent_micros: settings.budgetMicros })
      .where('scope_id', '=', projectId)
      .where('period', '!=', '2020-01')
      .execute();
    expect((await b.call(two, PATHS.anthropic, body)).body.error.message).toBe(
      "The app's budget for this month is reached. Raise it, or wait for the next month.",
    );
    const row = await db().selectFrom('runs').selectAll().where('id', '=', two.id).executeTakeFirstOrThrow();
    expect(await spendRefusal(db(), row)).toEqual({
      code: 'spend_limit_reached',
      message: "The app's budget for this month is reached. Raise it, or wait for the next month.",
    });
    expect(await spendRefusal(db(), { ...row, agent: 'scripted' })).toBe(null);
    expect(
      await spendRefusal(
        db(),
        { ...row, model_id: 'acme/free' },
        {
          prices: {
            'acme/*': { ...PRICE, inputMicros: 0, outputMicros: 0, cachedMicros: 0, cacheWriteMicros: 0 },
          },
          providers: {},
        },
      ),
    ).toBe(null);
  });

  test('of the organization hold over its apps', async () => {
    const run = await b.run();
    const budget = (value: number | null) =>
      db()
        .updateTable('organizations')
        .set({ settings: json({ budgetMicros: value }) })
        .where('id', '=', b.orgId)
        .execute();
    await budget(1);
    try {
      expect((await b.call(run, PATHS.anthropic, request('anthropic', 10))).body.error.message).toBe(
        "The organization's budget for this month is reached. Raise it, or wait for the next month.",
      );
    } finally {
      await budget(null);
    }
  });
});

test("a lease begins when the wait for the rows of the call's money is over", async () => {
  const { ctx } = b.s.service;
  const run = await b.run({ limit: 1000 });
  const of = {
    org_id: b.orgId,
    project_id: run.projectId,
    thread_id: run.threadId,
    runId: run.id,
    provider: 'acme',
    model: 'priced',
  };
  const bound = () => ({ inputTokens: 1, outputTokens: 1, maxOutput: 1, micros: 1 });
  await reserve(ctx, of, bound);
  for (const known of [undefined, { priced: PRICE }]) {
    let calling: ReturnType<typeof reserve> | undefined;
    await db()
      .transaction()
      .execute(async (tx) => {
        await tx
          .selectFrom('spending')
          .selectAll()
          .where('scope_id', '=', run.threadId)
          .forUpdate()
          .execute();
        calling = reserve(ctx, { ...of, ...(known ? { known } : {}) }, bound);
        await new Promise((resolve) => {
          setTimeout(resolve, 500);
        });
      });
    const { reservation } = (await calling) as { reservation: Reservation };
    const { created_at, lease_until } = await db()
      .selectFrom('model_calls')
      .select(['created_at', 'lease_until'])
      .where('id', '=', reservation.id)
      .executeTakeFirstOrThrow();
    expect(lease_until.getTime() - created_at.getTime()).toBeGreaterThan(20_200);
  }
});

test('a call whose process died is charged whole, once, and its late end changes nothing', async () => {
  const { ctx } = b.s.service;
  const run = await b.run({ limit: 1000 });
  const of = {
    org_id: b.orgId,
    project_id: run.projectId,
    thread_id: run.threadId,
    runId: run.id,
    provider: 'acme',
    model: 'priced',
  };
  const reserved = await reserve(ctx, of, () => ({
    inputTokens: 1,
    outputTokens: 1,
    maxOutput: 1,
    micros: 700,
  }));
  const { reservation } = reserved as { reservation: Reservation };
  expect(await sweepCalls(ctx)).toBe(0);
  await db()
    .updateTable('model_calls')
    .set({ lease_until: new Date(0) })
    .where('id', '=', reservation.id)
    .execute();
  expect((await Promise.all([sweepCalls(ctx), sweepCalls(ctx)])).reduce((a, c) => a + c)).toBe(1);
  expect(await settle(ctx, reservation, { outcome: 'ok', usage: null, cost: 5, failure: null })).toBe(false);
  expect(await b.look(run)).toMatchObject({
    run: { cost_micros: 700 },
    thread: { spent: 700, reserved: 0 },
    project: { spent: 700 },
    outcomes: ['lost'],
  });
});

test('whatever calls come at once, and however they end: what is spent and reserved is never above a limit', async () => {
  const { ctx } = b.s.service;
  const call = fc.record({
    thread: fc.nat(1),
    most: fc.integer({ min: 0, max: 60 }),
    share: fc.integer({ min: 0, max: 100 }),
    isRepeated: fc.boolean(),
    dies: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(call, { minLength: 2, maxLength: 14 }),
      fc.integer({ min: 0, max: 120 }),
      fc.integer({ min: 0, max: 150 }),
      async (calls, limit, budget) => {
        const projectId = newId('prj');
        const runs = [
          await b.run({ projectId, limit, settings: { budgetMicros: budget } }),
          await b.run({ projectId, limit: limit * 2 }),
        ];
        // The rows exist from now on: a call that no limit cuts is reserved in one statement.
        const ofRun = (run: Run) => ({
          org_id: b.orgId,
          project_id: projectId,
          thread_id: run.threadId,
          runId: run.id,
          provider: 'acme',
          model: 'priced',
        });
        for (const run of runs)
          await settle(
            ctx,
            (
              (await reserve(ctx, ofRun(run), () => ({
                inputTokens: 1,
                outputTokens: 1,
                maxOutput: 1,
                micros: 0,
              }))) as { reservation: Reservation }
            ).reservation,
            { outcome: 'ok', usage: null, cost: 0, failure: null },
          );
        let worst = 0;
        const holds = async () => {
          for (const run of runs) {
            const { thread, project } = await b.look(run);
            worst = Math.max(
              worst,
              thread.spent + thread.reserved - (run === runs[0] ? limit : limit * 2),
              project.spent + project.reserved - budget,
            );
          }
        };
        await Promise.all(
          calls.map(async ({ thread, most, share, isRepeated, dies }) => {
            const run = runs[thread]!;
            const reserved = await reserve(
              ctx,
              { ...ofRun(run), ...(isRepeated ? { known: { priced: PRICE } } : {}) },
              (_, remaining) =>
                remaining !== null && remaining < most
                  ? null
                  : { inputTokens: 1, outputTokens: 1, maxOutput: 1, micros: most },
            );
            await holds();
            if (reserved.kind !== 'reserved') return;
            if (dies)
              await db()
                .updateTable('model_calls')
                .set({ lease_until: new Date(0) })
                .where('id', '=', reserved.reservation.id)
                .execute();
            else
              await settle(ctx, reserved.reservation, {
                outcome: 'ok',
                usage: null,
                cost: Math.floor((most * share) / 100),
                failure: null,
              });
            await sweepCalls(ctx);
            await holds();
          }),
        );
        await until(async () => (await sweepCalls(ctx)) === 0);
        await holds();
        const looks = await Promise.all(runs.map((run) => b.look(run)));
        expect(worst).toBeLessThanOrEqual(0);
        expect(looks.map((one) => one.thread.reserved + one.project.reserved)).toEqual([0, 0]);
        expect(looks[0]!.thread.spent + looks[1]!.thread.spent).toBe(looks[0]!.project.spent);
        expect(looks.map((one) => one.run.cost_micros)).toEqual(looks.map((one) => one.thread.spent));
      },
    ),
    { numRuns: 15 },
  );
}, 60_000);
