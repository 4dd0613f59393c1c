/** The tables `runs` and `tools`. */
import { sql } from 'kysely';
import type { Insertable, RawBuilder, UpdateObject } from 'kysely';
import { clean } from '../db/clean-text.ts';
import type { Db } from '../db/database.ts';
import { rowsPrepared } from '../db/prepared.ts';
import { countChanged } from '../db/purge.ts';
import type { Purge } from '../db/purge.ts';
import { json } from '../db/schema.ts';
import type { Database, ModelFailure, Prices, RunRow, RunsTable, ToolRow, ToolsTable } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { contextNow } from '../skills/index.ts';
import { ACTIVE, isToolEnded, OPEN, OPEN_TOOLS, runChange } from './state.ts';
import type { RunEvent, RunStatus, ToolStatus } from './state.ts';

const hasStatus = (statuses: readonly RunStatus[]): RawBuilder<boolean> =>
  sql<boolean>`runs.status in (${sql.join(statuses.map((status) => sql.lit(status)))})`;

/** Runs that have not ended. */
export const openRuns = hasStatus(OPEN);
/** Runs under way; a thread has at most one. */
const activeRuns = hasStatus(ACTIVE);
/** Runs that have not started. */
export const queuedRuns = hasStatus(runChange('start').from);
/** Runs under way that nobody has stopped: their agents may call models. */
export const callingRuns = sql<boolean>`${activeRuns} and runs.cancel_requested_at is null`;

/** An order in which a thread's active run is before its queued ones. */
export const activeFirst = sql`case when ${queuedRuns} then 1 else 0 end`;

/**
 * Not now(), the start of a transaction that may have waited for its locks: what ends after a checkpoint or another run
 * has a later time.
 */
const now = sql<Date>`clock_timestamp()`;
/** Ends the time in which a run was active; without effect where that has ended. */
const stopClock = {
  active_duration_ms: sql<number>`active_duration_ms + greatest(0, extract(epoch from ${now} - active_since) * 1000)::bigint`,
  active_since: null,
};

