/** Creates executions: decides on admission, and adds rows, events and jobs. */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Insertable } from 'kysely';
import { json } from '../db/schema.ts';
import type {
  AutomationRow,
  ExecutionRow,
  ExecutionsTable,
  MappedIssue,
  TriggerEvent,
} from '../db/schema.ts';
import { appendEvent } from '../db/transaction.ts';
import type { EventScope, Tx } from '../db/transaction.ts';
import { ApiError } from '../http/errors.ts';
import { newId } from '../ids.ts';
import { countAdmitted, countSkipped, FLOOD, skippedReason } from './admission.ts';
import type { Candidate, Facts } from './admission.ts';
import { enqueueExecutions } from './enqueue.ts';
import { admitted, notAdmitted } from './state.ts';
import {
  countLastHour,
  countOpen,
  findFlooded,
  insertExecutions,
  lockAutomations,
  noteExecutions,
  sumSpent,
} from './execution-store.ts';
import type { LockedAutomation } from './execution-store.ts';

/** What starts an execution. */
export interface Trigger {
  kind: ExecutionRow['kind'];
  scheduledFor?: Date | undefined;
  event?: ({ id: string } & TriggerEvent) | undefined;
  /** The number of executions in its chain, including itself. Default: 1. */
  depth?: number | undefined;
  deliveryId?: string | undefined;
  payload?: Record<string, unknown> | undefined;
  mapped?: MappedIssue | undefined;
  /** The issue whose executions overlap. Default: all executions of the automation overlap. */
  key?: string | undefined;
}

/**
 * Creates an execution in the caller's transaction, admitted or skipped: `automation.execution.updated`. It locks the
 * automation, so executions of one automation are created one after the other. Throws `execution_active` for a run
 * by hand if the automation has `skip` and an open execution.
 */
export async function admit(
  tx: Tx,
  automation: Pick<AutomationRow, 'id'>,
  trigger: Trigger,
): Promise<ExecutionRow> {
  const locked = await lockAutomations(tx, [automation.id]);
  const [row] = await admitAll(
    tx,
    locked.map((one) => ({ ...one, trigger })),
  );
  return row!;
}

type Request = LockedAutomation & { trigger: Trigger };
type Asked = Request & { candidate: Candidate };

/**
 * As `admit`, for many and in their order: their automations are locked. Left out are those that are there already, and
 * skipped ones of an automation that has had hundreds of events within an hour.
 */
export async function admitAll(tx: Tx, requests: readonly Request[]): Promise<ExecutionRow[]> {
  const asked = requests.map((request): Asked => ({ ...request, candidate: candidateOf(request) }));
  const facts = await readFacts(tx, asked);
  const rows: Insertable<ExecutionsTable>[] = [];
  const scopes = new Map<string, EventScope>();
  for (const one of asked) {
    const row = newRow(one, facts.get(one.automation.id)!);
    if (!row) continue;
    rows.push(row);
    scopes.set(row.id, one.scope);
  }
  const made = await insertExecutions(tx, rows);
  for (const row of made) publishExecution(tx, scopes.get(row.id)!, row);
  const queued = made.filter((row) => row.status === admitted);
  await noteExecutions(tx, [...new Set(queued.map((row) => row.automation_id))]);
  await enqueueExecutions(tx, queued);
  return made;
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

const candidateOf = ({ automation, trigger }: Request): Candidate => ({
  kind: trigger.kind,
  key: trigger.key === undefined ? automation.id : digest(trigger.key),
  depth: trigger.depth ?? 1,
});

/** Decides about one, and counts it. Null: it is skipped, as so many are that this one leaves no row. */
function newRow(
  { automation, trigger, candidate }: Asked,
  facts: Facts,
): (Insertable<ExecutionsTable> & { id: string }) | null {
  const reason = skippedReason(automation, facts, candidate);
  if (reason !== null && trigger.kind === 'manual') throw isActive();
  const isStored = reason === null || countSkipped(facts, candidate);
  if (!isStored && trigger.kind === 'event') return null;
  if (reason === null) countAdmitted(facts, candidate);
  const { event } = trigger;
  return {
    org_id: automation.org_id,
    id: newId('exe'),
    automation_id: automation.id,
    project_id: automation.project_id,
    kind: trigger.kind,
    scheduled_for: trigger.scheduledFor ?? null,
    event_id: event?.id ?? null,
    event_type: event?.type ?? null,
    delivery_id: trigger.deliveryId ?? null,
    status: reason === null ? admitted : notAdmitted,
    skipped_reason: reason,
    overlap_key: candidate.key,
    depth: candidate.depth,
    payload: trigger.payload && isStored ? json(trigger.payload) : null,
    event: event
      ? json({ type: event.type, data: event.data, threadId: event.threadId, runId: event.runId })
      : null,
    mapped: trigger.mapped ? json(trigger.mapped) : null,
    ...(reason === null ? {} : { finished_at: sql<Date>`now()` }),
  };
}

/** The rules' inputs by automation; reads only those that its settings need. */
async function readFacts(tx: Tx, asked: readonly Asked[]): Promise<Map<string, Facts>> {
  const facts = new Map<string, Facts>(
    asked.map(({ automation: { id } }) => [
      id,
      { open: new Map(), admittedLastHour: 0, spentMicros: 0, skipped: 0 },
    ]),
  );
  const idsOf = (which: (one: Asked) => boolean): string[] => [
    ...new Set(asked.filter(which).map(({ automation }) => automation.id)),
  ];
  const keys = new Map(
    asked
      .filter(({ automation }) => automation.overlap !== 'allow')
      .map(({ automation: { id }, candidate: { key } }) => [`${id} ${key}`, { automationId: id, key }]),
  );
  for (const { automationId, key, ...open } of await countOpen(tx, [...keys.values()]))
    facts.get(automationId)!.open.set(key, open);
  const rated = idsOf(({ trigger: { kind } }) => kind === 'event' || kind === 'webhook');
  for (const { id, admittedLastHour } of await countLastHour(tx, rated))
    facts.get(id)!.admittedLastHour = admittedLastHour;
  for (const id of await findFlooded(tx, rated, FLOOD)) facts.get(id)!.skipped = FLOOD;
  // No cost is below a limit of 0.
  const limited = idsOf(({ automation, trigger }) =>
    Boolean(automation.monthly_limit_micros && trigger.kind !== 'manual'),
  );
  for (const { id, spentMicros } of await sumSpent(tx, limited)) facts.get(id)!.spentMicros = spentMicros;
  return facts;
}

const isActive = () =>
  new ApiError(
    'execution_active',
    'An execution of this automation is open. Wait for it to end, or set overlap to queue or allow.',
  );

/** Publishes a new execution, or its new status. */
export function publishExecution(tx: Tx, scope: EventScope, row: ExecutionRow): void {
  appendEvent(tx, { ...scope, threadId: row.thread_id, runId: row.run_id }, 'automation.execution.updated', {
    id: row.id,
    status: row.status,
  });
}
