import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { JournalEntry } from '@headrace/runner/protocol';
import { clean } from '../db/clean-text.ts';
import { json } from '../db/schema.ts';
import type { ProjectRow, RunRow, ToolRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { appendEvent } from '../db/transaction.ts';
import { newId } from '../ids.ts';
import { scopeOf } from '../projects/index.ts';

type ToolEntry = Extract<JournalEntry, { type: 'tool' }>;

export function cleanJson(value: unknown): unknown {
  if (typeof value === 'string') return clean(value);
  if (Array.isArray(value)) return value.map(cleanJson);
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [clean(name), cleanJson(one)]));
  return value;
}

/** A call only goes forward: a journal that is read again tells of earlier statuses too. */
const RANK: Record<ToolRow['status'], number> = {
  pending: 0,
  running: 1,
  completed: 2,
  failed: 2,
  cancelled: 2,
};
const isEnded = (status: ToolRow['status']) => RANK[status] === 2;

/** The agent's own name of a call, as it is kept: an index takes about 2,700 bytes. */
export const callKey = (toolCallId: string) =>
  toolCallId.length <= 200
    ? clean(toolCallId)
    : `sha256:${createHash('sha256').update(toolCallId).digest('hex')}`;

/**
 * Records a tool call as the journal tells of it; publishes `tool.updated` when it is new or its status
 * changed. Told twice (after a re-attachment), it changes nothing; a call that ended stays ended.
 */
export async function recordTool(
  tx: Tx,
  project: ProjectRow,
  run: RunRow,
  entry: ToolEntry,
): Promise<ToolRow> {
  const scope = scopeOf(project);
  const at = { threadId: run.thread_id, runId: run.id };
  const callId = callKey(entry.toolCallId);
  const before = await tx.db
    .selectFrom('tools')
    .selectAll()
    .where('run_id', '=', run.id)
    .where('call_id', '=', callId)
    .forUpdate()
    .executeTakeFirst();
  if (before && RANK[entry.status] <= RANK[before.status]) return before;
  const values = {
    name: clean(entry.name).slice(0, 200),
    title: clean(entry.title).slice(0, 500),
    status: entry.status,
    input: json(cleanJson(entry.input ?? null)),
    output: entry.output === null ? null : clean(entry.output),
    truncated: entry.truncated,
    ...(entry.status === 'pending' ? {} : { started_at: before?.started_at ?? sql<Date>`now()` }),
    ...(isEnded(entry.status) ? { finished_at: sql<Date>`now()` } : {}),
  };
  if (before) {
    appendEvent(tx, scope, 'tool.updated', { id: before.id, status: entry.status }, at);
    return tx.db
      .updateTable('tools')
      .set(values)
      .where('id', '=', before.id)
      .returningAll()
      .executeTakeFirstOrThrow();
  }
  const id = newId('tool');
  const event = appendEvent(tx, scope, 'tool.updated', { id, status: entry.status }, at);
  return tx.db
    .insertInto('tools')
    .values({
      org_id: run.org_id,
      id,
      thread_id: run.thread_id,
      run_id: run.id,
      call_id: callId,
      first_event_id: event,
      ...values,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}
