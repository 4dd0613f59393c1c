/**
 * The automations' reader of the log. In the log's order, each event creates at most one execution of each automation
 * that waits for it, and executions whose runs or threads have ended continue. A batch without such events costs at
 * most two index reads.
 */
import type { Context } from '../context.ts';
import type { EventRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import type { Consumer } from '../events/index.ts';
import { mayBegin } from '../http/capabilities.ts';
import { isTooDeep } from './admission.ts';
import { admitAll } from './admit.ts';
import { enqueueExecutions } from './enqueue.ts';
import {
  findAutomationsOf,
  findMakersOfExecutions,
  findMakersOfThreads,
  findRunning,
  lockAutomations,
} from './execution-store.ts';
import type { Listening, Maker } from './execution-store.ts';
import { matchesFilter } from './filter.ts';

interface Match {
  automationId: string;
  orgId: string;
  event: EventRow;
}

export const automationsConsumer = (ctx: Pick<Context, 'config'>): Consumer => ({
  name: 'automations',
  idleWhen: `not exists (select from executions where status in ('queued', 'running'))
    and not exists (select from automations where kind = 'event' and deleted_at is null and disabled_reason is null)`,
  async take(tx, events) {
    await wakeEnded(tx, events);
    await makeExecutions(ctx, tx, events);
  },
});

const ENDS = new Set(['run.completed', 'run.failed', 'run.cancelled', 'thread.deleted']);
const mayEnd = ({ type, data }: EventRow): boolean =>
  ENDS.has(type) || (type === 'thread.updated' && data['status'] === 'archived');

async function wakeEnded(tx: Tx, events: readonly EventRow[]): Promise<void> {
  const threads = new Set(events.filter(mayEnd).map((event) => event.thread_id));
  await enqueueExecutions(
    tx,
    await findRunning(
      tx,
      [...threads].filter((id) => id !== null),
    ),
  );
}

/** An app's events are on its own feed, and receipts are no trigger. */
const isTrigger = ({ feed, type, project_id: projectId }: EventRow): boolean =>
  feed === 'direct' && projectId !== null && type !== 'operation.updated';

async function makeExecutions(
  ctx: Pick<Context, 'config'>,
  tx: Tx,
  events: readonly EventRow[],
): Promise<void> {
  const triggers = events.filter(isTrigger);
  const listening = await findAutomationsOf(tx, [...new Set(triggers.map((event) => event.project_id!))]);
  const found = await allowed(ctx, tx, matches(triggers, listening));
  if (found.length === 0) return;
  const depths = await readDepths(
    tx,
    found.map(({ event }) => event),
  );
  const ids = found.map(({ automationId }) => automationId);
  const locked = new Map((await lockAutomations(tx, ids)).map((one) => [one.automation.id, one]));
  const requests = found.flatMap(({ automationId, event }) => {
    const one = locked.get(automationId);
    const depth = depths.of(event, automationId);
    // It may have been changed, disabled or deleted before it was locked.
    if (!one || depth === null || !isFor(one.automation, event)) return [];
    return [{ ...one, trigger: { kind: 'event' as const, event: triggerOf(event), depth } }];
  });
  await admitAll(tx, requests);
}

function matches(events: readonly EventRow[], listening: readonly Listening[]): Match[] {
  return events.flatMap((event) =>
    listening
      .filter((automation) => automation.project_id === event.project_id && isFor(automation, event))
      .map(({ id, org_id: orgId }) => ({ automationId: id, orgId, event })),
  );
}

const isFor = (automation: Listening, event: EventRow): boolean =>
  automation.deleted_at === null &&
  automation.disabled_reason === null &&
  automation.trigger.kind === 'event' &&
  automation.trigger.types.includes(event.type) &&
  event.sequence > automation.after_sequence &&
  matchesFilter(automation.filter, { event: triggerOf(event) });

const triggerOf = ({ event_id: id, type, data, thread_id: threadId, run_id: runId }: EventRow) => ({
  id,
  type,
  data,
  threadId,
  runId,
});

/** The automations of organizations that have the capability. */
async function allowed(
  { config }: Pick<Context, 'config'>,
  tx: Tx,
  found: readonly Match[],
): Promise<Match[]> {
  const orgs = new Set<string>();
  for (const orgId of new Set(found.map((match) => match.orgId)))
    if (await mayBegin({ config, db: tx.db }, orgId, 'automations')) orgs.add(orgId);
  return found.filter(({ orgId }) => orgs.has(orgId));
}

interface Depths {
  /** The depth of an automation's execution by an event; null: the event creates none. */
  of(event: EventRow, automationId: string): number | null;
}

/** An event of an execution counts like one of its thread, also before the thread exists. */
const executionOf = ({ type, data }: EventRow): string | null =>
  type === 'automation.execution.updated' ? String(data['id']) : null;

async function readDepths(tx: Tx, events: readonly EventRow[]): Promise<Depths> {
  const idsOf = (of: (event: EventRow) => string | null) =>
    [...new Set(events.map(of))].filter((id) => id !== null);
  const executions = await findMakersOfExecutions(tx, idsOf(executionOf));
  const threads = await findMakersOfThreads(
    tx,
    idsOf((event) => event.thread_id),
  );
  const makers = new Map<string, Maker>([...threads, ...executions].map((maker) => [maker.id, maker]));
  return {
    of(event, automationId) {
      const maker = makers.get(executionOf(event) ?? event.thread_id ?? '');
      // Two automations on `automation.execution.updated` would otherwise skip each other forever.
      if (maker && (maker.automationId === automationId || isTooDeep(maker.depth))) return null;
      return (maker?.depth ?? 0) + 1;
    },
  };
}
