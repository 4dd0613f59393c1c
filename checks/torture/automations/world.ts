/** Automations on schedules and on events. Some executions run; most automations are above their limit, so theirs are skipped. */
import type pg from 'pg';
import { newId } from '../../../packages/server/src/ids.ts';
import type { Caller } from '../../harness/http.ts';
import { cronOf } from './due.ts';
import type { Schedule } from './due.ts';

export const PERIOD = 5;
/** Each has less than 200 events an hour: of more not all leave an execution. */
const EVENTFUL = 6;
export const EVENT_TYPES = ['run.completed', 'pull_request.updated'];
const RUN = 'Write a file.\n\n```file notes.md\nwritten\n```\n';
/** A number without a common divisor with the period, so that the schedules differ. */
const RUNNING_ONE_IN = 11;
const NOT_CATCHING_UP_ONE_IN = 10;

export interface Scheduled extends Schedule {
  id: string;
  /** Whether its executions have a run. */
  isRunning: boolean;
}

export interface World {
  orgId: string;
  scheduled: Map<string, Scheduled>;
  /** Projects of events. */
  eventful: string[];
  /** The automations of events, with their projects. */
  ofEvents: Map<string, string>;
}

type Call = (path: string, body: object) => Promise<Record<string, any>>; // oxlint-disable-line typescript/no-explicit-any -- answers are read by name

/** `count` automations on schedules; most are copies of those that the API created, since it has a limit. */
export async function makeWorld(caller: Caller, table: pg.Client, count: number): Promise<World> {
  const call: Call = async (path, body) => (await caller.call('POST', path, body)).body;
  const { project } = await call('/api/projects', { name: 'Torture' });
  const ofEvents = await makeOfEvents(call);
  const scheduled = new Map<string, Scheduled>();
  const originals = new Map<string, string>();
  const wanted = Array.from({ length: count }, (_, n) => ({
    residue: n % PERIOD,
    period: PERIOD,
    catchUp: n % NOT_CATCHING_UP_ONE_IN !== 3,
    isRunning: n % RUNNING_ONE_IN === 4,
  }));
  // All of them before the first copy, which the API would count.
  for (const one of wanted)
    if (!originals.has(JSON.stringify(one)))
      originals.set(JSON.stringify(one), await make(call, project.id, one));
  const taken = new Set<string>();
  for (const one of wanted) {
    const original = originals.get(JSON.stringify(one))!;
    const id = taken.has(original) ? await copy(table, original) : original;
    taken.add(id);
    scheduled.set(id, { ...one, id });
  }
  return { orgId: project.orgId, scheduled, eventful: [...new Set(ofEvents.values())], ofEvents };
}

async function makeOfEvents(call: Call): Promise<World['ofEvents']> {
  const ofEvents = new Map<string, string>();
  for (let n = 0; n < EVENTFUL; n++) {
    const { id } = (await call('/api/projects', { name: `With events ${n}` })).project;
    for (const settings of [{ overlap: 'allow', monthlyLimitMicros: 0 }, { overlap: 'skip' }]) {
      const { automation } = await call('/api/automations', {
        name: 'On events',
        projectId: id,
        prompt: 'Look at {{event.type}} of {{event.data.id}}.',
        trigger: { kind: 'event', types: EVENT_TYPES },
        ...settings,
      });
      ofEvents.set(automation.id, id);
    }
  }
  return ofEvents;
}

async function make(call: Call, projectId: string, schedule: Omit<Scheduled, 'id'>): Promise<string> {
  const { automation } = await call('/api/automations', {
    name: `Torture ${cronOf(schedule)}`,
    projectId,
    prompt: RUN,
    trigger: { kind: 'schedule', cron: cronOf(schedule), timeZone: 'UTC' },
    overlap: (['skip', 'queue', 'allow'] as const)[schedule.residue % 3],
    catchUp: schedule.catchUp,
    ...(schedule.isRunning ? {} : { monthlyLimitMicros: 0 }),
  });
  return automation.id as string;
}

async function copy(table: pg.Client, original: string): Promise<string> {
  const id = newId('aut');
  await table.query(
    `insert into automations select (jsonb_populate_record(a, jsonb_build_object('id', $2::text))).* from automations a where id = $1`,
    [original, id],
  );
  return id;
}
