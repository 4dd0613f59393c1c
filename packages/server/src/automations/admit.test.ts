import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ExecutionRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { admit, admitAll } from './admit.ts';
import type { Trigger } from './admit.ts';
import { newAutomation, newProject } from './automations.fixture.ts';
import { lockAutomations, moveExecution } from './execution-store.ts';

let s: TestServer;
let projectId: string;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  projectId = await newProject(s);
});
afterAll(() => s?.close());

const newId = async (fields: Record<string, unknown>): Promise<string> =>
  (await newAutomation(s, projectId, fields)).automation.id;

/** Admits some at once; returns what they became. */
async function admitted(id: string, triggers: readonly Trigger[]): Promise<ExecutionRow[]> {
  return transaction(s.service.ctx, async (tx) => {
    const [locked] = await lockAutomations(tx, [id]);
    return admitAll(
      tx,
      triggers.map((trigger) => ({ ...locked!, trigger })),
    );
  });
}
const wordOf = ({ status, skipped_reason: reason }: ExecutionRow): string => reason ?? status;

/** The rules in other words: all executions that are there, looked through one by one. */
interface Known {
  id: string;
  key: string;
  isRated: boolean;
  status: string;
}
function expected(overlap: string, known: readonly Known[], { kind, key = '', depth = 1 }: Trigger): string {
  const open = known.filter((one) => one.key === key && ['queued', 'running'].includes(one.status));
  if (overlap === 'skip' && open.length > 0) return 'overlap';
  const running = open.filter(({ status }) => status === 'running').length;
  const waiting = open.length - Math.max(running, 1);
  if (overlap === 'queue' && waiting >= 10) return 'queue_full';
  const isRated = kind === 'event' || kind === 'webhook';
  const rated = known.filter((one) => one.isRated && one.status !== 'skipped').length;
  if (isRated && rated >= 60) return 'rate';
  return depth > 3 ? 'loop' : 'queued';
}

const trigger: fc.Arbitrary<Trigger> = fc.record({
  kind: fc.constantFrom('schedule', 'event', 'webhook'),
  key: fc.constantFrom(undefined, 'issue 1', 'issue 2'),
  depth: fc.constantFrom(1, 1, 1, 3, 4),
});
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.array(trigger, { minLength: 1, maxLength: 16 }).map((triggers) => ({ triggers })),
  },
  { weight: 1, arbitrary: fc.nat().map((begins) => ({ begins })) },
  { weight: 1, arbitrary: fc.nat().map((ends) => ({ ends })) },
);

