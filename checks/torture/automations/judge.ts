/** Compares the executions in PostgreSQL with the clock and the log. */
import type pg from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Setup } from '../lib/part.ts';
import type { TestedClock } from './clock.ts';
import { dueTimes, judgeTimes } from './due.ts';
import { EVENT_TYPES } from './world.ts';
import type { Scheduled, World } from './world.ts';

const MADE_LIMIT_MS = 45_000;
const STANDSTILL_MS = 60_000;
const LOOK_MS = 100;
const SHOWN = 5;

/** The scheduled times of each automation's executions. */
async function timesMade(table: pg.Client): Promise<Map<string, number[]>> {
  const { rows } = await table.query<{ id: string; times: number[] }>(
    `select automation_id as id, array_agg(extract(epoch from scheduled_for)::float8 * 1000 order by id) as times
    from executions where scheduled_for is not null group by 1`,
  );
  return new Map(rows.map(({ id, times }) => [id, times]));
}

/** Resolves when all times due by now have executions; throws if that takes too long. */
export async function allMade(
  setup: Setup,
  table: pg.Client,
  { scheduled }: World,
  clock: TestedClock,
): Promise<void> {
  for (
    const deadline = Date.now() + MADE_LIMIT_MS;
    ;
    await sleep(LOOK_MS, undefined, { signal: setup.signal })
  ) {
    const spans = clock.spans();
    const made = await timesMade(table);
    const behind = [...scheduled.values()].flatMap((one) => {
      const { missing } = judgeTimes(dueTimes(one, spans), made.get(one.id) ?? []);
      return one.catchUp && missing.length ? [`${one.id} at ${missing.map(textOf).join(', ')}`] : [];
    });
    if (behind.length === 0) return;
    if (Date.now() > deadline)
      throw new Error(
        `${behind.length} automations missed a time for ${MADE_LIMIT_MS / 1000} s, now ${textOf(clock.now())}: ${behind.slice(0, SHOWN).join('; ')}`,
      );
  }
}

const textOf = (time: number) => new Date(time).toISOString();

/** Resolves when no execution is open, or when nothing changes any more; returns what is left. */
export async function untilEnded(setup: Setup, table: pg.Client): Promise<string[]> {
  for (let before = '', since = Date.now(); ; await sleep(LOOK_MS, undefined, { signal: setup.signal })) {
    const { rows } = await table.query<{ id: string; status: string; behind: boolean }>(
      `select id, status from executions where status in ('queued', 'running') order by id limit 500`,
    );
    const {
      rows: [log],
    } = await table.query<{ behind: number }>(
      `select (s.last_sequence - c.sequence)::float8 as behind from log_state s, log_consumers c where c.name = 'automations'`,
    );
    if (rows.length === 0 && log!.behind === 0) return [];
    const now = JSON.stringify([rows, log]);
    if (now !== before) since = Date.now();
    else if (Date.now() - since > STANDSTILL_MS)
      return rows
        .slice(0, SHOWN)
        .map(({ id, status }) => `${id} stays ${status}`)
        .concat(log!.behind ? [`${log!.behind} events were not taken`] : []);
    before = now;
  }
}

export interface Verdict {
  due: number;
  made: number;
  missing: number;
  repeated: number;
  extra: number;
  /** From a time that passed by itself to its execution, in ms. */
  lateness: number[];
  failures: string[];
}

export async function judgeSchedules(
  table: pg.Client,
  { scheduled }: World,
  clock: TestedClock,
): Promise<Verdict> {
  const spans = clock.spans();
  const made = await timesMade(table);
  const verdict: Verdict = { due: 0, made: 0, missing: 0, repeated: 0, extra: 0, lateness: [], failures: [] };
  for (const one of scheduled.values()) {
    const due = dueTimes(one, spans);
    const times = made.get(one.id) ?? [];
    const found = judgeTimes(due, times);
    verdict.due += due.length;
    verdict.made += times.length;
    note(verdict, one, 'repeated', found.repeated);
    note(verdict, one, 'extra', found.extra);
    // Without catchUp, times during downtime are skipped.
    if (one.catchUp) note(verdict, one, 'missing', found.missing);
  }
  const { rows } = await table.query<{ time: number; made: number }>(
    `select extract(epoch from scheduled_for)::float8 * 1000 as time, extract(epoch from created_at)::float8 * 1000 as made
    from executions where scheduled_for is not null`,
  );
  for (const { time, made: at } of rows) {
    const real = clock.realTimeOf(time);
    if (real !== null) verdict.lateness.push(Math.max(0, at - real));
  }
  return verdict;
}

