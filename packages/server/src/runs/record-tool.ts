import { createHash } from 'node:crypto';
import type { JournalEntry } from '@headrace/runner/protocol';
import { clean } from '../db/clean-text.ts';
import type { ProjectRow, RunRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { appendEvent } from '../db/transaction.ts';
import { newId } from '../ids.ts';
import { scopeOf } from '../projects/index.ts';
import { movesForward } from './state.ts';
import { insertTool, updateTool } from './store.ts';
import type { ToolValues } from './store.ts';

type ToolEntry = Extract<JournalEntry, { type: 'tool' }>;

export function cleanJson(value: unknown): unknown {
  if (typeof value === 'string') return clean(value);
  if (Array.isArray(value)) return value.map(cleanJson);
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [clean(name), cleanJson(one)]));
  return value;
}

/** The agent's name of a call, as it is stored: an index takes about 2,700 bytes. */
export const callKey = (toolCallId: string) =>
  toolCallId.length <= 200
    ? clean(toolCallId)
    : `sha256:${createHash('sha256').update(toolCallId).digest('hex')}`;

/**
 * Records a tool call of the journal; publishes `tool.updated` when it is new or its status changed. An
 * entry that is read again changes nothing, and a call that ended stays ended.
 */
export async function recordTool(tx: Tx, project: ProjectRow, run: RunRow, entry: ToolEntry): Promise<void> {
  const callId = callKey(entry.toolCallId);
  const before = await tx.db
    .selectFrom('tools')
    .selectAll()
    .where('run_id', '=', run.id)
    .where('call_id', '=', callId)
    .forUpdate()
    .executeTakeFirst();
  if (before && !movesForward(before.status, entry.status)) return;
  const id = before?.id ?? newId('tool');
  const event = appendEvent(
    tx,
    { ...scopeOf(project), threadId: run.thread_id, runId: run.id },
    'tool.updated',
    { id, status: entry.status },
  );
  const values = valuesOf(entry);
  if (before) return updateTool(tx, before, values);
  await insertTool(
    tx,
    {
      org_id: run.org_id,
      id,
      thread_id: run.thread_id,
      run_id: run.id,
      call_id: callId,
      first_event_id: event,
    },
    values,
  );
}

const valuesOf = (entry: ToolEntry): ToolValues => ({
  name: clean(entry.name).slice(0, 200),
  title: clean(entry.title).slice(0, 500),
  status: entry.status,
  input: cleanJson(entry.input ?? null),
  output: entry.output === null ? null : clean(entry.output),
  truncated: entry.truncated,
});