describe('admission', () => {
  test('follows a model, whatever is admitted, begins and ends, one by one or many at once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('skip', 'queue', 'allow'),
        fc.array(step, { minLength: 1, maxLength: 14 }),
        async (overlap, steps) => {
          const id = await newId({ overlap });
          const known: Known[] = [];
          const move = async (from: readonly string[], at: number, event: 'begin' | 'complete') => {
            const open = known.filter(({ status }) => from.includes(status));
            const one = open[at % open.length];
            if (!one) return;
            const row = await transaction(s.service.ctx, (tx) => moveExecution(tx, one.id, event));
            one.status = row!.status;
          };
          for (const one of steps) {
            if ('begins' in one) await move(['queued'], one.begins, 'begin');
            else if ('ends' in one) await move(['running'], one.ends, 'complete');
            else {
              const rows = await admitted(id, one.triggers);
              for (const [n, row] of rows.entries()) {
                const asked = one.triggers[n]!;
                expect(wordOf(row)).toBe(expected(overlap, known, asked));
                known.push({
                  id: row.id,
                  key: asked.key ?? '',
                  isRated: asked.kind !== 'schedule',
                  status: row.status,
                });
              }
            }
          }
        },
      ),
      { numRuns: 12 },
    );
  });

  test('is serialized per automation: of ten concurrent executions with skip, one is admitted', async () => {
    const id = await newId({ overlap: 'skip' });
    const rows = await Promise.all(
      Array.from({ length: 10 }, () =>
        transaction(s.service.ctx, (tx) => admit(tx, { id }, { kind: 'webhook' })),
      ),
    );
    expect(rows.map(wordOf).sort()).toEqual([...Array<string>(9).fill('overlap'), 'queued']);
  });

  test('a time or an event creates one execution, however often it is seen', async () => {
    const id = await newId({ overlap: 'allow' });
    const event = { id: 'evt_1', type: 'run.completed', data: {}, threadId: null, runId: null };
    const both: Trigger[] = [
      { kind: 'schedule', scheduledFor: new Date(0) },
      { kind: 'event', event },
    ];
    expect((await admitted(id, both)).map(wordOf)).toEqual(['queued', 'queued']);
    expect(await admitted(id, both)).toEqual([]);
  });

  test('stores only the first of hundreds of skipped executions by events in an hour, and recovers afterwards', async () => {
    const id = await newId({ overlap: 'skip' });
    const events = (count: number): Trigger[] =>
      Array.from({ length: count }, (_, n) => ({
        kind: 'event' as const,
        event: { id: `evt_${count}_${n}`, type: 'run.completed', data: {}, threadId: null, runId: null },
      }));
    const made = await admitted(id, events(1_200));
    expect(made.map(wordOf)).toEqual(['queued', ...Array<string>(200).fill('overlap')]);
    expect(await admitted(id, events(20))).toEqual([]);
    await transaction(s.service.ctx, (tx) => moveExecution(tx, made[0]!.id, 'cancel'));
    expect((await admitted(id, events(3))).map(wordOf)).toEqual(['queued']);
  });

  test('stores hundreds of skipped executions by hooks in an hour without their payloads', async () => {
    const id = await newId({ overlap: 'skip' });
    const hooks = (count: number) =>
      Array.from({ length: count }, (): Trigger => ({ kind: 'webhook', payload: { a: 1 } }));
    const made = [...(await admitted(id, hooks(210))), ...(await admitted(id, hooks(1)))];
    expect(made.map(wordOf)).toEqual(['queued', ...Array<string>(210).fill('overlap')]);
    expect(made.map(({ payload }) => payload)).toEqual([
      ...Array.from({ length: 201 }, () => ({ a: 1 })),
      ...Array<null>(10).fill(null),
    ]);
  });

  test('stops at the monthly limit of the threads', async () => {
    const id = await newId({ overlap: 'allow', monthlyLimitMicros: 100 });
    const { ctx } = s.service;
    const thread = (await s.call('POST', '/api/threads', { projectId, message: { content: 'x' } })).body;
    await ctx.db
      .updateTable('threads')
      .set({ automation_id: id })
      .where('id', '=', thread.thread.id)
      .execute();
    const setRun = (columns: { cost_micros?: number; created_at?: Date }) =>
      ctx.db.updateTable('runs').set(columns).where('id', '=', thread.run.id).execute();
    const admitOne = async () => wordOf((await admitted(id, [{ kind: 'webhook' }]))[0]!);
    await setRun({ cost_micros: 99 });
    expect(await admitOne()).toBe('queued');
    await setRun({ cost_micros: 100 });
    expect(await admitOne()).toBe('limit');
    const now = new Date();
    await setRun({ created_at: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth()) - 1) });
    expect(await admitOne()).toBe('queued');
  });
});

test('more executions than one statement takes are made in one transaction', async () => {
  const id = await newId({ overlap: 'allow' });
  const triggers = Array.from({ length: 4_200 }, (_, n) => ({
    kind: 'schedule' as const,
    scheduledFor: new Date(n * 60_000),
  }));
  const rows = await admitted(id, triggers);
  expect(rows.map((row) => row.scheduled_for)).toEqual(triggers.map(({ scheduledFor }) => scheduledFor));
});

test('no execution ends before it was created, whichever transaction began first', async () => {
  const id = await newId({});
  const [made, ended] = await transaction(s.service.ctx, async (tx) => {
    await sql`select now()`.execute(tx.db);
    const rows = await admitted(id, [{ kind: 'schedule' }, { kind: 'schedule' }]);
    return [rows, await moveExecution(tx, rows[0]!.id, 'cancel')];
  });
  const [first, skipped] = made;
  expect(ended!.finished_at!.getTime()).toBeGreaterThanOrEqual(first!.created_at.getTime());
  expect(skipped!.finished_at).toEqual(skipped!.created_at);
});
