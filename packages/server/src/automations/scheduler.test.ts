import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { json } from '../db/schema.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import * as admission from './admit.ts';
import { newAutomation, newProject } from './automations.fixture.ts';
import { makeDue, startScheduler } from './scheduler.ts';

let s: TestServer;
let projectId: string;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  projectId = await newProject(s);
});
afterAll(() => s?.close());

const HOUR = 3_600_000;
/** Far from the time of the test, so that no test's automations are due in another. */
let day = Date.UTC(2100, 0, 1);
const nextDay = (): number => (day += 48 * HOUR);

/** An hourly one that is due at a time. */
async function newHourly(next: number, fields: Record<string, unknown> = {}): Promise<string> {
  const trigger = { kind: 'schedule', cron: '0 * * * *', timeZone: 'UTC' };
  const { automation } = await newAutomation(s, projectId, { trigger, overlap: 'allow', ...fields });
  await s.service.ctx.db
    .updateTable('automations')
    .set({ next_run_at: new Date(next) })
    .where('id', '=', automation.id)
    .execute();
  return automation.id;
}
const made = async (id: string): Promise<number[]> =>
  (
    await s.service.ctx.db
      .selectFrom('executions')
      .select('scheduled_for')
      .where('automation_id', '=', id)
      .orderBy('scheduled_for')
      .execute()
  ).map((row) => row.scheduled_for!.getTime());
const nextOf = async (id: string): Promise<number | null> =>
  (
    await s.service.ctx.db
      .selectFrom('automations')
      .select('next_run_at')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
  ).next_run_at?.getTime() ?? null;
const round = (now: number) => makeDue(s.service.ctx, new Date(now));

describe('a due time', () => {
  test('starts one execution, and the schedule moves on', async () => {
    const noon = nextDay();
    const id = await newHourly(noon);
    expect(await round(noon - 1)).toBe(0);
    expect(await round(noon + 20)).toBe(1);
    expect(await round(noon + 20)).toBe(0);
    expect([await made(id), await nextOf(id)]).toEqual([[noon], noon + HOUR]);
  });

  test('starts one execution with several concurrent processes', async () => {
    const noon = nextDay();
    const ids = await Promise.all(Array.from({ length: 20 }, () => newHourly(noon)));
    await Promise.all(Array.from({ length: 6 }, () => round(noon)));
    for (const id of ids) expect(await made(id)).toEqual([noon]);
  });

  test('is taken by another round if the process of the first one dies', async () => {
    const noon = nextDay();
    const id = await newHourly(noon);
    const spy = vi.spyOn(admission, 'admitAll');
    spy.mockRejectedValueOnce(new Error('killed'));
    await expect(round(noon)).rejects.toThrow('killed');
    spy.mockRestore();
    expect([await made(id), await nextOf(id)]).toEqual([[], noon]);
    await round(noon + 1_000);
    expect([await made(id), await nextOf(id)]).toEqual([[noon], noon + HOUR]);
  });

  test('starts one execution while the clock steps forward and back', async () => {
    const noon = nextDay();
    const id = await newHourly(noon);
    const steps = [0, -HOUR, 2, HOUR, HOUR - 5_000, 10, 3 * HOUR, 2 * HOUR, 3 * HOUR + 4_000, 4 * HOUR];
    for (const step of steps) await round(noon + step);
    // What was missed by a step forth is made up once; the time after it is ahead.
    expect(await made(id)).toEqual([0, 1, 2, 3, 4].map((n) => noon + n * HOUR));
    expect(await nextOf(id)).toBe(noon + 5 * HOUR);
  });

  test('after downtime is the newest of a day, once, and none without catchUp', async () => {
    const noon = nextDay();
    const [one, none] = [await newHourly(noon), await newHourly(noon, { catchUp: false })];
    await round(noon + 7.5 * HOUR);
    expect([await made(one), await nextOf(one)]).toEqual([[noon + 7 * HOUR], noon + 8 * HOUR]);
    expect([await made(none), await nextOf(none)]).toEqual([[], noon + 8 * HOUR]);
  });

  test('of a schedule that can no longer be read ends that schedule, and no other', async () => {
    const noon = nextDay();
    const [lost, other] = [await newHourly(noon), await newHourly(noon)];
    await s.service.ctx.db
      .updateTable('automations')
      .set({ trigger: json({ kind: 'schedule', cron: '0 * * * *', timeZone: 'Mars/Olympus' }) })
      .where('id', '=', lost)
      .execute();
    await round(noon);
    expect([await made(lost), await nextOf(lost), await made(other)]).toEqual([[], null, [noon]]);
  });

  test('is skipped while the organization lacks automations', async () => {
    const noon = nextDay();
    const id = await newHourly(noon);
    const { ctx } = s.service;
    await makeDue({ ...ctx, config: { ...ctx.config, disabled: ['automations'] } }, new Date(noon));
    await round(noon + 1_000);
    expect([await made(id), await nextOf(id)]).toEqual([[], noon + HOUR]);
  });
});

test('a scheduler starts due executions by the clock of the database', async () => {
  const noon = nextDay();
  const id = await newHourly(noon);
  const { ctx } = s.service;
  const scheduler = startScheduler({ ...ctx, clock: { offsetMs: noon - Date.now() - 300 } });
  try {
    await vi.waitFor(async () => expect(await made(id)).toEqual([noon]), { timeout: 5_000 });
  } finally {
    await scheduler.stop();
  }
});