export async function insertRun(tx: Tx, run: Omit<Insertable<RunsTable>, 'status'>): Promise<RunRow> {
  return tx.db
    .insertInto('runs')
    .values({ ...run, status: 'queued' })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Locks a run that has not ended. */
export async function lockOpenRun(tx: Tx, runId: string): Promise<RunRow | undefined> {
  return tx.db
    .selectFrom('runs')
    .selectAll()
    .where('id', '=', runId)
    .where(openRuns)
    .forUpdate()
    .executeTakeFirst();
}

/** Whether a run is under way; it cannot end before this transaction does. */
export async function keepActive(tx: Tx, runId: string): Promise<boolean> {
  const active = tx.db.selectFrom('runs').select('id').where('id', '=', runId).where(activeRuns).forShare();
  return (await rowsPrepared(tx.db, 'keep_run_active', active)).length > 0;
}

/** Every change of a run's status. Undefined when the run's status is none that the event needs. */
async function moveRun(
  tx: Tx,
  runId: string,
  event: RunEvent,
  change: UpdateObject<Database, 'runs'>,
): Promise<RunRow | undefined> {
  const { from, to } = runChange(event);
  return tx.db
    .updateTable('runs')
    .set({ ...change, status: to })
    .where('id', '=', runId)
    .where(hasStatus(from))
    .returningAll()
    .executeTakeFirst();
}

/** Also settles what its agent is told. */
export const startRun = (
  tx: Tx,
  run: Pick<RunRow, 'id' | 'org_id' | 'project_id'>,
  baseSourceId: string | null,
): Promise<RunRow | undefined> =>
  moveRun(tx, run.id, 'start', {
    base_source_id: baseSourceId,
    context: contextNow(run),
    started_at: now,
    active_since: now,
    held: false,
  });

/** The run waits for an answer. */
export const pauseRun = (tx: Tx, runId: string): Promise<RunRow | undefined> =>
  moveRun(tx, runId, 'ask', stopClock);

/** The run goes on after its last answer. */
export const unpauseRun = (tx: Tx, runId: string): Promise<RunRow | undefined> =>
  moveRun(tx, runId, 'resume', { active_since: now });

const ENDS = { completed: 'complete', failed: 'fail', cancelled: 'cancel' } as const;

export async function endRun(
  tx: Tx,
  runId: string,
  end: {
    status: keyof typeof ENDS;
    resultSourceId: string | null;
    error: { code: string; message: string } | null;
    warnings: RunRow['warnings'];
  },
): Promise<void> {
  await moveRun(tx, runId, ENDS[end.status], {
    ...stopClock,
    result_source_id: end.resultSourceId,
    error_code: end.error?.code ?? null,
    error_message: end.error?.message ?? null,
    warnings: json(end.warnings),
    held: false,
    context: null,
    snapshot_at: null,
    finished_at: now,
  });
}

/** Notes that a run under way has a snapshot; false where it has ended. It cannot end before this transaction does. */
export async function markSnapshot(tx: Tx, runId: string): Promise<boolean> {
  const marked = await tx.db
    .updateTable('runs')
    .set({ snapshot_at: now })
    .where('id', '=', runId)
    .where(activeRuns)
    .returning('id')
    .executeTakeFirst();
  return marked !== undefined;
}

/** Marks a queued run that is beyond a limit of concurrency. */
export async function holdRun(tx: Tx, runId: string, held = true): Promise<void> {
  await tx.db.updateTable('runs').set({ held }).where('id', '=', runId).where(queuedRuns).execute();
}

/** Notes that a run's agent takes messages while it works. */
export async function markSteerable(tx: Tx, runId: string): Promise<void> {
  await tx.db.updateTable('runs').set({ steerable: true }).where('id', '=', runId).execute();
}

/** Asks for a run's end; its worker cancels it. The first request counts. */
export async function requestStop(tx: Tx, runId: string): Promise<void> {
  await tx.db
    .updateTable('runs')
    .set({ cancel_requested_at: sql<Date>`coalesce(cancel_requested_at, now())` })
    .where('id', '=', runId)
    .execute();
}

/** Keeps the prices of a model for the run's further calls; those that it has already stay. */
export async function keepPrices(tx: Tx, runId: string, prices: Record<string, Prices>): Promise<void> {
  await tx.db
    .updateTable('runs')
    .set({ prices: sql<never>`${JSON.stringify(prices)}::jsonb || prices` })
    .where('id', '=', runId)
    .execute();
}

/** A failed model call, as its run's end names it. */
export type CallFailure = Pick<ModelFailure, 'code' | 'message'>;

/** What a model call adds to its run. */
export interface CallCost {
  inputTokens: number;
  outputTokens: number;
  cachedTokens: number;
  micros: number;
  /** 'ended' ends a row of failures; null leaves it. */
  failure: CallFailure | 'ended' | null;
}

/**
 * The update that adds a model call to its run, without its end: the gateway joins it to the statement that
 * settles the call, so that agents wait for one round trip.
 */
export const addCallToRun = (runId: string, cost: CallCost): RawBuilder<unknown> => sql`
  update runs set input_tokens = input_tokens + ${cost.inputTokens}, output_tokens = output_tokens + ${cost.outputTokens},
    cached_tokens = cached_tokens + ${cost.cachedTokens}, cost_micros = cost_micros + ${cost.micros}, model_failure = ${failureAfter(cost.failure)}
  where id = ${runId}`;

/** Adds a failure of a call for which nothing was reserved. */
export async function addFailureToRun(db: Db, runId: string, failure: CallFailure): Promise<void> {
  await db
    .updateTable('runs')
    .set({ model_failure: failureAfter(failure) })
    .where('id', '=', runId)
    .execute();
}

const MESSAGE_CHARACTERS = 500;

function failureAfter(failure: CallCost['failure']) {
  if (failure === null) return sql<never>`model_failure`;
  if (failure === 'ended') return sql<never>`null`;
  const last = JSON.stringify({
    code: failure.code,
    message: clean(failure.message).slice(0, MESSAGE_CHARACTERS).toWellFormed(),
  });
  return sql<never>`${last}::jsonb || jsonb_build_object('count', coalesce((model_failure->>'count')::int, 0) + 1)`;
}

export type ToolValues = Pick<ToolRow, 'name' | 'title' | 'status' | 'output' | 'truncated'> & {
  input: unknown;
};

/** Tool calls that have not ended. */
const openTools = sql<boolean>`tools.status in (${sql.join(OPEN_TOOLS.map((status) => sql.lit(status)))})`;

export async function insertTool(
  tx: Tx,
  tool: Omit<Insertable<ToolsTable>, keyof ToolValues>,
  values: ToolValues,
): Promise<void> {
  await tx.db
    .insertInto('tools')
    .values({ ...tool, ...toolColumns(values, null) })
    .execute();
}

export async function updateTool(tx: Tx, before: ToolRow, values: ToolValues): Promise<void> {
  await tx.db
    .updateTable('tools')
    .set(toolColumns(values, before.started_at))
    .where('id', '=', before.id)
    .execute();
}

const toolColumns = ({ input, ...values }: ToolValues, startedAt: Date | null) => ({
  ...values,
  input: json(input),
  ...(values.status === 'pending' ? {} : { started_at: startedAt ?? now }),
  ...(isToolEnded(values.status) ? { finished_at: now } : {}),
});

/** Names a tool call as its agent's question does. */
export async function renameTool(
  tx: Tx,
  toolId: string,
  { name, input }: { name: string; input: unknown },
): Promise<void> {
  await tx.db
    .updateTable('tools')
    .set({ name, input: json(input) })
    .where('id', '=', toolId)
    .execute();
}

/** Ends a run's open tool calls; returns their ids. */
export async function endOpenTools(
  tx: Tx,
  runId: string,
  status: Extract<ToolStatus, 'failed' | 'cancelled'>,
): Promise<string[]> {
  const ended = await tx.db
    .updateTable('tools')
    .set({ status, finished_at: now })
    .where('run_id', '=', runId)
    .where(openTools)
    .returning('id')
    .execute();
  return ended.map(({ id }) => id);
}

/** Tool calls of deleted threads, once their approvals are gone. */
export const purgeTools: Purge = (db, threadIds, limit) =>
  countChanged(
    db,
    sql`delete from tools where id in (select t.id from runs r join tools t on t.run_id = r.id where r.thread_id = any(${threadIds}::text[]) limit ${limit})`,
  );

/** Empties the runs of deleted threads: usage still counts their tokens and costs. */
export const purgeRuns: Purge = (db, threadIds, limit) =>
  countChanged(
    db,
    sql`update runs set prompt = null, error_message = null, warnings = '[]', model_failure = null where id in (
      select id from runs where thread_id = any(${threadIds}::text[])
        and (prompt is not null or error_message is not null or warnings <> '[]' or model_failure is not null) limit ${limit})`,
  );
