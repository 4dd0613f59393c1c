import { sql } from 'kysely';
import type { JournalEntry } from '@headrace/runner/protocol';
import { json } from '../db/schema.ts';
import type { ProjectRow, RunRow, ToolRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { appendEvent } from '../db/transaction.ts';
import { newId } from '../ids.ts';
import { scopeOf } from '../projects/index.ts';

type ToolEntry = Extract<JournalEntry, { type: 'tool' }>;

/** PostgreSQL's text takes no NUL: what comes out of a sandbox may have it. */
export const clean = (text: string) => text.replaceAll('\0', '\u{fffd}').toWellFormed();

function cleanJson(value: unknown): unknown {
  if (typeof value === 'string') return clean(value);
  if (Array.isArray(value)) return value.map(cleanJson);
  if (value !== null && typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([name, one]) => [clean(name), cleanJson(one)]));
  return value;
}

const ENDED = new Set<ToolRow['status']>(['completed', 'failed', 'cancelled']);

/**
 * Records a tool call as the journal tells of it; publishes `tool.updated` when it is new or its status changed. Told twice (after a
 * re-attachment), it changes nothing; a call that ended stays ended.
 */
export async function recordTool(tx: Tx, project: ProjectRow, run: RunRow, entry: ToolEntry): Promise<ToolRow> {
  const scope = scopeOf(project);
  const at = { threadId: run.thread_id, runId: run.id };
  const before = await tx.db.selectFrom('tools').selectAll().where('run_id', '=', run.id).where('call_id', '=', entry.toolCallId).forUpdate().executeTakeFirst();
  if (before && (ENDED.has(before.status) || before.status === entry.status)) return before;
  const values = {
    name: clean(entry.name).slice(0, 200), title: clean(entry.title).slice(0, 500), status: entry.status, input: json(cleanJson(entry.input ?? null)), output: entry.output === null ? null : clean(entry.output), truncated: entry.truncated,
    ...(entry.status === 'pending' ? {} : { started_at: before?.started_at ?? sql<Date>`now()` }), ...(ENDED.has(entry.status) ? { finished_at: sql<Date>`now()` } : {}),
  };
  if (before) {
    appendEvent(tx, scope, 'tool.updated', { id: before.id, status: entry.status }, at);
    return tx.db.updateTable('tools').set(values).where('id', '=', before.id).returningAll().executeTakeFirstOrThrow();
  }
  const id = newId('tool');
  const event = appendEvent(tx, scope, 'tool.updated', { id, status: entry.status }, at);
  return tx.db.insertInto('tools').values({ org_id: run.org_id, id, thread_id: run.thread_id, run_id: run.id, call_id: entry.toolCallId, first_event_id: event, ...values }).returningAll().executeTakeFirstOrThrow();
}