function note(
  verdict: Verdict,
  { id }: Scheduled,
  kind: 'missing' | 'repeated' | 'extra',
  times: readonly number[],
): void {
  for (const time of times)
    if (++verdict[kind] <= SHOWN) verdict.failures.push(`${id}: ${kind}: ${textOf(time)}`);
}

/** Each event has one execution of each automation, in the log's order; events of the automation's own threads have none. */
export async function judgeEvents(
  table: pg.Client,
  { ofEvents }: World,
): Promise<{ events: number; failures: string[] }> {
  const failures: string[] = [];
  let events = 0;
  for (const [id, projectId] of ofEvents) {
    const { rows } = await table.query<{ event: string; executions: string[] }>(
      `select e.event_id as event, array_agg(x.id) filter (where x.id is not null) as executions
      from automations a join events e on e.project_id = $2 and e.sequence > a.after_sequence and e.type = any($3)
        left join executions x on x.automation_id = a.id and x.event_id = e.event_id
      where a.id = $1 and not exists (select from threads t where t.id = e.thread_id and t.automation_id = a.id)
      group by e.sequence, e.event_id order by e.sequence`,
      [id, projectId, EVENT_TYPES],
    );
    events += rows.length;
    let last = '';
    for (const { event, executions } of rows) {
      const [execution] = executions ?? [];
      if (executions?.length !== 1)
        failures.push(`${id}: ${event} has ${executions?.length ?? 0} executions`);
      if (execution && execution < last) failures.push(`${id}: ${event} was taken before an earlier event`);
      last = execution ?? last;
    }
    const {
      rows: [other],
    } = await table.query<{ count: number }>(
      `select count(*)::int as count from executions where automation_id = $1 and event_id not in (select event_id from events)`,
      [id],
    );
    if (other!.count) failures.push(`${id}: ${other!.count} executions of events that are not in the log`);
  }
  return { events, failures: failures.slice(0, SHOWN) };
}

/** How executions of a kind of automation end; each has one thread and one run, or none. */
export async function judgeEnds(
  table: pg.Client,
  { scheduled, ofEvents }: World,
): Promise<{ statuses: Record<string, number>; failures: string[] }> {
  const { rows } = await table.query<{
    id: string;
    automation: string;
    status: string;
    reason: string | null;
    threads: number;
    runs: number;
  }>(
    `select x.id, x.automation_id as automation, x.status, coalesce(x.skipped_reason, x.error_code) as reason,
      (select count(*)::int from threads t where t.id = x.thread_id and t.automation_id = x.automation_id) as threads,
      (select count(*)::int from runs r where r.thread_id = x.thread_id) as runs
    from executions x`,
  );
  const statuses: Record<string, number> = {};
  const failures: string[] = [];
  for (const row of rows) {
    statuses[row.status] = (statuses[row.status] ?? 0) + 1;
    const mayRun = scheduled.get(row.automation)?.isRunning ?? ofEvents.has(row.automation);
    const isExpected = row.status === 'skipped' ? row.reason !== null : mayRun && row.status === 'completed';
    if (!isExpected) failures.push(`${row.id} ended ${row.status} (${row.reason})`);
    const parts = row.status === 'completed' ? 1 : 0;
    if (row.threads !== parts || row.runs !== parts)
      failures.push(`${row.id} (${row.status}) has ${row.threads} threads and ${row.runs} runs`);
  }
  const {
    rows: [left],
  } = await table.query<{ count: number }>(
    `select count(*)::int as count from threads t where automation_id is not null and not exists (select from executions x where x.thread_id = t.id)`,
  );
  if (left!.count) failures.push(`${left!.count} threads of automations belong to no execution`);
  return { statuses, failures: failures.slice(0, SHOWN) };
}
